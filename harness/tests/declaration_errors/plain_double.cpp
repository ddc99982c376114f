// SPDX-License-Identifier: Apache-2.0
// expect: the forward function turns one of its numbers into a double
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("o")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const double x = call.input("x")(0);
            call.output("y")(0) = x * x;
        });
}
GRADVERIFY_OPERATOR(describe);
