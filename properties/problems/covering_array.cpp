// SPDX-License-Identifier: Apache-2.0
// Draws first, then searches for the pairs that no draw met: the values of one factor's parameters
// are copied from a problem with one level into a problem with the other, or are tried at random,
// and the other parameters are moved until the problem is not empty and not too dear. A greedy set
// cover thins out the problems that were found, after moving each to where it meets more pairs.
#include "properties/problems/covering_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <queue>
#include <utility>

namespace gradverify {
namespace {

/// Draws of each rank; they meet two thirds of the pairs.
constexpr int free_draws = 192;
/// Tries for a level that no draw had, and for a pair of known levels.
constexpr int tries_for_level = 240, tries_for_pair = 32;
constexpr int steps_to_cover = 12, repairs_to_cover = 16, steps_to_enrich = 160;
/// Always the same: the array does not depend on the seed of a run.
constexpr std::uint64_t search_seed = 0x70616972;

constexpr std::array<std::int64_t, 26> usual_values{
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 20, 24, 31, 32, 33, 63, 64, 65, 96, 128};

/// Whether the kernel may be given the problem, and something would be compared on it.
bool may_be_member(const SupportedProblems& supported, const WorkBudget& budget,
                   const Problem& problem, const ProblemCost& cost) {
    const auto reads_nothing = supported.op().reads_nothing;
    return cost.share_of(budget) <= 1.0 &&
           (cost.empty_axes == 0 ? !reads_nothing || !reads_nothing(problem)
                                 : supported.kernel().accepts_empty) &&
           supported.satisfies_predicates(problem);
}

struct Target {
    int factor, level;
    int other, level_of_other;
};

struct Found {
    Problem problem;
    std::vector<int> levels;
    bool is_empty;
};

/// Gives a class the allowed value nearest to a target; its multiples follow.
bool move(Assignment& values, int which, std::int64_t target) {
    const auto& multiples = values.domain().at(which).multiples;
    std::vector<std::int64_t> before;
    for (const int multiple : multiples) {
        before.push_back(values[multiple]);
        values.unset(multiple);
    }
    values.unset(which);
    if (!values.set_nearest(which, target)) return false;
    for (std::size_t i = 0; i < multiples.size(); ++i)
        if (!values.set_nearest(multiples[i], before[i])) return false;
    return true;
}

class RankSearch {
  public:
    RankSearch(const SupportedProblems& supported, const RankDomain& domain, const CostModel& cost,
               const WorkBudget& budget)
        : supported_(supported),
          domain_(domain),
          cost_(cost),
          budget_(budget),
          random_(search_seed),
          pairs_(factors_of(supported.op(), supported.kernel(), domain.rank)),
          having_(pairs_.factors().size()) {
        for (std::size_t f = 0; f < having_.size(); ++f)
            having_[f].resize(pairs_.factors()[f].levels.size());
    }

    void run(const ProblemDrawer& drawer) {
        for (int i = 0; i < free_draws; ++i)
            if (const auto drawn = drawer.of_rank(random_, domain_.rank)) offer(*drawn);
        if (found_.empty()) return;
        for (int factor = 0; factor < count(); ++factor)
            for (int level = 0; level < level_count(factor); ++level)
                for (int i = 0; i < tries_for_level && having(factor, level).empty(); ++i)
                    try_values({factor, level, factor, level}, random_member());
        for (int factor = 0; factor < count(); ++factor)
            for (int other = factor + 1; other < count(); ++other) search(factor, other);
    }

