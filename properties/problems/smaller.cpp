// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/smaller.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace gradverify {
namespace {

/// The most elements of the tiles that kernels work in.
constexpr std::int64_t largest_period = 1024;
/// Values that are tried for one parameter with all others at their smallest; the most that
/// divisors and their multiples are divided by.
constexpr std::int64_t most_alone = 64, most_divided_by = 64;

struct Change {
    int which;
    std::int64_t target;
};

class Candidates {
  public:
    Candidates(const SupportedProblems& supported, const Problem& problem)
        : supported_(supported),
          problem_(problem),
          domain_(*supported.domain_of(problem.rank())),
          values_(domain_, problem) {
        for (int which = 0; which < static_cast<int>(domain_.classes.size()); ++which)
            if (values_[which] != smallest(which)) movable_.push_back(which);
    }

    std::vector<Problem> collect() {
        const int classes = static_cast<int>(domain_.classes.size());
        std::vector<Change> half;
        for (const int which : movable_) half.push_back({which, halfway(which)});
        apply(half);
        apply(down_but({}));
        for (const int kept : movable_) apply(down_but({kept}));
        // One parameter alone makes the cheapest runs, so these come first.
        flush();
        for (const int which : movable_) {
            for (const std::int64_t target : {smallest(which), halfway(which)})
                apply({{which, target}});
            keep_residues(which);
            divide_related(which);
        }
        mirror_axes();
        drop_axes();
        flush();
        // A class with itself, and a pair the other way round, only repeat candidates.
        for (const int a : movable_)
            for (const int b : movable_) {
                apply(down_but({a, b}));
                apply({{a, smallest(a)}, {b, halfway(b)}});
                apply({{a, smallest(a)}, {b, smallest(b)}});
                apply({{a, halfway(a)}, {b, halfway(b)}});
                apply({{a, one_less(a)}, {b, one_less(b)}});
            }
        for (const int a : movable_)
            for (int b = 0; b < classes; ++b) {
                trade(a, b);
                balance(a, b);
            }
        for (int kept = 0; kept < classes; ++kept) one_for_all(kept);
        flush();
        return std::move(result_);
    }

  private:
    std::int64_t smallest(int which) const { return domain_.at(which).smallest; }
    std::int64_t halfway(int which) const {
        return smallest(which) + (values_[which] - smallest(which)) / 2;
    }
    /// `from` moved by steps towards the smallest value, or by negative ones away from it.
    std::int64_t stepped(int which, std::int64_t from, std::int64_t steps) const {
        const SlotClass& slot_class = domain_.at(which);
        const bool above = values_[which] >= slot_class.smallest;
        return from + (above ? -steps : steps) * slot_class.step;
    }
    std::int64_t one_less(int which) const { return stepped(which, values_[which], 1); }
    std::int64_t one_more(int which) const { return stepped(which, values_[which], -1); }
    bool is_related(int which) const {
        return !domain_.at(which).divisors.empty() || !domain_.at(which).multiples.empty();
    }

