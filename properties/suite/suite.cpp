// SPDX-License-Identifier: Apache-2.0
#include "properties/suite/suite.hpp"

#include <chrono>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>

#include "harness/devices/launch.hpp"
#include "harness/numbers/autodiff/decisions.hpp"
#include "harness/registry/element_types.hpp"
#include "properties/bench/measure.hpp"
#include "properties/data/calls_before.hpp"
#include "properties/data/dense.hpp"
#include "properties/data/seeds.hpp"
#include "properties/data/setting.hpp"
#include "properties/explaining/explain.hpp"
#include "properties/explaining/witnesses.hpp"
#include "properties/large/draw.hpp"
#include "properties/large/shrink.hpp"
#include "properties/problems/enumerate.hpp"
#include "properties/problems/generator.hpp"
#include "properties/properties.hpp"
#include "properties/shrinking/shrink.hpp"

namespace gradverify {

namespace {

/// What the suite's functions share: the registry, and a generator for each kernel, made when it
/// is first asked for.
class Shared {
  public:
    Shared(const Registry& registry, const SuiteOptions& options)
        : registry_(registry), options_(options) {
        // Its operators last as long as the process, and so may what was made for them.
        static const auto of_process = std::make_shared<CoveringArrays>();
        if (&registry == &Registry::instance()) covering_arrays_ = of_process;
    }

    const Registry& registry() const { return registry_; }
    const SuiteOptions& options() const { return options_; }

    const ProblemGenerator& generator(const Kernel& kernel, const Property& property) {
        auto& generator = generators_[{kernel.name, property.work_share}];
        if (!generator) {
            ProblemGeneratorOptions options;
            options.edge_problems = options_.edge_problems;
            options.covering_arrays = covering_arrays_;
            options.budget.multiply_adds *= property.work_share;
            options.budget.thread_barriers *= property.work_share;
            generator =
                std::make_unique<ProblemGenerator>(*kernel.op, *kernel.pass, kernel.any(), options);
        }
        return *generator;
    }

    /// Nothing where no draw came so far as to need them.
    std::shared_ptr<const PairsByRank> pairs_within_reach(const Kernel& kernel,
                                                          const Property& property) {
        const CoveringArray* array = generator(kernel, property).covering_array_if_made();
        return array ? std::make_shared<const PairsByRank>(array->pairs()) : nullptr;
    }

  private:
    const Registry& registry_;
    SuiteOptions options_;
    std::shared_ptr<CoveringArrays> covering_arrays_ = std::make_shared<CoveringArrays>();
    std::map<std::pair<std::string, double>, std::unique_ptr<ProblemGenerator>> generators_;
};

/// Data seeds are short, so that a printed case is.
std::uint64_t data_seed(std::uint64_t case_seed) { return draw_seed(case_seed, "data") >> 40; }

Case make_case(const Row& row, const Problem& problem, std::uint64_t case_seed) {
    const Kernel& kernel = *row.kernel;
    Case made{
        .kernel = row.kernel->name,
        .property = row.property,
        .device = row.device,
        .problem = problem,
        .data = {.seed = data_seed(case_seed), .is_explicit = false, .elements = {}},
        .setting = draw_setting(kernel.any(), *kernel.pass, draw_seed(case_seed, "setting"),
                                smallest_element_bytes(kernel.any(), *kernel.op, *kernel.pass))};
    draw_layouts(kernel, problem, draw_seed(case_seed, "layouts"), made.setting);
    return made;
}

/// A kernel that keeps something of its first call is wrong on the next one of another shape. Only
/// properties that know the right values can tell.
std::optional<Problem> draw_call_before(const Row& row, const ProblemGenerator& generator,
                                        std::uint64_t case_seed) {
    const std::uint64_t seed = draw_seed(case_seed, "before");
    const bool can_tell =
        row.property == "matches_reference" || row.property == "within_rounding_bound";
    if (!can_tell || seed % 4 != 0) return std::nullopt;
    return generator.draw(seed, std::numeric_limits<std::int64_t>::max());
}

std::uint64_t seed_of(const Row& row, std::uint64_t seed, std::int64_t index) {
    return draw_seed(
        {.seed = seed, .kernel = row.kernel->name, .property = row.property, .index = index});
}

const Property& property_named(const std::string& name) {
    if (const Property* property = find_property(name)) return *property;
    if (name == witnesses().name) return witnesses();
    std::string known;
    for (const Property& property : all_properties()) known += " " + std::string(property.name);
    throw std::invalid_argument("there is no property '" + name + "'; there are" + known);
}

Suite::Draw draw_case(Shared& shared, const Row& row, std::uint64_t seed, std::int64_t index) {
    const Property& property = property_named(row.property);
    const ProblemGenerator& generator = shared.generator(*row.kernel, property);
    const std::uint64_t case_seed = seed_of(row, seed, index);
    if (property.own_cases > 0)
        return draw_large(row, generator, property.values(*row.kernel->op), case_seed, index,
                          shared.options().large);
    const auto problem = generator.draw(case_seed, index);
    if (!problem) return {.drawn = {}, .why_none = generator.why_none()};
    Case drawn = make_case(row, *problem, case_seed);
    drawn.setting.before = draw_call_before(row, generator, case_seed);
    return {.drawn = std::move(drawn), .why_none = {}};
}

/// Where a comparison of the forward function may go either way, no kernel is charged.
Outcome check_decided(const Property& property, CaseContext& context) {
    try {
        return property.check(context);
    } catch (const UndecidedComparison& undecided) {
        return Outcome::skipped(undecided.what());
    }
}

Outcome run_case(const Registry& registry, std::string_view printed) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    const Case checked = Case::parse(printed, registry);
    const Property& property = property_named(checked.property);
    const Kernel& kernel = *registry.find_kernel(checked.kernel);
    if (!property.applies_to(kernel))
        throw std::invalid_argument("the property " + checked.property + " does not apply to " +
                                    kernel.name);
    if (checked.setting.copies && property.own_cases == 0)
        throw std::invalid_argument("copies= is for holds_when_large, not for " + checked.property);
    CaseContext context(checked, registry, property.values(*kernel.op));
    Outcome outcome;
    try {
        outcome = check_decided(property, context);
    } catch (const NotServed& reason) {
        outcome = Outcome::skipped(reason.what());
    }
    outcome.multiply_adds = kernel.pass->multiply_adds(checked.problem);
    outcome.seconds_kernel = context.spent().seconds_kernel;
    outcome.seconds_reference = context.spent().seconds_reference;
    outcome.seconds_total =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    outcome.seconds_cpu = static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC;
    return outcome;
}

/// What the enumerator refers to, and it.
struct Enumeration {
    SupportedProblems supported;
    ProblemEnumerator enumerator{supported};

