// SPDX-License-Identifier: Apache-2.0
// A depth-first walk over the slots of a rank in their order, for one distance and one padding at
// a time: values ascend at every level, so that problems come in lexicographic order, and a level
// is left as soon as the rest of the distance cannot be used up exactly.
#include "properties/problems/enumerate.hpp"

#include <algorithm>
#include <cstdlib>

namespace gradverify {

ProblemEnumerator::ProblemEnumerator(const SupportedProblems& problems, EnumerationLimits limits)
    : problems_(&problems), limits_(limits) {
    for (const RankDomain& domain : problems.domains())
        if (!limits.box || limits.box->rank() == domain.rank) walks_.push_back(make_walk(domain));
    distance_ = std::ranges::min_element(walks_, {}, &Walk::nearest)->nearest;
    farthest_ = std::ranges::max_element(walks_, {}, &Walk::farthest)->farthest;
    farthest_ = std::min(farthest_, limits.distance);
    least_ = walks_.front().least;
    for (const Walk& walk : walks_) {
        for (const std::size_t kind : kinds)
            least_[kind] = std::min(least_[kind], walk.least[kind]);
        const std::int64_t most = walk.padding_grows ? walk.farthest : walk.least[padding];
        padding_most_ = std::max(padding_most_, most);
    }
    padding_ = least_[padding];
}

/// What the slots of a class add to the distance, except those that count from a left side.
ProblemEnumerator::Budget ProblemEnumerator::class_cost(const RankDomain& domain, int which,
                                                        std::int64_t value) const {
    const ParameterSpace& space = problems_->op().space;
    Budget sum{};
    for (const int slot : domain.at(which).slots) {
        const ParameterSpec& spec = space.spec(domain.rank, slot);
        if (space.slot(domain.rank, slot).side == Side::right) continue;
        sum[spec.is_padding ? padding : other] += std::abs(value - spec.default_value);
    }
    return sum;
}

ProblemEnumerator::Level ProblemEnumerator::make_level(const RankDomain& domain, int slot) const {
    const ParameterSpace& space = problems_->op().space;
    const ParameterSpec& spec = space.spec(domain.rank, slot);
    const int which = domain.index_of(slot);
    const SlotClass& slot_class = domain.at(which);
    Level level{.which = which,
                .is_first = slot_class.slots.front() == slot,
                .is_right = space.slot(domain.rank, slot).side == Side::right,
                .kind = spec.is_padding ? padding : other,
                .usual = spec.default_value,
                .lowest = slot_class.lowest,
                .highest = slot_class.highest};
    if (limits_.box)
        for (const int member : slot_class.slots) {
            const std::int64_t value = (*limits_.box)[member];
            const std::int64_t usual = space.spec(domain.rank, member).default_value;
            level.lowest = std::max(level.lowest, std::min(value, usual));
            level.highest = std::min(level.highest, std::max(value, usual));
        }
    if (level.is_first) {
        const bool is_fixed = level.lowest == level.highest;  // the box may do that too
        level.least = class_cost(domain, which, is_fixed ? level.lowest : slot_class.smallest);
        for (const int member : slot_class.slots) {
            if (is_fixed) break;
            const ParameterSpec& its = space.spec(domain.rank, member);
            // Where defaults differ, the value nearest to one need not be nearest to the other.
            if (its.default_value != level.usual) level.least = {};
            level.can_grow[its.is_padding ? padding : other] = true;
        }
    }
    // A right side that is not tied to its left one costs their difference.
    if (level.is_right && domain.index_of(slot - 1) != which) level.can_grow[level.kind] = true;
    return level;
}

ProblemEnumerator::Walk ProblemEnumerator::make_walk(const RankDomain& domain) const {
    Walk walk{.domain = &domain};
    for (std::size_t slot = 0; slot < domain.class_of.size(); ++slot)
        walk.levels.push_back(make_level(domain, static_cast<int>(slot)));
    for (std::size_t l = walk.levels.size() - 1; l > 0; --l)
        for (const std::size_t kind : kinds) {
            const Level& level = walk.levels[l];
            Level& before = walk.levels[l - 1];
            before.least_after[kind] = level.least_after[kind] + level.least[kind];
            before.grows_after[kind] = level.grows_after[kind] || level.can_grow[kind];
        }
    for (const Level& level : walk.levels) {
        const SlotClass& slot_class = domain.at(level.which);
        for (const std::size_t kind : kinds) walk.least[kind] += level.least[kind];
        walk.padding_grows |= level.can_grow[padding];
        if (level.is_right) walk.farthest += slot_class.highest;
        walk.farthest +=
            std::max(std::abs(slot_class.lowest - level.usual), slot_class.highest - level.usual);
    }
    walk.nearest = walk.least[other] + walk.least[padding];
    return walk;
}

std::optional<Problem> ProblemEnumerator::next() {
    while (!gave_up_) {
        if (current_ == nullptr && !start_next_walk()) return std::nullopt;
        if (std::optional<Problem> found = next_in_walk()) return found;
    }
    return std::nullopt;
}

/// Begins the next combination of distance, padding and rank, if there is one.
bool ProblemEnumerator::start_next_walk() {
    if (walk_ == walks_.size()) walk_ = 0, ++padding_;
    if (padding_ > std::min(distance_ - least_[other], padding_most_))
        padding_ = least_[padding], ++distance_;
    if (distance_ > farthest_) return false;
    current_ = &walks_[walk_++];
    values_.emplace(*current_->domain);
    positions_.assign(current_->levels.size(), {});
    enter(0, {distance_ - padding_, padding_});
    ++steps_;
    return true;
}

/// Prepares the values that a level may take with what is left of the distance.
void ProblemEnumerator::enter(std::size_t l, Budget rest) {
    const Level& level = current_->levels[l];
    const SlotClass& slot_class = current_->domain->at(level.which);
    if (!level.is_first) {
        positions_[l] = {(*values_)[level.which], (*values_)[level.which], rest};
        return;
    }
    const std::int64_t around =
        level.is_right ? (*values_)[current_->levels[l - 1].which] : level.usual;
    // The levels behind need their part of it.
    const std::int64_t reach = rest[level.kind] - level.least_after[level.kind];
    const std::int64_t lowest = std::max(level.lowest, around - reach);
    positions_[l] = {.value = round_up(lowest, slot_class.step),
                     .last = std::min(level.highest, around + reach),
                     .rest = rest};
}

/// What is left of the distance once a level has this value; nothing if that cannot be used up.
std::optional<ProblemEnumerator::Budget> ProblemEnumerator::after(std::size_t l,
                                                                  std::int64_t value) {
    const Level& level = current_->levels[l];
    Budget rest = positions_[l].rest;
    if (level.is_right)
        rest[level.kind] -= std::abs(value - (*values_)[current_->levels[l - 1].which]);
    if (level.is_first) {
        const Budget cost = class_cost(*current_->domain, level.which, value);
        rest[other] -= cost[other], rest[padding] -= cost[padding];
    }
    for (const std::size_t kind : kinds) {
        const std::int64_t spare = rest[kind] - level.least_after[kind];
        if (spare < 0 || (spare > 0 && !level.grows_after[kind])) return std::nullopt;
    }
    if (level.is_first && !values_->allows(level.which, value)) return std::nullopt;
    return rest;
}

/// Moves a level to its next value; nothing when it has no more.
std::optional<ProblemEnumerator::Budget> ProblemEnumerator::advance(std::size_t l) {
    const Level& level = current_->levels[l];
    Position& at = positions_[l];
    while (at.value <= at.last) {
        const std::int64_t value = at.value;
        at.value += current_->domain->at(level.which).step;
        ++steps_;
        if (const std::optional<Budget> rest = after(l, value)) {
            if (level.is_first) values_->set(level.which, value);
            return rest;
        }
    }
    if (level.is_first) values_->unset(level.which);
    return std::nullopt;
}

std::optional<Problem> ProblemEnumerator::next_in_walk() {
    while (steps_ <= limits_.steps) {
        const std::optional<Budget> rest = advance(depth_);
        if (!rest) {
            if (depth_ == 0) {
                current_ = nullptr;
                return std::nullopt;
            }
            --depth_;
        } else if (depth_ + 1 < positions_.size()) {
            enter(++depth_, *rest);
        } else {
            Problem problem = values_->problem(problems_->op().space);
            if (problems_->satisfies_predicates(problem)) return problem;
        }
    }
    gave_up_ = true;
    return std::nullopt;
}

std::int64_t count_before(const SupportedProblems& problems, const Problem& problem,
                          std::int64_t most, std::int64_t steps) {
    ProblemEnumerator enumerator(problems, {.distance = problem.distance(), .steps = steps});
    std::int64_t count = 0;
    for (auto next = enumerator.next(); next && *next < problem && count < most;
         next = enumerator.next())
        ++count;
    return enumerator.gave_up() ? most : count;
}

}  // namespace gradverify