    /// The members that a greedy set cover keeps, those that add most first.
    std::vector<Problem> cover(LevelPairs& covered) {
        // A gain only shrinks while others are taken, so that one still on top is the best.
        std::priority_queue<std::pair<std::int64_t, std::size_t>> gains;
        for (std::size_t i = 0; i < found_.size(); ++i)
            gains.emplace(covered.count_new(found_[i].levels, found_[i].is_empty), i);
        std::vector<Problem> members;
        while (!gains.empty()) {
            const auto [promised, i] = gains.top();
            gains.pop();
            const std::int64_t gain = covered.count_new(found_[i].levels, found_[i].is_empty);
            if (gain == 0) continue;
            if (gain < promised) {
                gains.emplace(gain, i);
                continue;
            }
            const Found better = enriched(found_[i], covered, gain);
            covered.add(better.levels, better.is_empty);
            members.push_back(better.problem);
            if (covered.count_new(found_[i].levels, found_[i].is_empty) > 0) gains.emplace(gain, i);
        }
        return members;
    }

    const LevelPairs& pairs() const { return pairs_; }

  private:
    int count() const { return static_cast<int>(having_.size()); }
    const Factor& factor_at(int factor) const {
        return pairs_.factors()[static_cast<std::size_t>(factor)];
    }
    std::vector<std::size_t>& having(int factor, int level) {
        return having_[static_cast<std::size_t>(factor)][static_cast<std::size_t>(level)];
    }
    int level_count(int factor) const { return static_cast<int>(factor_at(factor).levels.size()); }
    /// The smallest comes more often, since a large one is soon too dear.
    const Problem& random_of(const std::vector<std::size_t>& members) {
        return found_[random_.one_in(4) ? members.front() : members[random_.below(members.size())]]
            .problem;
    }
    int random_class() { return static_cast<int>(random_.below(domain_.classes.size())); }
    std::int64_t usual_value() { return usual_values[random_.below(usual_values.size())]; }
    const Problem& random_member() { return found_[random_.below(found_.size())].problem; }

    /// Keeps a problem that meets a new pair.
    void offer(const Problem& problem) {
        const ProblemCost cost = cost_(problem);
        if (!may_be_member(supported_, budget_, problem, cost)) return;
        Found found{problem, pairs_.levels_of(problem), cost.empty_axes > 0};
        if (pairs_.add(found.levels, found.is_empty) == 0) return;
        found_.push_back(std::move(found));
        for (int factor = 0; factor < count(); ++factor) {
            auto& members = having(factor, found_.back().levels[static_cast<std::size_t>(factor)]);
            members.push_back(found_.size() - 1);
            if (found_.back().problem < found_[members.front()].problem)
                std::swap(members.front(), members.back());
        }
    }

    /// Moves single parameters to meet more uncovered pairs.
    Found enriched(Found best, const LevelPairs& covered, std::int64_t gain) {
        for (int step = 0; step < steps_to_enrich; ++step) {
            Assignment values(domain_, best.problem);
            const int which = random_class();
            if (!move(values, which, usual_value())) continue;
            Problem problem = values.problem(supported_.op().space);
            std::vector<int> levels = pairs_.levels_of(problem);
            // An empty problem would meet fewer; its cost takes longest to compute.
            if (covered.count_new(levels, false) <= gain) continue;
            const ProblemCost cost = cost_(problem);
            const bool is_empty = cost.empty_axes > 0;
            const std::int64_t more = covered.count_new(levels, is_empty);
            if (more <= gain || !may_be_member(supported_, budget_, problem, cost)) continue;
            gain = more;
            best = {std::move(problem), std::move(levels), is_empty};
        }
        return best;
    }

    void search(int factor, int other) {
        for (int a = 0; a < level_count(factor); ++a)
            for (int b = 0; b < level_count(other); ++b) {
                if (having(factor, a).empty() || having(other, b).empty()) continue;
                const Target target{factor, a, other, b}, swapped{other, b, factor, a};
                for (int i = 0; i < tries_for_pair && !is_met(target); ++i)
                    if (i % 3 == 2)
                        try_values(target, random_of(having(factor, a)));
                    else
                        try_both(i % 3 == 0 ? target : swapped);
            }
    }

