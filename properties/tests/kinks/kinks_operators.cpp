// SPDX-License-Identifier: Apache-2.0
// Operators with kinks, for the tests: ramps, y = max(x, 0), some with a gradient by hand, right or
// wrong, or with a forward function that differs by scalar; a median; a product whose factors have
// ranges, a quotient; and maxima whose place is saved.
#include <concepts>

#include "harness/testing/small_declarations.hpp"
#include "properties/tests/small_operators.hpp"

namespace gradverify {
namespace {

using testing::by_element;
using testing::elementwise;
using testing::of_two;

const auto by_max = []<class T>(const T& x) { return max(x, T(0.0)); };
const auto by_branch = []<class T>(const T& x) { return x > 0.0 ? x : T(0.0); };

Operator with_max() { return elementwise(by_max, "ramp_by_max"); }
Operator with_branch() { return elementwise(by_branch, "ramp_by_branch"); }
Operator with_definition() {
    return elementwise(by_branch, "ramp_by_definition").branches_decide();
}
/// The gradient is written by hand, with this slope below zero.
Operator by_hand(const char* name, double slope_below) {
    return elementwise(by_max, name)
        .gradient("grad_x", {"dy", "x"}, {"dx"}, by_element([=](const auto& in, const auto& out) {
                      out("dx") = in("dy") * (in("x") > 0.0 ? 1.0 : slope_below);
                  }));
}
Operator right_by_hand() { return by_hand("ramp_right_by_hand", 0.0); }

Operator size_by_hand() {
    return elementwise([]<class T>(const T& x) { return abs(x); }, "size_by_hand")
        .gradient("grad_x", {"dy", "x"}, {"dx"}, by_element([](const auto& in, const auto& out) {
                      const auto& x = in("x");
                      out("dx") = x < 0.0 ? -in("dy") : x > 0.0 ? in("dy") : 0.0 * in("dy");
                  }));
}

OperatorDeclaration amax(const char* name) {
    return declare_operator(name)
        .parameter("n")
        .parameter("c")
        .input("x", {"n", "c"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), y = call.output("y");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                y(i) = x(i, 0);
                for (std::int64_t j = 1; j < x.size(1); ++j) y(i) = max(y(i), x(i, j));
            }
        });
}
Operator amax_derived() {
    return amax("amax_derived").gradient("grad_x", {"dy", "x", "y"}, {"dx"});
}
/// All that are equal to a row's largest number have equal shares of the gradient.
Operator amax_by_hand() {
    return amax("amax_by_hand")
        .gradient("grad_x", {"dy", "x", "y"}, {"dx"}, []<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), y = call.input("y"), dy = call.input("dy");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                double count = 0.0;
                for (std::int64_t j = 0; j < x.size(1); ++j) count += x(i, j) == y(i) ? 1.0 : 0.0;
                for (std::int64_t j = 0; j < x.size(1); ++j)
                    if (x(i, j) == y(i)) call.output("dx")(i, j) = dy(i) / count;
            }
        });
}

/// The k largest numbers of each row in their order; of equal ones the first comes first.
Operator top_by_hand() {
    return declare_operator("top_by_hand")
        .parameter("n")
        .parameter("c")
        .parameter("k", {.maximum = 4})
        .valid_if("no more numbers than a row has",
                  [](const Problem& p) { return p.scalar("k") <= p.scalar("c"); })
        .input("x", {"n", "c"})
        .output("y", {"n", "k"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), y = call.output("y");
            for (std::int64_t i = 0; i < x.size(0); ++i)
                for (std::int64_t j = 0; j < x.size(1); ++j) {
                    T falling = x(i, j);
                    for (std::int64_t r = 0; r < y.size(1); ++r) {
                        if (r == j) y(i, r) = falling;
                        if (r >= j) break;
                        const T above = max(y(i, r), falling);
                        falling = min(y(i, r), falling);
                        y(i, r) = above;
                    }
                }
        })
        .gradient("grad_x", {"dy", "x"}, {"dx"}, []<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), dy = call.input("dy");
            for (std::int64_t i = 0; i < x.size(0); ++i)
                for (std::int64_t j = 0; j < x.size(1); ++j) {
                    std::int64_t rank = 0;
                    for (std::int64_t other = 0; other < x.size(1); ++other)
                        if (x(i, other) > x(i, j) || (other < j && x(i, other) == x(i, j))) ++rank;
                    if (rank < dy.size(1)) call.output("dx")(i, j) = dy(i, rank);
                }
        });
}
Operator wrong_by_hand() { return by_hand("ramp_wrong_by_hand", 0.5); }

