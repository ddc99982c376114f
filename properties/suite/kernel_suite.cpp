// SPDX-License-Identifier: Apache-2.0
#include "properties/suite/kernel_suite.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "harness/devices/call_note.hpp"
#include "harness/devices/launch.hpp"
#include "harness/numbers/autodiff/decisions.hpp"
#include "properties/bench/measure.hpp"
#include "properties/checking/held_outputs.hpp"
#include "properties/data/dense.hpp"
#include "properties/data/gen.hpp"
#include "properties/data/seeds.hpp"
#include "properties/explaining/explain.hpp"
#include "properties/large/draw_large.hpp"
#include "properties/large/shrink_large.hpp"
#include "properties/problems/cost.hpp"
#include "properties/problems/enumerate.hpp"
#include "properties/problems/generator.hpp"
#include "properties/problems/neighbours.hpp"
#include "properties/properties.hpp"
#include "properties/shrinking/shrink_case.hpp"

namespace gradverify {

/// A generator for each kernel, made when it is first asked for.
class KernelSuite::Generators {
  public:
    Generators(const Registry& registry, bool edge_problems) : edge_problems_(edge_problems) {
        // The process's operators last as long as it does, and so may their arrays.
        static const auto of_process = std::make_shared<CoveringArrays>();
        if (&registry == &Registry::instance()) covering_arrays_ = of_process;
    }

    const ProblemGenerator& get(const Kernel& kernel, const DefinedProperty& property) {
        const std::lock_guard lock(mutex_);
        auto& generator = generators_[{&kernel, property.work_share}];
        if (!generator) {
            ProblemGeneratorOptions options;
            options.edge_problems = edge_problems_;
            options.covering_arrays = covering_arrays_;
            options.budget.multiply_adds *= property.work_share;
            options.budget.thread_barriers *= property.work_share;
            generator =
                std::make_unique<ProblemGenerator>(*kernel.op, *kernel.pass, kernel.any(), options);
        }
        return *generator;
    }

    /// Makes their covering arrays beside what this thread does.
    void prepare(const std::vector<const Kernel*>& kernels, int threads) {
        const auto next = std::make_shared<std::atomic<std::size_t>>(0);
        for (int i = 0; i < threads; ++i)
            threads_.emplace_back([this, kernels, next](const std::stop_token& stop) {
                while (!stop.stop_requested()) {
                    const std::size_t which = (*next)++;
                    if (which >= kernels.size()) return;
                    make_covering_array(*kernels[which]);
                }
            });
    }

  private:
    /// What is wrong with the kernel is told where a row asks for its problems.
    void make_covering_array(const Kernel& kernel) const try {
        const ProblemGenerator generator(
            *kernel.op, *kernel.pass, kernel.any(),
            {.edge_problems = edge_problems_, .covering_arrays = covering_arrays_});
        if (generator.why_none().empty()) generator.covering_array();
    } catch (const std::exception&) {
    }

