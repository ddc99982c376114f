// SPDX-License-Identifier: Apache-2.0
// expect: call exp(x), not std::exp(x)
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("o")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            call.output("y")(0) = std::exp(call.input("x")(0));
        });
}
GRADVERIFY_OPERATOR(describe);
