// SPDX-License-Identifier: Apache-2.0
// expect-success: the same declaration, right
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("o")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const T x = call.input("x")(0);
            call.output("y")(0) = max(exp(x), T(0.5)) + rsqrt(2 + x * x) * pow(abs(x), T(3.0));
        });
}
GRADVERIFY_OPERATOR(describe);
