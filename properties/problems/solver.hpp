// SPDX-License-Identifier: Apache-2.0
// Decides which problems a kernel may be given: turns the constraints of operator and kernel into
// domains that can be drawn from and enumerated without rejection. Only predicates, and whether a
// tensor is empty, are asked of each problem. Draws nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "harness/operators/operator.hpp"
#include "harness/registry/kernel_declaration.hpp"

namespace gradverify {

// ---- multiples of a step within a range, up to 2^40 without overflow

/// The multiples of `step` in [lowest, highest]; both ends are multiples of it.
struct ValueRange {
    std::int64_t lowest, highest, step = 1;
};

inline std::int64_t round_up(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}
inline std::int64_t round_down(std::int64_t value, std::int64_t step) {
    return value / step * step;
}

/// Saturates at 2^41, which is more than any parameter's value.
inline std::int64_t least_common_multiple(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t too_large = std::int64_t{1} << 41;
    const std::int64_t rest = b / std::gcd(a, b);
    return a > too_large / rest ? too_large : a * rest;
}

/// The value in the range that is nearest to `target`, the lower of two.
inline std::int64_t nearest_in(const ValueRange& range, std::int64_t target) {
    const std::int64_t inside = std::clamp(target, range.lowest, range.highest);
    const std::int64_t below = round_down(inside, range.step), above = below + range.step;
    return inside - below <= above - inside ? below : above;
}

// ---- domains

/// Slots of one value in [lowest, highest]: a multiple of `step` and of every divisor's value.
struct SlotClass {
    std::vector<int> slots;  ///< ascending
    std::int64_t lowest = 0, highest = 0, step = 1;
    std::int64_t smallest = 0;   ///< the allowed value that is nearest to the default
    std::vector<int> divisors;   ///< classes whose values divide this one's
    std::vector<int> multiples;  ///< classes whose values this one's divides

    bool is_fixed() const { return lowest == highest; }
    bool operator==(const SlotClass&) const = default;
};

/// The problems of one rank that satisfy the constraints.
struct RankDomain {
    int rank = 0;
    std::vector<SlotClass> classes;  ///< by their first slot
    std::vector<int> class_of;       ///< by slot
    std::vector<int> draw_order;     ///< classes, divisors before their multiples

    const SlotClass& at(int which) const { return classes[static_cast<std::size_t>(which)]; }
    SlotClass& at(int which) { return classes[static_cast<std::size_t>(which)]; }
    int index_of(int slot) const { return class_of[static_cast<std::size_t>(slot)]; }
};

class SupportedProblems {
  public:
    /// **Errors** std::invalid_argument naming the constraints that leave no value.
    SupportedProblems(const Operator& op, const PassSpec& pass, const KernelDeclaration& kernel);

    const Operator& op() const { return *op_; }
    const PassSpec& pass() const { return *pass_; }
    const KernelDeclaration& kernel() const { return *kernel_; }
    /// One for each rank at which the constraints leave a problem; at least one.
    const std::vector<RankDomain>& domains() const { return domains_; }
    const RankDomain* domain_of(int rank) const;

    /// The elements of the pass's largest tensor, as a share of what the kernel takes; 0 where it
    /// takes any.
    double share_of_elements(const Problem& problem) const;
    /// The two parts of `contains`; the second one asks also whether the problem is empty, or has
    /// tensors larger than the kernel takes.
    bool satisfies_constraints(const Problem& problem) const;
    bool satisfies_predicates(const Problem& problem) const;
    bool contains(const Problem& problem) const {
        return satisfies_constraints(problem) && satisfies_predicates(problem);
    }

  private:
    const Operator* op_;
    const PassSpec* pass_;
    const KernelDeclaration* kernel_;
    std::vector<RankDomain> domains_;
};

/// Values of some classes of a problem, such that the others stay solvable.
class Assignment {
  public:
    explicit Assignment(const RankDomain& domain);
    /// All classes at the values of a problem of this domain.
    Assignment(const RankDomain& domain, const Problem& problem);

    const RankDomain& domain() const { return *domain_; }
    bool has(int which) const { return values_[static_cast<std::size_t>(which)] >= 0; }
    std::int64_t operator[](int which) const { return values_[static_cast<std::size_t>(which)]; }
    void set(int which, std::int64_t value) { values_[static_cast<std::size_t>(which)] = value; }
    void unset(int which) { set(which, -1); }

    /// The least common multiple of the class's step and of its divisors' values so far.
    std::int64_t unit(int which) const { return unit(which, -1, 0); }
    /// Whether the class may take the value, beside the values that the others have.
    bool allows(int which, std::int64_t value) const;
    /// The allowed value nearest to `target`, below rather than above.
    std::optional<std::int64_t> nearest(int which, std::int64_t target) const;
    /// Gives the class that value; false when there is none.
    bool set_nearest(int which, std::int64_t target);
    /// Gives every class without a value the smallest that fits; false when there is none.
    bool complete() {
        int steps = 0;
        return complete(steps);
    }

    /// The problem, once every class has a value.
    Problem problem(const ParameterSpace& space) const;

  private:
    /// The same if the class `other` had this value.
    std::int64_t unit(int which, int other, std::int64_t value) const;
    bool complete(int& steps);
    bool leaves_room(int which, std::int64_t value) const;

    const RankDomain* domain_;
    std::vector<std::int64_t> values_;  ///< -1: none yet
};

}  // namespace gradverify
