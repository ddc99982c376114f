// SPDX-License-Identifier: Apache-2.0
// expect: the forward function must be a template over the scalar
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("o")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([](const ForwardCall<double>& call) { call.output("y")(0) = call.input("x")(0); });
}
GRADVERIFY_OPERATOR(describe);
