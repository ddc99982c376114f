// SPDX-License-Identifier: Apache-2.0
#include <concepts>

#include "harness/testing/declarations.hpp"
#include "properties/tests/small_operators.hpp"

namespace gradverify {
namespace {

using testing::elementwise;
using testing::of_two;

template <class Slope>
auto by_hand(Slope slope) {
    return [slope]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x"), dy = call.input("dy");
        for (std::int64_t i = 0; i < x.size(0); ++i) call.output("dx")(i) = dy(i) * slope(x(i));
    };
}

const auto by_max = []<class T>(const T& x) { return max(x, T(0.0)); };
const auto by_branch = []<class T>(const T& x) { return x > 0.0 ? x : T(0.0); };

Operator with_max() { return elementwise(by_max, "ramp_by_max"); }
Operator with_branch() { return elementwise(by_branch, "ramp_by_branch"); }
Operator with_definition() {
    return elementwise(by_branch, "ramp_by_definition").branches_decide();
}
Operator right_by_hand() {
    return elementwise(by_max, "ramp_right_by_hand")
        .gradient("grad_x", {"dy", "x"}, {"dx"},
                  by_hand([]<class T>(const T& x) { return T(x > 0.0 ? 1.0 : 0.0); }));
}
Operator wrong_by_hand() {
    return elementwise(by_max, "ramp_wrong_by_hand")
        .gradient("grad_x", {"dy", "x"}, {"dx"},
                  by_hand([]<class T>(const T& x) { return T(x > 0.0 ? 1.0 : 0.5); }));
}

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

/// The same for a hundredth of the value.
Operator slightly_forgetful() {
    const auto nearly_x = []<class T>(const T& x) {
        if constexpr (std::same_as<T, Dual>)
            return x + T(0.01 * x.value());
        else
            return x + 0.01 * x;
    };
    return elementwise(nearly_x, "ramp_slightly_forgetful");
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

/// Its divisors may be zero.
Operator quotient() { return testing::quotient(); }

/// A number of each row, and where it is.
OperatorDeclaration place(const char* name) {
    return declare_operator(name)
        .parameter("n")
        .parameter("c")
        .input("x", {"n", "c"})
        .output("y", {"n"})
        .saved("at", {"n"});
}

/// The first place of a function's largest value among all numbers of a row, or the first `count`.
template <class F>
auto find_largest(F function, const char* count = nullptr) {
    return [=]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x"), y = call.output("y"), at = call.output("at");
        for (std::int64_t i = 0; i < x.size(0); ++i) {
            y(i) = function(x(i, 0));
            for (std::int64_t j = 1; j < x.size(1); ++j) {
                const T place(static_cast<double>(j));
                if (count && !(place < call.input(count)(i))) continue;
                if (function(x(i, j)) > y(i)) {
                    y(i) = function(x(i, j));
                    at(i) = place;
                }
            }
        }
    };
}

constexpr auto itself = [](const auto& x) { return x; };

Operator largest() { return place("largest").forward(find_largest(itself)); }

Operator largest_piecewise() {
    return place("largest_piecewise")
        .piecewise_linear()
        .forward(find_largest(itself))
        .gradient("grad_x", {"dy", "x"}, {"dx"}, []<class T>(const ForwardCall<T>& call) {
            const auto dy = call.input("dy"), x = call.input("x"), dx = call.output("dx");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                std::int64_t best = 0;
                for (std::int64_t j = 1; j < x.size(1); ++j)
                    if (x(i, j) > x(i, best)) best = j;
                dx(i, best) = dy(i);
            }
        });
}

Operator largest_size() {
    return place("largest_size").forward(find_largest([](const auto& x) { return abs(x); }));
}

Operator largest_square() {
    return place("largest_square").forward(find_largest([](const auto& x) { return x * x; }));
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

/// The largest of the first numbers of each row.
Operator largest_of_first() {
    return place("largest_of_first")
        .input("count", {"n"}, whole_numbers(1, 3))
        .forward(find_largest(itself, "count"));
}

/// The mean of the first numbers of each row, whose `total` is saved. The end of a row is no tie.
Operator mean_of_first() {
    return declare_operator("mean_of_first")
        .parameter("n")
        .parameter("c")
        .input("x", {"n", "c"})
        .input("count", {"n"}, whole_numbers(1, 3))
        .output("y", {"n"})
        .saved("total", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), count = call.input("count");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                T& total = call.output("total")(i);
                for (std::int64_t j = 0; j < x.size(1); ++j)
                    if (T(static_cast<double>(j)) < count(i)) total += x(i, j);
                call.output("y")(i) = total / count(i);
            }
        });
}

/// A line that jumps at zero.
Operator torn() {
    return elementwise([](const auto& x) { return x + x / sqrt(x * x); }, "torn")
        .gradient("grad_x", {"dy", "x"}, {"dx"});
}

/// Takes a number of x for each of y, by a quotient whose rounding decides which.
Operator spread() {
    return declare_operator("spread")
        .parameter("n")
        .input("x", {3})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), y = call.output("y");
            for (std::int64_t i = 0; i < y.size(0); ++i) {
                const T at = T(static_cast<double>(i)) * (T(1.0) / T(3.0));
                std::int64_t from = 0;
                while (from < 2 && !(at < T(static_cast<double>(from + 1)))) ++from;
                y(i) = x(from);
            }
        })
        .gradient("grad_x", {"dy", "x"}, {"dx"});
}

GRADVERIFY_OPERATOR(torn);
GRADVERIFY_OPERATOR(spread);
GRADVERIFY_OPERATOR(mean_of_first);
GRADVERIFY_OPERATOR(largest_of_first);
GRADVERIFY_OPERATOR(largest_piecewise);
GRADVERIFY_OPERATOR(largest_size);
GRADVERIFY_OPERATOR(largest_square);
GRADVERIFY_OPERATOR(second_largest);
GRADVERIFY_OPERATOR(largest);
GRADVERIFY_OPERATOR(quotient);
GRADVERIFY_OPERATOR(masked);
GRADVERIFY_OPERATOR(median);
GRADVERIFY_OPERATOR(forgetful);
GRADVERIFY_OPERATOR(slightly_forgetful);
GRADVERIFY_OPERATOR(with_max);
GRADVERIFY_OPERATOR(with_branch);
GRADVERIFY_OPERATOR(with_definition);
GRADVERIFY_OPERATOR(right_by_hand);
GRADVERIFY_OPERATOR(wrong_by_hand);

}  // namespace
}  // namespace gradverify
