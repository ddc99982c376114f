// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "properties/problems/solver.hpp"

namespace gradverify {
namespace {

/// Candidates for a value: more than the divisors of any size that is drawn lie apart.
constexpr int most_candidates = 2048;
/// How many values `complete` tries before it gives up on a system of relations.
constexpr int most_steps = 20000;

bool divides(std::int64_t divisor, std::int64_t value) {
    return divisor == 0 ? value == 0 : value % divisor == 0;
}

bool has_multiple(const SlotClass& slot_class, std::int64_t unit) {
    if (slot_class.lowest == 0) return true;
    return unit > 0 && round_up(slot_class.lowest, unit) <= slot_class.highest;
}

}  // namespace

Assignment::Assignment(const RankDomain& domain)
    : domain_(&domain), values_(domain.classes.size(), -1) {}

Assignment::Assignment(const RankDomain& domain, const Problem& problem) : Assignment(domain) {
    for (std::size_t c = 0; c < values_.size(); ++c)
        values_[c] = problem[domain.classes[c].slots.front()];
}

std::int64_t Assignment::unit(int which, int other, std::int64_t value) const {
    const SlotClass& slot_class = domain_->at(which);
    std::int64_t unit = slot_class.step;
    for (const int divisor : slot_class.divisors) {
        if (divisor != other && !has(divisor)) continue;
        const std::int64_t factor = divisor == other ? value : (*this)[divisor];
        if (factor == 0) return 0;
        unit = least_common_multiple(unit, factor);
    }
    return unit;
}

/// Whether every multiple keeps its value, or could still get one.
bool Assignment::leaves_room(int which, std::int64_t value) const {
    return std::ranges::all_of(domain_->at(which).multiples, [&](int multiple) {
        return has(multiple) ? divides(value, (*this)[multiple])
                             : has_multiple(domain_->at(multiple), unit(multiple, which, value));
    });
}

bool Assignment::allows(int which, std::int64_t value) const {
    const SlotClass& slot_class = domain_->at(which);
    if (value < slot_class.lowest || value > slot_class.highest) return false;
    return divides(unit(which), value) && leaves_room(which, value);
}

std::optional<std::int64_t> Assignment::nearest(int which, std::int64_t target) const {
    const SlotClass& slot_class = domain_->at(which);
    const std::int64_t step = unit(which);
    if (step == 0) return allows(which, 0) ? std::optional<std::int64_t>(0) : std::nullopt;
    const std::int64_t lowest = round_up(slot_class.lowest, step);
    const std::int64_t highest = round_down(slot_class.highest, step);
    if (lowest > highest) return std::nullopt;
    std::int64_t below = nearest_in({lowest, highest, step}, target);
    std::int64_t above = below;
    for (int i = 0; i < most_candidates && (below >= lowest || above <= highest); ++i) {
        if (below >= lowest && leaves_room(which, below)) return below;
        if (above <= highest && leaves_room(which, above)) return above;
        below -= step, above += step;
    }
    return std::nullopt;
}

bool Assignment::set_nearest(int which, std::int64_t target) {
    const std::optional<std::int64_t> value = nearest(which, target);
    if (value) set(which, *value);
    return value.has_value();
}

bool Assignment::complete(int& steps) {
    const std::vector<int>& order = domain_->draw_order;
    const auto missing = std::ranges::find_if(order, [&](int which) { return !has(which); });
    if (missing == order.end()) return true;
    const SlotClass& slot_class = domain_->at(*missing);
    const std::int64_t step = std::max<std::int64_t>(unit(*missing), 1);
    std::optional<std::int64_t> value = nearest(*missing, slot_class.smallest);
    while (value) {
        set(*missing, *value);
        if (complete(steps)) return true;
        unset(*missing);
        // Only a class with multiples can lead into a dead end that a larger value avoids.
        if (slot_class.multiples.empty()) return false;
        do {
            *value += step;
            if (*value > slot_class.highest || ++steps > most_steps) return false;
        } while (!allows(*missing, *value));
    }
    return false;
}

Problem Assignment::problem(const ParameterSpace& space) const {
    Problem problem(space, domain_->rank);
    for (std::size_t slot = 0; slot < domain_->class_of.size(); ++slot)
        problem[static_cast<int>(slot)] = (*this)[domain_->class_of[slot]];
    return problem;
}

}  // namespace gradverify
