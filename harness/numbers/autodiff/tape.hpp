// SPDX-License-Identifier: Apache-2.0
// Decides the gradient of a forward function, and how far a correct kernel may be from it. The
// forward function runs on a scalar that records each operation with its local derivatives; one
// sweep backwards over the record then gives all gradients (reverse mode).
//
// The bound holds for any kernel that sums the products of local derivatives over all paths from an
// output to the input, in any order and factoring. The sweep carries the sum A of the paths, the
// sum M of their magnitudes, the error E of the derivatives, and the longest chain K of roundings:
//
//   link with derivative p +- e:   A p,  M (|p| + e),  E (|p| + e) + M e,  K + 1 unless p is +-1
//   n links into one value:        sums of A, M, E;  largest K, plus n - 1 additions
//   on tensor cores E takes M |p| times what p and A are cut by (Rounding::factor_truncation)
//   |computed - exact| <= (1 + gamma(K)) E + gamma(K) (M + E) + K * smallest normal number
//   where K exceeds 512: E grows by 2 gamma(K - 512) E + gamma(K - 512) M, and K is 512 again, so
//   that the steps of a long recurrence weigh what they meet, and not what comes after them
//   a sum that is rounded by name adds the rounding of |A| and this bound to its E
//
// There is no bound behind a product that may be beyond the largest number, nor where zero meets a
// factor that may be, since a kernel may multiply in any order. The derivatives' errors come from
// the forward values' errors, which the scalar carries as a Bounded.
//
// A kernel may compute another formula, such as 1 - exp(-softplus(x)) for sigmoid(x). What any
// reasonable one may lose is found by two runs. A formula gets a number from others that it stands
// beside: from sums of it with one or two more numbers, each as large as the largest of them, or
// from functions whose values are about 1. The first run notes for each number the largest such
// sum; in the second each is off by a few roundings of a number of that size, and so are the
// functions' values. An input is at hand, and beside a constant alone worth computing again, as
// 1 - (1 - t). A sum of many terms is not computed backwards, to get one of them.
//
// But a kernel that takes an output y saved computes y less the sum up to here for what is left of
// it. So it may get f dy/df from y, where f is a factor of a carried product: one of a product, or
// 1, and a number that was computed, which is multiplied by another one, or meets 1, or was not
// used any more. The gradient by f is off by y's error and a few roundings of y's terms, divided by
// f.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/numbers/bounded_functions.hpp"

namespace gradverify {

class Traced;

/// The operations of one run of a forward function.
class Tape {
  public:
    using Node = std::int32_t;
    static constexpr Node constant = -1;

    /// What two runs of the same operations share: by node, the largest short sum that a value is
    /// part of. A run notes them of what it has recorded, so the first one finds none.
    using Meetings = std::vector<double>;

    /// The tape that this thread's Traced values record on, while it exists.
    explicit Tape(Meetings* meetings = nullptr) : meetings_(meetings), before_(current) {
        nodes_.swap(kept);
        nodes_.clear();
        current = this;
    }
    ~Tape() {
        current = before_;
        constexpr std::size_t most_kept = 1 << 20;  // of 48 bytes
        if (nodes_.capacity() <= most_kept) kept.swap(nodes_);
    }
    Tape(const Tape&) = delete;
    Tape& operator=(const Tape&) = delete;

    /// Two numbers are added.
    static void meet(const Traced& a, const Traced& b) {
        if (current && current->meetings_) current->note(a, b);
    }
    /// A product was recorded, if either is no constant.
    static void multiply(const Traced& a, const Traced& b) {
        if (current && current->meetings_ && current_rounding.loss_of_saved > 0.0)
            current->note_factors(a, b);
    }
    /// The next value to be recorded; in a second run with what another formula for it may lose.
    static Bounded by_any_formula(const Bounded& value) {
        return current && current->meetings_ ? value.by_way_of(current->scale_of_next()) : value;
    }

    /// A value that gradients are asked for.
    Traced input(double value);

    /// An operand of an operation, and the operation's derivative by it.
    struct Link {
        Node from = constant;
        double slope = 0.0, error = 0.0;
    };
    /// **Errors** std::length_error when there are more than 2^31 - 1 operations.
    static Node record(const Link& first, const Link& second);
    /// The gradient by the value that was recorded last is rounded to this type.
    static void round_gradient_of_last(DType dtype);

