// SPDX-License-Identifier: Apache-2.0
// complex_matvec: y = A x on complex numbers, each a last axis of two: its real part, its
// imaginary.
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("complex_matvec")
        .parameter("rows", {.minimum = 0})
        .parameter("columns", {.minimum = 0})
        .input("a", {"rows", "columns", 2})
        .input("x", {"columns", 2})
        .output("y", {"rows", 2})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto a = call.input("a"), x = call.input("x");
            const auto y = call.output("y");
            for (std::int64_t i = 0; i < a.size(0); ++i)
                for (std::int64_t j = 0; j < a.size(1); ++j) {
                    y(i, 0) += a(i, j, 0) * x(j, 0) - a(i, j, 1) * x(j, 1);
                    y(i, 1) += a(i, j, 0) * x(j, 1) + a(i, j, 1) * x(j, 0);
                }
        })
        .sum_of_products({{"a", "x"}});
}
GRADVERIFY_OPERATOR(describe);
