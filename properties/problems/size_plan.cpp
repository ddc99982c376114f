// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/size_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <ranges>

#include "properties/problems/value_levels.hpp"

namespace gradverify {
namespace {

/// One more than the usual sides of blocks, the largest first.
constexpr std::array<std::int64_t, 6> above_blocks{1025, 513, 257, 129, 65, 33};
/// All of a row's first dozen cases but the smallest problem.
constexpr std::ptrdiff_t most_first = 11;

/// Levels begin here, the last one ends. The small ones are left to other draws where there are
/// more axes than these: sizes beside two large ones are small, but not always the smallest.
constexpr std::array<std::int64_t, 9> level_begins{4, 8, 16, 32, 64, 128, 256, 1024, 4097};
constexpr std::size_t small_levels = 4, axes_with_small_levels = 3;

constexpr std::int64_t beyond_grid = 65536;

/// What each turn adds to what may be spent, as a share of the budget: what a free draw costs,
/// which would have the turn.
constexpr double share_of_turn = 0.05;
/// In a usual row.
constexpr double usual_turns = 160.0;

/// The sizes of one rank, and what problems of them cost.
class SizesOfRank {
  public:
    SizesOfRank(const SupportedProblems& problems, std::size_t domain, const CostModel& cost,
                const WorkBudget& budget)
        : problems_(problems),
          at_(domain),
          domain_(problems.domains()[domain]),
          cost_(cost),
          budget_(budget) {
        for (int which = 0; which < std::ssize(domain_.classes); ++which)
            if (enlarges(levels_of(problems.op().space, domain_, which).role) &&
                !domain_.at(which).is_fixed())
                axes_.push_back(which);
    }

    /// Problems that meet each axis at each size, or at this rank's share of the sizes: as few as a
    /// row begins with, if they are cheap, and else the cheapest.
    std::vector<GivenSizes> just_above_blocks() const {
        const auto meeting_all = [&](double most) {
            std::vector<GivenSizes> found;
            for (std::size_t i = at_; i < above_blocks.size(); i += problems_.domains().size())
                for (const int axis : axes_) place(axis, above_blocks[i], most, found);
            return found;
        };
        const auto few = most_first / std::ssize(problems_.domains());
        for (double most = SizePlan::cheap_share / 16; most < 4 * SizePlan::cheap_share;
             most *= 1.5)
            if (auto found = meeting_all(most); std::ssize(found) <= few) return found;
        return meeting_all(0.0);
    }

    void add_pairs(std::vector<GivenSizes>& found) const {
        const std::size_t smallest = axes_.size() > axes_with_small_levels ? small_levels : 0;
        for (std::size_t a = 0; a < axes_.size(); ++a)
            for (std::size_t b = a + 1; b < axes_.size(); ++b)
                for (std::size_t i = smallest; i + 1 < level_begins.size(); ++i)
                    for (std::size_t j = i < small_levels ? small_levels : smallest;
                         j + 1 < level_begins.size(); ++j)
                        add(found, {level(axes_[a], i), level(axes_[b], j)});
    }

    /// Each axis by itself; a number of groups may be a grid's axis, too.
    void add_beyond_grid(std::vector<GivenSizes>& found) const {
        for (int which = 0; which < std::ssize(domain_.classes); ++which)
            if (std::ranges::count(axes_, which) > 0 || !domain_.at(which).multiples.empty())
                add(found, {at_least(which, beyond_grid)});
    }

  private:
    /// The smallest value of a class from this one on.
    GivenSize at_least(int which, std::int64_t value) const {
        const std::int64_t least = round_up(value, domain_.at(which).step);
        return {which, least, least};
    }
    GivenSize level(int which, std::size_t i) const {
        GivenSize size = at_least(which, level_begins[i] + 1);
        size.most = std::min(level_begins[i + 1] - 1, domain_.at(which).highest);
        return size;
    }

    /// The same sizes and what they cost; nothing if no problem has them.
    std::optional<GivenSizes> priced(const std::vector<GivenSize>& sizes) const {
        Assignment values(domain_);
        for (const GivenSize& size : sizes) {
            if (size.least > size.most || !values.allows(size.which, size.least))
                return std::nullopt;
            values.set(size.which, size.least);
        }
        if (!values.complete()) return std::nullopt;
        const ProblemCost cost = cost_(values.problem(problems_.op().space));
        if (cost.empty_axes > 0 || cost.share_of(dear_budget(budget_)) > 1.0) return std::nullopt;
        return GivenSizes{at_, sizes, cost.share_of(share_of_budget(budget_, 1.0))};
    }