    /// A value and the cotangent that it is given.
    struct Seed {
        Node node;
        double cotangent;
        double off = 0.0;  ///< their product's error, if a kernel takes the value saved
    };
    /// The gradient of the sum of cotangent times value by every node, at the node's position.
    std::vector<double> gradients(std::span<const Seed> seeds) const;
    /// The same with the rounding bound above, for the arithmetic of `current_rounding`.
    std::vector<Bounded> bounded_gradients(std::span<const Seed> seeds) const;

    std::size_t size() const { return nodes_.size(); }

  private:
    [[gnu::tls_model("initial-exec")]] inline static thread_local Tape* current = nullptr;

    double scale_of_next() const;
    void note(const Traced& a, const Traced& b);
    void note_factors(const Traced& a, const Traced& b);
    bool is_input(std::size_t node) const {
        return nodes_[node][0].from == constant && nodes_[node][1].from == constant;
    }
    /// For each node what the gradient by it may be off by where those by factors are got from
    /// saved outputs; empty where none are.
    std::vector<double> errors_from_saved(std::span<const Seed> seeds) const;

    std::vector<std::array<Link, 2>> nodes_;
    /// The memory of the last run. New memory takes longer than to record in it.
    inline static thread_local std::vector<std::array<Link, 2>> kept;
    /// A product of a product, or 1, and a factor that was computed; `goes_on`: it is multiplied by
    /// another such factor, or meets a number that is not 0.
    struct Product {
        Node node, factor = constant;
        double value = 0.0;
        bool goes_on = false;
    };
    void go_on(const Traced& product);

    std::vector<Product> products_;  ///< in their order, like the next
    std::vector<std::pair<std::size_t, DType>> rounded_gradients_;  ///< by node, in their order
    Meetings* meetings_;
    Tape* before_;
};

/// A value that knows how it was computed.
class Traced : public detail::ScalarOperators<Traced> {
  public:
    Traced() = default;
    Traced(double constant) : value_(constant) {}
    Traced(const Bounded& value, Tape::Node node) : value_(value), node_(node) {}

    const Bounded& value() const { return value_; }
    Tape::Node node() const { return node_; }
    bool is_constant() const { return node_ == Tape::constant; }

    Traced operator-() const { return made(-value_, {node_, -1.0, 0.0}); }
    Traced& operator+=(const Traced& b) { return *this = *this + b; }
    friend Traced operator+(const Traced& a, const Traced& b) {
        Tape::meet(a, b);
        return made(a.value_ + b.value_, {a.node_, 1.0, 0.0}, {b.node_, 1.0, 0.0});
    }
    friend Traced operator-(const Traced& a, const Traced& b) {
        Tape::meet(a, b);
        return made(a.value_ - b.value_, {a.node_, 1.0, 0.0}, {b.node_, -1.0, 0.0});
    }
    friend Traced operator*(const Traced& a, const Traced& b) {
        const Traced product = made(a.value_ * b.value_, link(a, b.value_), link(b, a.value_));
        Tape::multiply(a, b);
        return product;
    }
    friend Traced operator/(const Traced& a, const Traced& b) {
        const Bounded inverse = Bounded(1.0) / b.value_, value = a.value_ / b.value_;
        return made(value, link(a, inverse), link(b, -(Tape::by_any_formula(value) * inverse)));
    }

    /// Counts ties, and comparisons that rounding may turn: the branches' derivatives may differ.
    friend bool operator<(const Traced& a, const Traced& b) {
        if (may_be_equal(a, b)) {
            const bool is_tie = a.value_.error() + b.value_.error() == 0.0;
            ++(is_tie ? current_decisions.ties : current_decisions.undecided);
        }
        return a.value_.value() < b.value_.value();
    }
    friend bool operator==(const Traced& a, const Traced& b) {
        return !(a < b) && a.value_.value() == b.value_.value();
    }