    bool is_met(const Target& target) const {
        return pairs_.is_met(target.factor, target.level, target.other, target.level_of_other);
    }
    bool is_at(const Problem& problem, const Target& target) const {
        return factor_at(target.factor).level_of(problem) == target.level &&
               factor_at(target.other).level_of(problem) == target.level_of_other;
    }

    /// Copies the parameters of a problem with the one level into a problem with the other.
    void try_both(const Target& target) {
        Assignment values(domain_, random_of(having(target.factor, target.level)));
        const Problem& donor = random_of(having(target.other, target.level_of_other));
        for (const int slot : factor_at(target.other).slots)
            if (!move(values, domain_.index_of(slot), donor[slot])) return;
        finish(values, target);
    }

    /// Moves the factors' own parameters at random.
    void try_values(const Target& target, const Problem& from) {
        Assignment values(domain_, from);
        for (int step = 0; step < steps_to_cover; ++step) {
            if (is_at(values.problem(supported_.op().space), target)) {
                finish(values, target);
                return;
            }
            const auto& slots = factor_at(random_.one_in(2) ? target.factor : target.other).slots;
            const int slot = slots[random_.below(slots.size())];
            // A level may need another parameter to make room, or two parameters to be equal.
            const int which = random_.one_in(4) ? random_class() : domain_.index_of(slot);
            const std::int64_t value =
                random_.one_in(4) ? values[domain_.index_of(slots[random_.below(slots.size())])]
                                  : usual_value();
            if (!move(values, which, value)) return;
        }
    }

    bool is_of(const Target& target, int which) const {
        const auto is_slot = [&](int slot) { return domain_.index_of(slot) == which; };
        return std::ranges::any_of(factor_at(target.factor).slots, is_slot) ||
               std::ranges::any_of(factor_at(target.other).slots, is_slot);
    }

    /// Moves the other parameters until the problem holds something and is cheap enough.
    void finish(Assignment values, const Target& target) {
        for (int repair = 0; repair < repairs_to_cover; ++repair) {
            const Problem problem = values.problem(supported_.op().space);
            if (!is_at(problem, target)) return;
            const ProblemCost cost = cost_(problem);
            const bool is_dear = cost.share_of(budget_) > 1.0;
            if (!is_dear && cost.empty_axes == 0) return offer(problem);
            // An empty batch stays empty whatever is moved.
            if (!is_dear && repair == repairs_to_cover / 2) offer(problem);
            const int which = random_class();
            if (is_of(target, which)) continue;
            const std::int64_t smallest = domain_.at(which).smallest;
            const std::int64_t goal = is_dear ? smallest + (values[which] - smallest) / 4
                                      : random_.one_in(2) ? smallest
                                                          : usual_value();
            if (!move(values, which, goal)) return;
        }
    }