    bool edge_problems_;
    std::shared_ptr<CoveringArrays> covering_arrays_ = std::make_shared<CoveringArrays>();
    std::mutex mutex_;
    std::map<std::pair<const Kernel*, double>, std::unique_ptr<ProblemGenerator>> generators_;
    std::vector<std::jthread> threads_;  ///< they end before the arrays do
};

namespace {

// How many of the smallest problems are tried as the call before a failing case, behind its own
// with one parameter changed.
constexpr std::size_t smallest_problems = 12;

/// Half of the calls before are on the case's own problem with one parameter changed, and a quarter
/// on that problem itself: what a kernel keeps by too few of its parameters, or of its elements, is
/// found there.
void bring_near(std::optional<Problem>& before, const Problem& own,
                const SupportedProblems& supported, std::uint64_t case_seed) {
    SplitMix64 random(mix_seed(case_seed, "before"));
    const std::uint64_t roll = random.below(4);
    if (roll == 0) return;
    before = own;
    if (roll == 1) return;
    const std::vector<Problem> near = with_one_changed(supported, own);
    if (!near.empty()) before = near[random.below(near.size())];
}

/// The case of this seed on such problems. It has a call before it where the property knows the
/// right values, and can tell that the kernel kept something.
Case make_case(const Row& row, const DefinedProperty& property, const ProblemGenerator& generator,
               const rc::Gen<Problem>& problems, std::uint64_t case_seed) {
    const auto before = property.knows_outputs && generator.why_none().empty()
                            ? call_before_gen(problem_gen(generator))
                            : rc::gen::just(std::optional<Problem>());
    Case drawn =
        case_gen(row, property.values(*row.kernel->op), problems, before)(rc::Random(case_seed))
            .value();
    if (drawn.setting.before)
        bring_near(drawn.setting.before, drawn.problem, *generator.supported(), case_seed);
    return drawn;
}

std::uint64_t seed_of(const Row& row, std::uint64_t seed, std::int64_t index) {
    return draw_seed(
        {.seed = seed, .kernel = row.kernel->name, .property = row.property->name, .index = index});
}

const DefinedProperty& property_named(std::string_view name) {
    if (const DefinedProperty* property = find_property(name)) return *property;
    if (name == witnesses().name) return witnesses();
    std::string known;
    for (const Property& property : all_properties()) known += " " + std::string(property.name);
    throw std::invalid_argument("there is no property '" + std::string(name) + "'; there are" +
                                known);
}

/// Recorded tensors hold any numbers, whatever the property draws.
ValueKind kind_of(const Case& checked, const DefinedProperty& property, const Kernel& kernel) {
    return checked.data.files.empty() ? property.values(*kernel.op) : ValueKind::mantissas;
}

/// What the inputs that are whole numbers hold.
std::vector<GivenNumbers> whole_numbers_of(CaseContext& context) {
    constexpr std::size_t most_told = 16;
    std::vector<GivenNumbers> all;
    if (context.checked().setting.copies) return all;  // whose values no host holds
    for (const std::string& name : context.pass().inputs) {
        if (!context.op().tensor_named(name).holds_whole_numbers()) continue;
        const auto& data = context.inputs[name].data;
        GivenNumbers given{.tensor = name, .first = {}, .total = std::ssize(data)};
        for (std::size_t i = 0; i < std::min(data.size(), most_told); ++i)
            given.first.push_back(static_cast<std::int64_t>(data[i]));
        all.push_back(std::move(given));
    }
    return all;
}

/// What the inputs that were drawn as numbers hold.
Magnitudes values_of(CaseContext& context) {
    Magnitudes values;
    for (const std::string& name : context.pass().inputs)
        if (const Operator& op = context.op();
            !op.is_output(name) && !op.tensor_named(name).holds_whole_numbers())
            for (const double value : context.inputs[name].data) values.add(value);
    return values;
}

/// The larger of multiply-adds and threads that the kernel's cost model has for a call.
double expected_threads(const Kernel& kernel, const Problem& problem) {
    double outputs = 0.0;
    for (const std::string& name : kernel.pass->outputs)
        outputs += static_cast<double>(element_count(kernel.op->sizes_of(name, problem)));
    return std::max({1.0, kernel.pass->multiply_adds(problem),
                     threads_by(kernel.any().launch_cost, problem, outputs)});
}

/// Whether `threads` in so many calls are far beyond that, and cost more than the rest of a small
/// case, where no other kernel was called.
Crowding crowding_of(const Kernel& kernel, const Case& checked, double threads, double calls) {
    constexpr double many_times = 30.0, many_threads = 0x1p14;
    double expected = expected_threads(kernel, checked.problem);
    if (const auto& before = checked.setting.before)
        expected = std::max(expected, expected_threads(kernel, *before));
    const bool is_crowded = worker_note().partners[0] == '\0' &&
                            threads > std::max(many_times * expected, many_threads) * calls;
    return is_crowded ? Crowding{.threads = threads / calls, .expected = expected} : Crowding();
}

/// A comparison with NaN is false, so what is chosen by it may be the other value.
std::string loss_of_nan(const Outcome& outcome) {
    const bool loses = std::ranges::any_of(outcome.worst, [](const WrongElement& wrong) {
        return std::isnan(wrong.want) && !std::isnan(wrong.got);
    });
    return loses && !outcome.is_of_two_calls
               ? "; it loses NaN, which the reference gives on, as PyTorch's relu and max pooling "
                 "do: x < 0 ? 0 : x keeps it, x > 0 ? x : 0 does not"
               : std::string();
}

ListData lister_of(const Registry& registry) {
    return [&registry](const Case& checked) {
        const Kernel& kernel = *registry.find_kernel(checked.kernel);
        return list_data(kernel, checked.problem, checked.data,
                         kind_of(checked, property_named(checked.property), kernel));
    };
}

struct Enumeration {
    SupportedProblems supported;
    ProblemEnumerator enumerator{supported};