/// Differs by scalar: the derivative is half of what the values say.
Operator forgetful() {
    const auto square = []<class T>(const T& x) {
        if constexpr (std::same_as<T, Dual>)
            return x * T(x.value());
        else
            return x * x;
    };
    return elementwise(square, "ramp_forgetful");
}

/// The middle one of three, by comparisons; the last of equal ones.
Operator median() {
    return declare_operator("median")
        .parameter("n")
        .input("x", {"n", 3})
        .output("y", {"n"})
        .piecewise_linear()
        .branches_decide()
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                const bool is_rising = x(i, 0) < x(i, 1);
                const T low = x(i, is_rising ? 0 : 1), high = x(i, is_rising ? 1 : 0);
                call.output("y")(i) = x(i, 2) < low ? low : high < x(i, 2) ? high : x(i, 2);
            }
        });
}

/// Products of numbers in ranges: one with no whole number but zero, and one with five.
Operator masked() {
    return of_two("masked", "x", "w", std::multiplies<>(), numbers_between(-1.0, 1.0),
                  numbers_between(-2.5, 2.5))
        .sum_of_products({{"x", "w"}});
}

/// A number of each row, and where it is.
OperatorDeclaration place(const char* name) {
    return declare_operator(name)
        .parameter("n")
        .parameter("c")
        .input("x", {"n", "c"})
        .output("y", {"n"})
        .saved("at", {"n"});
}

/// The first place of a function's largest value in each row.
template <class F>
auto find_largest(F function) {
    return [=]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x"), y = call.output("y"), at = call.output("at");
        for (std::int64_t i = 0; i < x.size(0); ++i) {
            y(i) = function(x(i, 0));
            for (std::int64_t j = 1; j < x.size(1); ++j)
                if (function(x(i, j)) > y(i)) {
                    y(i) = function(x(i, j));
                    at(i) = T(static_cast<double>(j));
                }
        }
    };
}

constexpr auto itself = [](const auto& x) { return x; };

Operator largest() { return place("largest").forward(find_largest(itself)); }

Operator largest_piecewise() {
    return place("largest_piecewise").piecewise_linear().forward(find_largest(itself));
}

Operator largest_size() {
    return place("largest_size").forward(find_largest([](const auto& x) { return abs(x); }));
}

/// A row with one number has no second one.
Operator second_largest() {
    return place("second_largest").forward([]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x");
        for (std::int64_t i = 0; i < x.size(0); ++i) {
            std::int64_t first = 0, second = -1;
            for (std::int64_t j = 1; j < x.size(1); ++j) {
                if (x(i, j) > x(i, first)) {
                    second = first;
                    first = j;
                } else if (second < 0 || x(i, j) > x(i, second)) {
                    second = j;
                }
            }
            if (second < 0) continue;
            call.output("y")(i) = x(i, second);
            call.output("at")(i) = T(static_cast<double>(second));
        }
    });
}

GRADVERIFY_OPERATOR(largest_piecewise);
GRADVERIFY_OPERATOR(largest_size);
GRADVERIFY_OPERATOR(second_largest);
GRADVERIFY_OPERATOR(largest);
GRADVERIFY_OPERATOR(testing::quotient);
GRADVERIFY_OPERATOR(masked);
GRADVERIFY_OPERATOR(median);
GRADVERIFY_OPERATOR(forgetful);
GRADVERIFY_OPERATOR(with_max);
GRADVERIFY_OPERATOR(with_branch);
GRADVERIFY_OPERATOR(with_definition);
GRADVERIFY_OPERATOR(right_by_hand);
GRADVERIFY_OPERATOR(size_by_hand);
GRADVERIFY_OPERATOR(amax_by_hand);
GRADVERIFY_OPERATOR(amax_derived);
GRADVERIFY_OPERATOR(top_by_hand);
GRADVERIFY_OPERATOR(wrong_by_hand);

}  // namespace
}  // namespace gradverify