    const SupportedProblems& supported_;
    const RankDomain& domain_;
    const CostModel& cost_;
    const WorkBudget& budget_;
    SplitMix64 random_;
    LevelPairs pairs_;
    /// Indices into found_, by factor and level; the smallest problem first.
    std::vector<std::vector<std::vector<std::size_t>>> having_;
    std::vector<Found> found_;
};

/// The lists in one, each spread evenly over it, so that a short run meets every rank.
std::vector<Problem> spread(const std::vector<std::vector<Problem>>& lists) {
    std::vector<std::pair<double, Problem>> placed;
    for (const auto& list : lists)
        for (std::size_t i = 0; i < list.size(); ++i)
            placed.emplace_back(static_cast<double>(i) / static_cast<double>(list.size()), list[i]);
    std::ranges::stable_sort(placed, {}, &std::pair<double, Problem>::first);
    std::vector<Problem> all;
    for (auto& [place, problem] : placed) all.push_back(std::move(problem));
    return all;
}

/// The most elements of a tensor that the kernel takes, as far as that matters to the array.
std::int64_t most_elements_of(const KernelDeclaration& kernel) {
    constexpr auto any = static_cast<std::int64_t>(covering_budget.bytes);
    return std::min(kernel.most_elements.value_or(any), any);
}

/// Kernels with the same key share an array.
std::string key_of(const SupportedProblems& problems, const PassSpec& pass) {
    const KernelDeclaration& kernel = problems.kernel();
    const LaunchCost& cost = kernel.launch_cost;
    const RankRange ranks = kernel.ranks.value_or(problems.op().space.ranks());
    std::string key =
        fmt::format("{}.{} {} {} {} {} {} {} {}-{}", problems.op().name, pass.name,
                    most_elements_of(kernel), cost.threads_per_output, cost.barriers_per_thread,
                    reinterpret_cast<std::uintptr_t>(cost.threads), kernel.accepts_empty,
                    reinterpret_cast<std::uintptr_t>(kernel.predicate), ranks.least, ranks.most);
    for (const Constraint& constraint : kernel.constraints) key += '\n' + constraint.print();
    return key;
}

/// The pass whose outputs the cost of a problem follows: the forward one, unless the kernel's
/// threads or barriers matter, or the sizes of its own tensors.
const PassSpec& pass_that_matters(const SupportedProblems& problems) {
    const LaunchCost& cost = problems.kernel().launch_cost;
    const bool is_plain = cost.threads_per_output <= 1 && cost.barriers_per_thread == 0 &&
                          !cost.threads &&
                          most_elements_of(problems.kernel()) == most_elements_of({});
    return is_plain ? problems.op().forward() : problems.pass();
}

}  // namespace

CoveringArray::CoveringArray(const SupportedProblems& problems, WorkBudget budget)
    : supported_(&problems), budget_(budget), cost_(problems) {
    const ProblemDrawer drawer(problems, budget);
    std::vector<std::vector<Problem>> by_rank;
    for (const RankDomain& domain : problems.domains()) {
        RankSearch search(problems, domain, cost_, budget_);
        search.run(drawer);
        LevelPairs covered(search.pairs().factors());
        by_rank.push_back(search.cover(covered));
        pairs_.emplace(domain.rank, std::move(covered));
    }
    members_ = spread(by_rank);
}

Problem CoveringArray::varied(std::size_t index, SplitMix64& random) const {
    const Problem& member = members_[index];
    const RankDomain& domain = *supported_->domain_of(member.rank());
    const LevelPairs& pairs = pairs_.at(member.rank());
    const std::vector<int> levels = pairs.levels_of(member);
    const bool is_empty = cost_(member).empty_axes > 0;
    Problem varied = member;
    for (int which = 0; which < static_cast<int>(domain.classes.size()); ++which) {
        Assignment values(domain, varied);
        const std::int64_t value = values[which];
        // Within a factor of two or so; beyond that lies another level.
        if (!move(values, which, random.between(value - value / 3 - 1, value + value / 2 + 1)))
            continue;
        const Problem moved = values.problem(supported_->op().space);
        if (moved == varied || pairs.levels_of(moved) != levels) continue;
        const ProblemCost cost = cost_(moved);
        if ((cost.empty_axes > 0) == is_empty && may_be_member(*supported_, budget_, moved, cost))
            varied = moved;
    }
    return varied;
}

// Whichever kernel asks first, tensors count as of floats.
CoveringArrays::Entry::Entry(const Operator& op, const PassSpec& pass, KernelDeclaration declared)
    : kernel(declared.accumulates_in(DType::f32)), problems(op, pass, kernel) {}

const CoveringArray& CoveringArrays::of(const SupportedProblems& problems) {
    const PassSpec& pass = pass_that_matters(problems);
    const auto entry_of = [&]() -> Entry& {
        const std::lock_guard lock(mutex_);
        return entries_.try_emplace(key_of(problems, pass), problems.op(), pass, problems.kernel())
            .first->second;
    };
    Entry& entry = entry_of();
    std::call_once(entry.is_made, [&] { entry.array.emplace(entry.problems); });
    return *entry.array;
}

}  // namespace gradverify