    explicit Enumeration(const Kernel& kernel)
        : supported(*kernel.op, *kernel.pass, kernel.any()) {}
};

}  // namespace

KernelSuite::KernelSuite(const Registry& registry, const SuiteOptions& options)
    : registry_(registry),
      options_(options),
      generators_(std::make_shared<Generators>(registry, options.edge_problems)) {}

const Kernel& KernelSuite::kernel_of(const Case& checked) const {
    return *registry_.find_kernel(checked.kernel);
}

std::vector<const Property*> KernelSuite::properties() const {
    std::vector<const Property*> all;
    for (const DefinedProperty& property : all_properties()) all.push_back(&property);
    return all;
}

void KernelSuite::prepare(const std::vector<Row>& rows, int threads) const {
    if (!options_.edge_problems) return;
    std::vector<const Kernel*> kernels;
    for (const Row& row : rows)
        if (std::ranges::find(kernels, row.kernel) == kernels.end()) kernels.push_back(row.kernel);
    generators_->prepare(kernels, threads);
}

Suite::Draw KernelSuite::draw(const Row& row, std::uint64_t seed, std::int64_t index) const {
    const DefinedProperty& property = property_named(row.property->name);
    const ProblemGenerator& generator = generators_->get(*row.kernel, property);
    const std::uint64_t case_seed = seed_of(row, seed, index);
    if (property.own_cases > 0)
        return draw_large(row, generator, property.values(*row.kernel->op), case_seed, index,
                          options_.large_offset_bits);
    if (!generator.why_none().empty()) return {.drawn = {}, .why_none = generator.why_none()};
    Case drawn = make_case(row, property, generator, problem_gen(generator, index), case_seed);
    const auto& before = drawn.setting.before;
    const double share =
        generator.share_of(drawn.problem) + (before ? generator.share_of(*before) : 0.0);
    return {.drawn = std::move(drawn), .why_none = {}, .share = share};
}

Case KernelSuite::draw_on(const Row& row, std::uint64_t seed, std::int64_t index,
                          const Problem& problem) const {
    const DefinedProperty& property = property_named(row.property->name);
    return make_case(row, property, generators_->get(*row.kernel, property), rc::gen::just(problem),
                     seed_of(row, seed, index));
}

std::shared_ptr<const PairsByRank> KernelSuite::pairs_within_reach(const Row& row) const {
    const CoveringArray* array =
        generators_->get(*row.kernel, property_named(row.property->name)).covering_array_if_made();
    return array ? std::make_shared<const PairsByRank>(array->pairs()) : nullptr;
}

Suite::ProblemsInOrder KernelSuite::problems_in_order(const Row& row) const {
    // Each search may take its full time, since a run may go on for days.
    return [all = std::make_shared<Enumeration>(*row.kernel)] {
        auto problem = all->enumerator.next();
        all->enumerator.renew_steps();
        return Suite::NextProblem{std::move(problem), all->enumerator.gave_up()};
    };
}

std::vector<Case> KernelSuite::dense_cases(const Row& row, const Problem& problem) const {
    return gradverify::dense_cases(*row.kernel, row.property_name(), row.device, problem);
}

Outcome KernelSuite::run(std::string_view printed) const {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    const Case checked = Case::parse(printed, registry_);
    const DefinedProperty& property = property_named(checked.property);
    const Kernel& kernel = kernel_of(checked);
    if (!property.applies_to(kernel))
        throw std::invalid_argument("the property " + checked.property + " does not apply to " +
                                    kernel.name);
    if (checked.setting.copies && property.own_cases == 0)
        throw std::invalid_argument("copies= is for holds_when_large, not for " + checked.property);
    if (!checked.data.files.empty() && property.needs_integers)
        throw std::invalid_argument(checked.property + " needs integers, not recorded tensors");
    CaseContext context(checked, registry_, kind_of(checked, property, kernel));
    note_case();
    const WorkerNote& note = worker_note();
    const auto threads_before = note.threads;
    const auto launches_before = note.launches.load();
    Outcome outcome;
    try {
        outcome = property.check(context);
        if (outcome.verdict == Verdict::failed) {
            outcome.message += misuse_of_held_outputs(context, outcome);
            outcome.message += misuse_of_workspace(context, outcome);
            outcome.message += loss_of_nan(outcome);
            outcome.given = whole_numbers_of(context);
        } else if (outcome.verdict == Verdict::passed && property.knows_outputs) {
            outcome.values = values_of(context);
        }
    } catch (const UndecidedComparison& undecided) {
        outcome = Outcome::skipped(undecided.what());
    } catch (const NotServed& reason) {
        outcome = reason.outcome();
    }
    outcome.add_overflows(worker_note().overflows.data());
    outcome.multiply_adds = kernel.pass->multiply_adds(checked.problem);
    outcome.seconds_kernel = context.caller.seconds();
    outcome.seconds_reference = context.oracle.seconds();
    if (outcome.verdict == Verdict::passed)
        outcome.crowding =
            crowding_of(kernel, checked, static_cast<double>(note.threads - threads_before),
                        static_cast<double>(note.launches - launches_before));
    if (!outcome.crowding.empty()) outcome.crowding.seconds = outcome.seconds_kernel;
    outcome.seconds_total =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    outcome.seconds_cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    return outcome;
}

Outcome KernelSuite::measure(const MeasureRequest& request) const {
    return gradverify::measure(registry_, request);
}

std::vector<Case> KernelSuite::with_calls_before(const Case& failing) const {
    if (failing.setting.copies) return {};
    Enumeration smallest(kernel_of(failing));
    std::vector<Problem> problems = with_one_changed(smallest.supported, failing.problem);
    problems.push_back(failing.problem);
    for (std::size_t i = 0; i < smallest_problems; ++i) {
        const auto problem = smallest.enumerator.next();
        if (!problem) break;
        problems.push_back(*problem);
    }
    if (failing.setting.before) problems.push_back(*failing.setting.before);
    std::vector<Case> cases(problems.size(), failing);
    for (std::size_t i = 0; i < cases.size(); ++i) cases[i].setting.before = problems[i];
    return cases;
}

Shrunk KernelSuite::shrink(const Case& found, const Outcome& outcome,
                           const CaseRunner& runner) const {
    if (found.setting.copies) return shrink_large(kernel_of(found), found, outcome, runner);
    return shrink_case(kernel_of(found), found, outcome, runner, lister_of(registry_));
}

void KernelSuite::explain(Shrunk& shrunk, const CaseRunner& runner) const {
    if (shrunk.smallest.setting.copies) return;
    gradverify::explain(kernel_of(shrunk.smallest), shrunk, runner, lister_of(registry_));
}

std::string KernelSuite::overflows_of(const Case& failing, const CaseRunner& runner) const {
    // The checked variant tells them, which this property calls.
    const DefinedProperty& checks = property_named("free_of_races");
    const Kernel& kernel = kernel_of(failing);
    if (failing.property == checks.name || failing.setting.copies ||
        !checks.applies(kernel, failing.device))
        return {};
    Case checked = failing;
    checked.property = checks.name;
    return runner(checked).overflows;
}

Reproducer KernelSuite::reproducer_of(const Case& failing) const {
    const DefinedProperty& property = property_named(failing.property);
    const Kernel& kernel = kernel_of(failing);
    if (property.own_cases > 0)
        throw std::invalid_argument("the tensors of " + failing.property +
                                    " are too large to be listed");
    // The numbers are those of any device, and this process is to touch no GPU.
    Case on_host = failing;
    if (kernel.on("cpu")) on_host.device = "cpu";
    CaseContext context(on_host, registry_, kind_of(on_host, property, kernel));
    Reproducer reproducer{.kernel = &kernel,
                          .calls = context.caller.given(context.inputs.of(context.pass())),
                          .expected = property.is_bounded ? context.oracle.within_rounding()
                                                          : context.oracle.expected()};
    for (std::size_t i = reproducer.expected.size(); i-- > 0;) {
        Expected& output = reproducer.expected[i];
        if (output.by_any_formula && !failing.setting.is_strict)
            output.bounds = output.by_any_formula();
        if (!failing.setting.asks_for(i))
            reproducer.expected.erase(reproducer.expected.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return reproducer;
}

}  // namespace gradverify
