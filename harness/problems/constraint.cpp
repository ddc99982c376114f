// SPDX-License-Identifier: Apache-2.0
#include "harness/problems/constraint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"

namespace gradverify {
namespace {

/// A range that reaches the largest value of a parameter has no upper end.
constexpr std::int64_t unbounded = std::int64_t{1} << 30;

bool relates_two(const Constraint& constraint) {
    return constraint.kind == Constraint::Kind::same_as ||
           constraint.kind == Constraint::Kind::multiple_of_parameter;
}

template <class... Values>
[[noreturn]] void reject(const Constraint& constraint, fmt::format_string<Values...> why,
                         Values&&... values) {
    refuse("constraint `{}`: {}", constraint.print(),
           fmt::format(why, std::forward<Values>(values)...));
}

std::vector<int> slots_named(const std::string& name, const Constraint& constraint,
                             const ParameterSpace& space, int rank) {
    std::vector<int> slots = space.find(name, rank);
    if (!slots.empty()) return slots;
    const auto names = space.names(rank);
    reject(constraint, "no parameter is called {}{}; there are {}{}", name,
           space.rank_min() == space.rank_max() ? "" : fmt::format(" with {} spatial axes", rank),
           joined(names), did_you_mean(name, names));
}

bool holds_for(const Constraint& constraint, std::int64_t value, std::int64_t other) {
    switch (constraint.kind) {
        case Constraint::Kind::range:
            return constraint.minimum <= value && value <= constraint.maximum;
        case Constraint::Kind::multiple_of:
            return value % constraint.factor == 0;
        case Constraint::Kind::same_as:
            return value == other;
        case Constraint::Kind::multiple_of_parameter:
            return other == 0 ? value == 0 : value % other == 0;
    }
    return false;
}

}  // namespace

Condition equals(std::int64_t value) { return between(value, value); }
Condition between(std::int64_t minimum, std::int64_t maximum) {
    return {{}, Constraint::Kind::range, minimum, maximum, 1, {}};
}
Condition multiple_of(std::int64_t factor) {
    return {{}, Constraint::Kind::multiple_of, 0, 0, factor, {}};
}
Condition same_as(std::string_view other) {
    return {{}, Constraint::Kind::same_as, 0, 0, 1, std::string(other)};
}
Condition multiple_of(std::string_view other) {
    return {{}, Constraint::Kind::multiple_of_parameter, 0, 0, 1, std::string(other)};
}

std::string Constraint::print() const {
    switch (kind) {
        case Kind::range:
            if (minimum == maximum) return fmt::format("{} = {}", parameter, minimum);
            if (maximum >= unbounded) return fmt::format("{} >= {}", parameter, minimum);
            return fmt::format("{} <= {} <= {}", minimum, parameter, maximum);
        case Kind::multiple_of:
            return fmt::format("{} multiple of {}", parameter, factor);
        case Kind::same_as:
            return parameter + " = " + other;
        case Kind::multiple_of_parameter:
            return parameter + " multiple of " + other;
    }
    return parameter;
}

std::vector<SlotPair> slots_of(const Constraint& constraint, const ParameterSpace& space,
                               int rank) {
    const std::vector<int> subjects = slots_named(constraint.parameter, constraint, space, rank);
    const std::vector<int> others = relates_two(constraint)
                                        ? slots_named(constraint.other, constraint, space, rank)
                                        : std::vector{-1};
    if (subjects.size() != others.size() && subjects.size() != 1 && others.size() != 1)
        reject(constraint,
               "{} has {} values and {} has {}; name a side or an axis, so that they are as many, "
               "or one of them is single",
               constraint.parameter, subjects.size(), constraint.other, others.size());
    std::vector<SlotPair> pairs;
    for (std::size_t i = 0; i < std::max(subjects.size(), others.size()); ++i)
        pairs.push_back({.slot = subjects[subjects.size() == 1 ? 0 : i],
                         .other = others[others.size() == 1 ? 0 : i]});
    return pairs;
}

const Constraint* first_violated(std::span<const Constraint> constraints, const Problem& problem) {
    for (const Constraint& constraint : constraints)
        for (const auto& [slot, other] : slots_of(constraint, problem.space(), problem.rank()))
            if (!holds_for(constraint, problem[slot], other < 0 ? 0 : problem[other]))
                return &constraint;
    return nullptr;
}

void check_names(std::span<const Constraint> constraints, const ParameterSpace& space,
                 RankRange ranks) {
    for (const Constraint& constraint : constraints) {
        if (constraint.kind == Constraint::Kind::multiple_of && constraint.factor < 1)
            reject(constraint, "the factor must be at least 1");
        if (constraint.kind == Constraint::Kind::range && constraint.minimum > constraint.maximum)
            reject(constraint, "the minimum must not exceed the maximum");
        for (int rank = ranks.least; rank <= ranks.most; ++rank)
            for (const auto& [slot, other] : slots_of(constraint, space, rank))
                for (const int named : {slot, other < 0 ? slot : other})
                    if (space.spec(rank, named).is_real())
                        reject(constraint,
                               "conditions are on whole numbers, and it names a real parameter; "
                               "use only_if with Problem::real");
    }
}

}  // namespace gradverify