    std::vector<Change> down_but(const std::set<int>& kept) const {
        std::vector<Change> changes;
        for (const int which : movable_)
            if (!kept.contains(which)) changes.push_back({which, smallest(which)});
        return changes;
    }
    /// The least and the nearest values with the same remainder by a power of two, since a bug may
    /// show at every 16th value only. By 1: the smallest but one, and one less.
    void keep_residues(int which) {
        const std::int64_t above = std::abs(values_[which] - smallest(which));
        for (std::int64_t power = 1; power <= std::min(above, largest_period); power *= 2)
            for (const std::int64_t less : {above - above % power - power, power})
                apply({{which, stepped(which, values_[which], less)}});
    }
    /// One parameter down and another up by as much: a bug that shows with padding may show with a
    /// larger image. Or with their product kept, for a bug that needs many elements.
    void trade(int a, int b) {
        const std::int64_t more = one_more(b), product = values_[a] * values_[b];
        apply({{a, one_less(a)}, {b, more}});
        if (more <= values_[b]) return;
        apply({{a, product / more}, {b, more}});
        apply({{a, product / more + 1}, {b, more}});
    }
    /// Two parameters made alike: for the same product, their sum is smallest there.
    void balance(int a, int b) {
        const std::int64_t product = values_[a] * values_[b];
        if (product == 0) return;
        const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(product)));
        for (const std::int64_t first : {root, root + 1, root + 2})
            apply({{a, first}, {b, (product + first - 1) / first}});
    }
    /// One parameter alone, as large as it takes, for all that others contributed.
    void one_for_all(int kept) {
        const std::int64_t distance = problem_.distance();
        std::vector<Change> changes = down_but({kept});
        changes.push_back({kept, 0});
        const std::int64_t least = std::max<std::int64_t>(1, distance - most_alone);
        for (std::int64_t steps = least; steps <= distance; ++steps) {
            changes.back().target = stepped(kept, smallest(kept), -steps);
            apply(changes);
        }
    }
    /// Two axes exchanged: a bug often shows along either, and one of the two problems is smaller.
    void mirror_axes() {
        const std::vector<Slot>& slots = problem_.slots();
        for (int first = 0; first < problem_.rank(); ++first)
            for (int second = first + 1; second < problem_.rank(); ++second) {
                Problem mirrored = problem_;
                for (std::size_t i = 0; i < slots.size(); ++i)
                    for (std::size_t j = i + 1; j < slots.size(); ++j)
                        if (slots[i].parameter == slots[j].parameter && slots[i].axis == first &&
                            slots[j].axis == second && slots[i].side == slots[j].side)
                            std::swap(mirrored[static_cast<int>(i)], mirrored[static_cast<int>(j)]);
                if (supported_.satisfies_constraints(mirrored)) add(std::move(mirrored));
            }
    }
    /// Some axes left out, where the kernel takes problems with fewer.
    void drop_axes() {
        const unsigned every_axis = (1u << problem_.rank()) - 1;
        for (unsigned kept = 1; kept < every_axis; ++kept)
            if (const RankDomain* domain = supported_.domain_of(std::popcount(kept)))
                keep_axes(kept, *domain);
    }
    void keep_axes(unsigned kept, const RankDomain& domain) {
        const ParameterSpace& space = supported_.op().space;
        const std::vector<Slot>& slots = problem_.slots();
        Problem without(space, domain.rank);
        int next = 0;
        for (std::size_t i = 0; i < slots.size(); ++i)
            if (slots[i].axis < 0 || (kept >> slots[i].axis & 1u) != 0)
                without[next++] = problem_[static_cast<int>(i)];
        // Problems with fewer axes may have other constraints.
        const Assignment targets(domain, without);
        Assignment values(domain);
        for (const int which : domain.draw_order)
            if (!values.set_nearest(which, targets[which])) return;
        add(values.problem(space));
    }
    /// A divisor and all its multiples divided by one number, so that channels per group stay.
    void divide_related(int which) {
        const auto& multiples = domain_.at(which).multiples;
        for (std::int64_t by = 2; !multiples.empty() && by <= most_divided_by; ++by) {
            if (values_[which] % by != 0) continue;
            std::vector<Change> changes{{which, values_[which] / by}};
            for (const int multiple : multiples)
                changes.push_back({multiple, values_[multiple] / by});
            apply(changes);
        }
    }

    /// Adds the changed problem, and one with all other classes solved again if some are related.
    void apply(const std::vector<Change>& changes) {
        solve(changes, false);
        if (std::ranges::any_of(changes, [&](const Change& c) { return is_related(c.which); }))
            solve(changes, true);
    }

    void solve(const std::vector<Change>& changes, bool again) {
        Assignment values = again ? Assignment(domain_) : values_;
        for (const Change& change : changes) values.unset(change.which);
        for (const int which : domain_.draw_order) {
            const auto change = std::ranges::find(changes, which, &Change::which);
            if (change != changes.end() && !values.set_nearest(which, change->target)) return;
        }
        for (const int which : domain_.draw_order)
            if (!values.has(which) && !values.set_nearest(which, values_[which])) return;
        add(values.problem(supported_.op().space));
    }

    void add(Problem candidate) {
        if (!(candidate < problem_)) return;
        if (!seen_.insert({candidate.values().begin(), candidate.values().end()}).second) return;
        if (supported_.satisfies_predicates(candidate)) tier_.push_back(std::move(candidate));
    }

    /// Appends a tier, the smallest first: one that fails saves the most steps.
    void flush() {
        std::ranges::sort(tier_);
        for (Problem& candidate : tier_) result_.push_back(std::move(candidate));
        tier_.clear();
    }

    const SupportedProblems& supported_;
    const Problem& problem_;
    const RankDomain& domain_;
    Assignment values_;
    std::vector<int> movable_;  ///< classes that are not at their smallest value
    std::set<std::vector<std::int64_t>> seen_;
    std::vector<Problem> tier_, result_;
};

}  // namespace

std::vector<Problem> smaller_problems(const SupportedProblems& supported, const Problem& problem) {
    return Candidates(supported, problem).collect();
}

std::optional<Problem> smaller_by_one(const SupportedProblems& supported, const Problem& problem,
                                      int which, std::int64_t value) {
    Assignment values(*supported.domain_of(problem.rank()), problem);
    values.unset(which);
    if (!values.set_nearest(which, value)) return std::nullopt;
    Problem smaller = values.problem(supported.op().space);
    if (!(smaller < problem) || !supported.satisfies_predicates(smaller)) return std::nullopt;
    return smaller;
}

}  // namespace gradverify
