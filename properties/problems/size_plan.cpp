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
constexpr double share_of_turn = 0.08;
/// In a usual row, and how many of them one problem may take.
constexpr double usual_turns = 160.0, most_turns = usual_turns / 4.0;

/// What sizes count for in a row's budget: one alone, as beyond a grid's axis, is worth more than
/// that pays, and must leave room for pairs.
double price_of(const GivenSizes& given) {
    return given.sizes.size() == 1 ? std::min(given.share, share_of_turn) : given.share;
}

/// Two sizes in one level, and what may stand for them where that is too dear: the smaller one in
/// lower levels. Each that is there is also large enough for those behind it.
using Alternatives = std::vector<GivenSizes>;

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
        for (const int which : domain_.draw_order) {
            if (domain_.at(which).is_fixed()) continue;
            const bool is_axis = enlarges(levels_of(problems.op().space, domain_, which).role);
            if (is_axis) axes_.push_back(which);
            if (is_axis || !domain_.at(which).multiples.empty()) sizes_.push_back(which);
        }
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

    void add_pairs(std::vector<Alternatives>& found) const {
        const std::size_t smallest = axes_.size() > axes_with_small_levels ? small_levels : 0;
        for (std::size_t a = 0; a < sizes_.size(); ++a)
            for (std::size_t b = a + 1; b < sizes_.size(); ++b)
                for (std::size_t most = small_levels; most + 1 < level_begins.size(); ++most) {
                    Alternatives& of_level = found.emplace_back();
                    add(of_level, {level(sizes_[a], most), level(sizes_[b], most)});
                    for (std::size_t less = most; less-- > smallest;) {
                        add(of_level, {level(sizes_[a], less), level(sizes_[b], most)});
                        add(of_level, {level(sizes_[a], most), level(sizes_[b], less)});
                    }
                }
    }

    /// Each by itself; a number of groups may be a grid's axis, too.
    void add_beyond_grid(std::vector<Alternatives>& found) const {
        for (const int which : sizes_) add(found.emplace_back(), {exactly(which, beyond_grid)});
    }

  private:
    static GivenSize exactly(int which, std::int64_t value) { return {which, value, value}; }
    GivenSize level(int which, std::size_t i) const {
        return {which, level_begins[i] + 1,
                std::min(level_begins[i + 1] - 1, domain_.at(which).highest)};
    }

    /// The smallest such sizes from these on, and what they cost; nothing if no problem has them.
    std::optional<GivenSizes> priced(std::vector<GivenSize> sizes) const {
        Assignment values(domain_);
        for (GivenSize& size : sizes) {
            const bool has_choice = size.least < size.most;
            size.least = round_up(size.least, std::max<std::int64_t>(values.unit(size.which), 1));
            if (!has_choice) size.most = size.least;
            if (size.least > size.most || !values.allows(size.which, size.least))
                return std::nullopt;
            values.set(size.which, size.least);
        }
        if (!values.complete()) return std::nullopt;
        const ProblemCost cost = cost_(values.problem(problems_.op().space));
        if (cost.empty_axes > 0 || cost.share_of(dear_budget(budget_)) > 1.0) return std::nullopt;
        return GivenSizes{at_, sizes, cost.share_of(share_of_budget(budget_, 1.0))};
    }

    void add(Alternatives& found, const std::vector<GivenSize>& sizes) const {
        if (auto given = priced(sizes)) found.push_back(std::move(*given));
    }

    /// Adds a size to the last problem that stays cheap with it, or as a new one.
    void place(int axis, std::int64_t value, double most, std::vector<GivenSizes>& found) const {
        const GivenSize size = exactly(axis, value);
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
    std::vector<int> axes_;   ///< classes
    std::vector<int> sizes_;  ///< and those that axes are multiples of, before these
};

/// Whether a problem of these sizes is also large enough for the others.
bool is_beyond(const GivenSizes& given, const GivenSizes& other) {
    return given.domain == other.domain &&
           std::ranges::equal(given.sizes, other.sizes, [](const GivenSize& a, const GivenSize& b) {
               return a.which == b.which && a.least >= b.least;
           });
}

/// What a usual row pays, the cheapest first, and then the others. Levels are served in the order
/// of what two sizes in them cost, so that no two sizes wait for others to be larger; as far as a
/// row pays, larger sizes stand for smaller ones that are not cheap.
std::vector<GivenSizes> in_order(std::vector<Alternatives> all) {
    std::erase_if(all, [](const Alternatives& one) { return one.empty(); });
    // Sizes beyond a grid's axis have nothing that may stand for them.
    std::ranges::stable_sort(all, {}, [](const Alternatives& one) {
        return std::pair(one.front().sizes.size() > 1, one.front().share);
    });
    std::vector<GivenSizes> paid, others;
    double turns = 0.0;
    const auto turns_of = [](const GivenSizes& one) {
        return std::max(price_of(one) / share_of_turn, 1.0);
    };
    std::size_t count = 0;
    for (const Alternatives& one : all) count += one.size();
    // Many need the turns of the cheap ones, too.
    const double least =
        static_cast<double>(count) > usual_turns / 2.0 ? 0.0 : SizePlan::cheap_share;
    for (Alternatives& alternatives : all)
        for (GivenSizes& given : alternatives) {
            const auto stands_for = [&](const GivenSizes& larger, const GivenSizes& smaller) {
                return smaller.share > least && is_beyond(larger, smaller);
            };
            if (std::ranges::any_of(paid, [&](const auto& one) { return stands_for(one, given); }))
                continue;
            const auto is_needless = [&](const auto& one) { return stands_for(given, one); };
            double with_it = turns + turns_of(given);
            for (const GivenSizes& one : paid) with_it -= is_needless(one) ? turns_of(one) : 0.0;
            const bool is_paid = turns_of(given) <= most_turns && with_it <= usual_turns;
            if (is_paid) std::erase_if(paid, is_needless), turns = with_it;
            (is_paid ? paid : others).push_back(std::move(given));
        }
    std::ranges::stable_sort(paid, {}, &GivenSizes::share);
    std::ranges::stable_sort(others, {}, &GivenSizes::share);
    std::ranges::move(others, std::back_inserter(paid));
    return paid;
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
    std::vector<Alternatives> others;
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
    for (auto one = rest; one != first_.end(); ++one) others.push_back({std::move(*one)});
    first_.erase(rest, first_.end());
    double spent = 0.0, whole_cost = 0.0;
    for (GivenSizes& given : in_order(std::move(others))) {
        spent += price_of(given);
        whole_cost += given.share;
        const std::int64_t next = turns_.empty() ? 0 : turns_.back().at + 1;
        turns_.push_back(
            {std::max<std::int64_t>(next, std::llround(spent / share_of_turn)), std::move(given)});
    }
    if (!turns_.empty())
        cycle_ =
            std::max<std::int64_t>(turns_.back().at + 1, std::llround(whole_cost / share_of_turn));
}

const GivenSizes* SizePlan::at_turn(std::int64_t turn) const {
    if (turns_.empty()) return nullptr;
    const auto found = std::ranges::lower_bound(turns_, turn % cycle_, {}, &Turn::at);
    return found != turns_.end() && found->at == turn % cycle_ ? &found->given : nullptr;
}

}  // namespace gradverify