    explicit Enumeration(const Kernel& kernel)
        : supported(*kernel.op, *kernel.pass, kernel.any()) {}
};

Suite::ProblemsInOrder problems_in_order(const Row& row) {
    // The time that a search may take is for each problem: the run may go on for days.
    return [all = std::make_shared<Enumeration>(*row.kernel)] {
        auto problem = all->enumerator.next();
        all->enumerator.renew_steps();
        return Suite::NextProblem{std::move(problem), all->enumerator.gave_up()};
    };
}

std::vector<Case> dense_cases(const Row& row, const Problem& problem) {
    std::vector<Case> cases;
    for (int draw = 0; draw < dense_draw_count(*row.kernel, row.property); ++draw)
        cases.push_back(dense_case(*row.kernel, row.property, row.device, problem, draw));
    return cases;
}

/// The tensors whose values can matter to a case, as explicit data lists them.
std::vector<DataElement> list_data(const Registry& registry, const Case& checked) {
    const Kernel& kernel = *registry.find_kernel(checked.kernel);
    const Property& property = property_named(checked.property);
    const ElementTypes types(kernel.any(), *kernel.op);
    const Values values =
        draw_values(*kernel.op, checked.problem, checked.data, property.values(*kernel.op), types);
    return list_elements(*kernel.op, checked.problem, values, drawn_for(*kernel.op, *kernel.pass),
                         types);
}

}  // namespace

Suite make_suite(const Registry& registry, const SuiteOptions& options) {
    const auto shared = std::make_shared<Shared>(registry, options);
    Suite suite;
    for (const Property& property : all_properties())
        suite.properties.push_back({.name = std::string(property.name),
                                    .summary = std::string(property.summary),
                                    .applies_to = property.applies_to,
                                    .only_on = std::string(property.only_on),
                                    .own_cases = property.own_cases > 0
                                                     ? std::optional(property.own_cases)
                                                     : std::nullopt});
    suite.draw = [shared](const Row& row, std::uint64_t seed, std::int64_t index) {
        return draw_case(*shared, row, seed, index);
    };
    suite.draw_on = [shared](const Row& row, std::uint64_t seed, std::int64_t index,
                             const Problem& problem) {
        const std::uint64_t case_seed = seed_of(row, seed, index);
        Case drawn = make_case(row, problem, case_seed);
        drawn.setting.before = draw_call_before(
            row, shared->generator(*row.kernel, property_named(row.property)), case_seed);
        return drawn;
    };
    suite.pairs_within_reach = [shared](const Row& row) {
        return shared->pairs_within_reach(*row.kernel, property_named(row.property));
    };
    suite.problems_in_order = problems_in_order;
    suite.dense_cases = dense_cases;
    suite.run = [shared](std::string_view printed) {
        return run_case(shared->registry(), printed);
    };
    suite.measure = [shared](std::string_view request) {
        return measure(shared->registry(), request);
    };
    suite.with_calls_before = [shared](const Case& checked) {
        return with_calls_before(*shared->registry().find_kernel(checked.kernel), checked);
    };
    suite.shrink = [shared](const Case& found, const Outcome& outcome, const CaseRunner& runner) {
        if (found.setting.copies)
            return shrink_large(*shared->registry().find_kernel(found.kernel), found, outcome,
                                runner);
        ShrinkTools tools;
        tools.list_data = [shared](const Case& checked) {
            return list_data(shared->registry(), checked);
        };
        return shrink_case(*shared->registry().find_kernel(found.kernel), found, outcome, runner,
                           tools);
    };
    suite.explain = [shared](Shrunk& shrunk, const CaseRunner& runner) {
        if (shrunk.smallest.setting.copies) return;
        explain(*shared->registry().find_kernel(shrunk.smallest.kernel), shrunk, runner);
    };
    return suite;
}

}  // namespace gradverify
