// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/generator.hpp"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <stdexcept>

#include "properties/problems/enumerate.hpp"
#include "properties/problems/smaller.hpp"

namespace gradverify {
namespace {

constexpr std::size_t most_edge_problems = 64;
/// The search for edge problems behind a predicate ends after about a tenth of a second.
constexpr std::int64_t most_edge_steps = 2'000'000;
/// Draws that measure the rate of rejection; from a fixed seed, so that a row errs always or never.
constexpr int trial_draws = 400;
constexpr std::uint64_t trial_seed = 0x67726164;
/// A draw in ten is accepted at worst, so that all of these fail once in 10^11 draws.
constexpr int most_raw_draws = 256;

/// Behind the first cases one in three is drawn freely, and the others are the array's; one in more
/// where a longer array would not end within a usual row.
std::int64_t spacing_of_free_draws(std::int64_t members, std::int64_t first_ones) {
    constexpr std::int64_t usual_cases = 1000;
    for (const std::int64_t spacing : {3, 6, 12})
        if (members <= (usual_cases - first_ones) / spacing * (spacing - 1)) return spacing;
    return 24;
}

bool allows(const WorkBudget& budget, const WorkBudget& wanted) {
    return budget.multiply_adds >= wanted.multiply_adds &&
           budget.thread_barriers >= wanted.thread_barriers && budget.bytes >= wanted.bytes;
}

}  // namespace

ProblemGenerator::ProblemGenerator(const Operator& op, const PassSpec& pass,
                                   const KernelDeclaration& kernel, ProblemGeneratorOptions options)
    : covering_arrays_(options.covering_arrays),
      starts_with_edges_(options.edge_problems),
      takes_covering_array_(options.edge_problems && allows(options.budget, covering_budget)) {
    try {
        supported_ = std::make_shared<const SupportedProblems>(op, pass, kernel);
    } catch (const std::invalid_argument& contradiction) {
        why_none_ = contradiction.what();
        return;
    }
    drawer_.emplace(*supported_, options.budget);
    if (takes_covering_array_) sizes_.emplace(*supported_, options.budget);
    find_edge_problems();
    try_draws();
}

void ProblemGenerator::find_edge_problems() {
    ProblemEnumerator enumerator(*supported_, {.steps = most_edge_steps});
    while (edge_problems_.size() < most_edge_problems) {
        const std::optional<Problem> problem = enumerator.next();
        if (!problem) return;
        if (!edge_problems_.empty() && problem->distance() > edge_problems_.front().distance() + 1)
            return;
        edge_problems_.push_back(*problem);
    }
}

/// Measures how many mixed draws the predicates reject; a predicate may reject all others.
void ProblemGenerator::try_draws() {
    const bool has_predicate =
        supported_->kernel().predicate != nullptr || supported_->op().why_invalid != nullptr;
    if (!has_predicate && !edge_problems_.empty()) return;
    int drawn = 0, accepted = 0;
    // A tenth of the trials, once accepted, is enough whatever the others are.
    for (int i = 0; i < trial_draws && accepted < trial_draws / 10; ++i) {
        SplitMix64 random(trial_seed + static_cast<std::uint64_t>(i));
        const std::optional<Problem> problem = (*drawer_)(random, ProblemDrawer::Plan::mixed);
        drawn += problem.has_value();
        accepted += problem && supported_->satisfies_predicates(*problem);
    }
    why_none_ = why_too_rare(supported_->kernel(), trial_draws, drawn, accepted);
}

std::string why_too_rare(const KernelDeclaration& kernel, int trials, int drawn, int accepted) {
    if (drawn * 10 < trials)
        return kernel.full_name() +
               ": hardly a problem without empty tensors, and within the budget, satisfies its "
               "constraints; see `list`";
    if (accepted * 10 >= drawn) return "";
    return fmt::format(
        "{}: {} rejects {} % of the problems drawn (at most 90 % is accepted); say "
        "with where(...) what constraints can express",
        kernel.full_name(),
        kernel.predicate_text.empty() ? "the operator's validity"
                                      : fmt::format("only_if `{}`", kernel.predicate_text),
        100 * (drawn - accepted) / drawn);
}

std::optional<Problem> ProblemGenerator::draw(std::uint64_t seed, std::int64_t index) const {
    if (!why_none_.empty()) return std::nullopt;
    return problem_gen(*this, index)(rc::Random(seed)).value();
}

Problem ProblemGenerator::of_case(std::int64_t index, std::uint64_t number) const {
    if (!why_none_.empty()) throw std::invalid_argument(why_none_);
    if (!starts_with_edges_) return draw_freely(number);
    const auto edges = std::ssize(edge_problems_);
    const auto sized = sizes_ ? std::ssize(sizes_->first()) : 0;
    const std::int64_t smallest = std::min<std::int64_t>(edges, 1);
    if (index >= smallest && index < smallest + sized)
        return of_sizes(sizes_->first()[static_cast<std::size_t>(index - smallest)], number);
    if (index < edges + sized)
        return edge_problems_[static_cast<std::size_t>(index < smallest ? index : index - sized)];
    const std::int64_t behind = index - edges - sized;
    if (!sizes_) return draw_freely(number);
    const std::int64_t members = std::ssize(covering_array().problems());
    const std::int64_t spacing = spacing_of_free_draws(members, edges + sized);
    const std::int64_t turn = behind / spacing, member = behind - turn;
    if (behind % spacing == spacing - 1) {
        // Where a long array leaves few turns, sizes need more of them.
        const std::int64_t free_one_in = spacing == 3 ? 2 : 4;
        const GivenSizes* given = sizes_->at_turn(turn - turn / free_one_in);
        const bool is_free = turn % free_one_in == free_one_in - 1;
        if (given && !is_free) return of_sizes(*given, number);
        // A cheap problem helps to pay for dear sizes.
        if (is_free || members == 0) return draw_freely(number);
        SplitMix64 random(number);
        return covering_array().varied(static_cast<std::size_t>(turn % members), random);
    }
    if (member >= members) return draw_freely(number);
    SplitMix64 random(number);
    return covering_array().varied(static_cast<std::size_t>(member), random);
}

const CoveringArray& ProblemGenerator::covering_array() const {
    if (!covering_array_) covering_array_ = &covering_arrays_->of(*supported_);
    return *covering_array_;
}

Problem ProblemGenerator::of_sizes(const GivenSizes& given, std::uint64_t number) const {
    constexpr int tries = 8;
    SplitMix64 random(number);
    for (int i = 0; i < tries; ++i)
        if (const auto problem = drawer_->of_sizes(random, given);
            problem && supported_->satisfies_predicates(*problem))
            return *problem;
    return draw_freely(random.next());
}

Problem ProblemGenerator::draw_freely(std::uint64_t number) const {
    if (!why_none_.empty()) throw std::invalid_argument(why_none_);
    SplitMix64 random(number);
    for (int i = 0; i < most_raw_draws; ++i) {
        const std::optional<Problem> problem = (*drawer_)(random);
        if (problem && supported_->satisfies_predicates(*problem)) return *problem;
    }
    if (edge_problems_.empty()) throw std::runtime_error("no supported problem was found");
    return edge_problems_.front();
}

rc::Shrinkable<Problem> problem_tree(const SupportedProblems& supported, Problem problem) {
    return rc::shrinkable::shrinkRecur(std::move(problem), [&supported](const Problem& from) {
        return rc::seq::fromContainer(smaller_problems(supported, from));
    });
}

rc::Gen<Problem> problem_gen(const ProblemGenerator& generator, std::optional<std::int64_t> index) {
    return [&generator, index](const rc::Random& random, int) {
        const std::uint64_t number = rc::Random(random).next();
        return problem_tree(*generator.supported(), index ? generator.of_case(*index, number)
                                                          : generator.draw_freely(number));
    };
}

}  // namespace gradverify