    void add(std::vector<GivenSizes>& found, const std::vector<GivenSize>& sizes) const {
        if (auto given = priced(sizes)) found.push_back(std::move(*given));
    }

    /// Adds a size to the last problem that stays cheap with it, or as a new one.
    void place(int axis, std::int64_t value, double most, std::vector<GivenSizes>& found) const {
        const GivenSize size = at_least(axis, value);
        for (GivenSizes& given : found | std::views::reverse) {
            if (std::ranges::count(given.sizes, axis, &GivenSize::which) > 0) continue;
            std::vector<GivenSize> sizes = given.sizes;
            sizes.push_back(size);
            const auto both = priced(sizes);
            if (!both || both->share > most) continue;
            given = *both;
            return;
        }
        if (const auto alone = priced({size}); alone && alone->share <= 1.0)
            found.push_back(*alone);
    }

    const SupportedProblems& problems_;
    std::size_t at_;
    const RankDomain& domain_;
    const CostModel& cost_;
    const WorkBudget& budget_;
    std::vector<int> axes_;  ///< classes
};

/// Whether a problem of these sizes is also large enough for the others.
bool is_beyond(const GivenSizes& given, const GivenSizes& other) {
    return given.domain == other.domain &&
           std::ranges::equal(given.sizes, other.sizes, [](const GivenSize& a, const GivenSize& b) {
               return a.which == b.which && a.least >= b.least;
           });
}

/// The cheapest first. As far as a usual row pays, larger sizes stand for smaller ones that are not
/// cheap.
std::vector<GivenSizes> without_smaller(std::vector<GivenSizes> all) {
    std::ranges::stable_sort(all, {}, &GivenSizes::share);
    std::vector<GivenSizes> kept;
    double spent = 0.0;
    bool is_paid = true;
    // Many need the turns of the cheap ones, too.
    const double least =
        static_cast<double>(all.size()) > usual_turns / 2.0 ? 0.0 : SizePlan::cheap_share;
    for (GivenSizes& given : all) {
        const auto is_needless = [&](const GivenSizes& smaller) {
            return smaller.share > least && is_beyond(given, smaller);
        };
        double with_it = spent + given.share;
        for (const GivenSizes& one : kept) with_it -= is_needless(one) ? one.share : 0.0;
        is_paid = is_paid && with_it <= share_of_turn * usual_turns;
        if (is_paid) {
            std::erase_if(kept, is_needless);
            spent = with_it;
        }
        kept.push_back(std::move(given));
    }
    return kept;
}

}  // namespace

WorkBudget share_of_budget(const WorkBudget& budget, double share) {
    return {.multiply_adds = share * budget.multiply_adds,
            .thread_barriers = share * budget.thread_barriers / 16,
            .bytes = share * budget.bytes / 8};
}

WorkBudget dear_budget(const WorkBudget& budget) {
    WorkBudget dear = budget;
    dear.multiply_adds *= budget.longest_factor;
    return dear;
}

SizePlan::SizePlan(const SupportedProblems& problems, const WorkBudget& budget) {
    const CostModel cost(problems);
    std::vector<GivenSizes> others;
    for (std::size_t domain = 0; domain < problems.domains().size(); ++domain) {
        const SizesOfRank sizes(problems, domain, cost, budget);
        std::ranges::move(sizes.just_above_blocks(), std::back_inserter(first_));
        sizes.add_pairs(others);
        sizes.add_beyond_grid(others);
    }
    // Rows that get few cases begin with the cheap ones.
    std::ranges::stable_sort(first_, {}, &GivenSizes::share);
    const auto dear = std::ranges::upper_bound(first_, 4 * cheap_share, {}, &GivenSizes::share);
    const auto rest = std::min(dear, first_.begin() + std::min(std::ssize(first_), most_first));
    std::move(rest, first_.end(), std::back_inserter(others));
    first_.erase(rest, first_.end());
    double spent = 0.0;
    for (GivenSizes& given : without_smaller(std::move(others))) {
        spent += given.share;
        const std::int64_t next = turns_.empty() ? 0 : turns_.back().at + 1;
        turns_.push_back(
            {std::max<std::int64_t>(next, std::llround(spent / share_of_turn)), std::move(given)});
    }
}

const GivenSizes* SizePlan::at_turn(std::int64_t turn) const {
    if (turns_.empty()) return nullptr;
    const auto found =
        std::ranges::lower_bound(turns_, turn % (turns_.back().at + 1), {}, &Turn::at);
    return found->at == turn % (turns_.back().at + 1) ? &found->given : nullptr;
}

}  // namespace gradverify
