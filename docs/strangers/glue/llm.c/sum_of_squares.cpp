// SPDX-License-Identifier: Apache-2.0
// The square of a vector's norm.
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("sum_of_squares")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {})
        .piecewise_polynomial()
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) call.output("y")() += x(i) * x(i);
        });
}
GRADVERIFY_OPERATOR(describe);
