// SPDX-License-Identifier: Apache-2.0
// An operator's declaration that compiles, and mistakes in its forward function that must not, each
// with what the compiler says:
// FUNCTION_OF_STD: call exp(x), not std::exp(x)
// NOT_A_TEMPLATE: the forward function must be a template over the scalar
// PLAIN_DOUBLE: the forward function turns one of its numbers into a double
#include "harness/declare_operator.hpp"

using namespace gradverify;

#ifdef NOT_A_TEMPLATE
const auto forward = [](const ForwardCall<double>& call) {
    call.output("y")(0) = call.input("x")(0);
};
#else
const auto forward = []<class T>(const ForwardCall<T>& call) {
#if defined(FUNCTION_OF_STD)
    call.output("y")(0) = std::exp(call.input("x")(0));
#elif defined(PLAIN_DOUBLE)
    const double x = call.input("x")(0);
    call.output("y")(0) = x * x;
#else
    const T x = call.input("x")(0);
    call.output("y")(0) = max(exp(x), T(0.5)) + rsqrt(2 + x * x) * pow(abs(x), T(3.0));
#endif
};
#endif

static Operator describe() {
    return declare_operator("o")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
#ifdef CORRECT
        .gradient("grad_x", {"x", "dy"}, {"dx"}, forward)
#endif
        .forward(forward);
}
GRADVERIFY_OPERATOR(describe);