    /// At a tie any gradient between the two sides' is within the bound.
    friend Traced max(const Traced& a, const Traced& b) {
        const Bounded value = max(a.value_, b.value_);
        const double free = current_rounding.admits_all_slopes ? 0.5 : 0.0;
        if (may_be_equal(a, b)) return made(value, {a.node_, 0.5, free}, {b.node_, 0.5, free});
        const bool second = a.value_.value() < b.value_.value();
        return made(value, {second ? b.node_ : a.node_, 1.0, 0.0});
    }
    friend Traced min(const Traced& a, const Traced& b) { return -max(-a, -b); }
    friend Traced abs(const Traced& x) {
        const double value = x.value_.value();
        const bool is_kink = !(std::abs(value) > x.value_.error());
        return made(abs(x.value_), {x.node_,
                                    is_kink     ? 0.0
                                    : value < 0 ? -1.0
                                                : 1.0,
                                    is_kink && current_rounding.admits_all_slopes ? 1.0 : 0.0});
    }

    static Tape::Link link(const Traced& operand, const Bounded& slope) {
        return {operand.node_, slope.value(), slope.error()};
    }
    /// The result of an operation; a constant when its operands are.
    static Traced made(const Bounded& value, const Tape::Link& first,
                       const Tape::Link& second = {}) {
        if (first.from == Tape::constant && second.from == Tape::constant)
            return {value, Tape::constant};
        const Bounded recorded = Tape::by_any_formula(value);
        return {recorded, Tape::record(first, second)};
    }

  private:
    static bool may_be_equal(const Traced& a, const Traced& b) {
        const double error = a.value_.error() + b.value_.error();
        // Exact constants compare alike in every kernel.
        if (a.is_constant() && b.is_constant() && error == 0.0) return false;
        return !(std::abs(a.value_.value() - b.value_.value()) > error);
    }

    Bounded value_{};
    Tape::Node node_ = Tape::constant;
};

namespace detail {

template <class F>
Traced apply_step(const Traced& x) {
    const double at = x.value().value();
    current_decisions.jumps += !x.is_constant() && F::value(std::nextafter(at, -INFINITY)) !=
                                                       F::value(std::nextafter(at, INFINITY));
    return {apply_step<F>(x.value()), Tape::constant};
}

template <class F>
Traced apply_function(const Traced& x) {
    if constexpr (requires { F::meets_one; }) Tape::meet(x, Traced(1.0));
    const Bounded value = apply_function<F>(x.value());
    Bounded slope = F::derivative(x.value(), Tape::by_any_formula(value));
    if constexpr (requires { F::is_of_ones; })
        slope = slope.by_way_of(std::max(1.0, std::abs(slope.value())));
    return Traced::made(value, Traced::link(x, slope));
}

}  // namespace detail

inline bool may_jump(const Traced& place) { return may_jump(place.value()); }

/// The number of this name, rounded where `current_rounding` says so; so is its gradient, "dp".
inline Traced rounded_by_name(std::string_view name, const Traced& number) {
    if (current_rounding.types_by_name.empty()) return number;
    const std::optional<DType> of_gradient =
        current_rounding.type_of(std::string("d").append(name));
    if (!of_gradient && !current_rounding.type_of(name)) return number;
    const Traced rounded =
        Traced::made(rounded_by_name(name, number.value()), {number.node(), 1.0, 0.0});
    if (of_gradient && !rounded.is_constant()) Tape::round_gradient_of_last(*of_gradient);
    return rounded;
}

inline Traced pow(const Traced& x, const Traced& y) {
    const Bounded value = pow(x.value(), y.value());
    // A whole power less 1 is exact, so x may be negative; to the power of 0 all numbers are 1.
    const double power = y.value().value();
    const bool is_whole = y.is_constant() && power == std::trunc(power);
    const Bounded lower = is_whole ? Bounded(power - 1.0) : y.value() - Bounded(1.0);
    const bool is_one = is_whole && power == 0.0;
    const Bounded by_x = is_one ? Bounded(0.0) : y.value() * pow(x.value(), lower);
    if (y.is_constant()) return Traced::made(value, Traced::link(x, by_x));
    return Traced::made(value, Traced::link(x, by_x), Traced::link(y, value * log(x.value())));
}

}  // namespace gradverify
