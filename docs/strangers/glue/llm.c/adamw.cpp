// SPDX-License-Identifier: Apache-2.0
// A step of AdamW. The attributes are numbers that a float holds exactly.
#include "harness/declare_operator.hpp"

using namespace gradverify;

template <class T>
static void forward(const ForwardCall<T>& call) {
    const auto params = call.input("params"), grads = call.input("grads");
    const auto m = call.input("m"), v = call.input("v");
    const auto new_params = call.output("new_params");
    const auto new_m = call.output("new_m"), new_v = call.output("new_v");
    const T beta1 = call.attribute("beta1"), beta2 = call.attribute("beta2");
    const double step = static_cast<double>(call.parameter("step"));
    const T of_m = 1.0 - pow(beta1, T(step)), of_v = 1.0 - pow(beta2, T(step));
    for (std::int64_t i = 0; i < params.size(0); ++i) {
        new_m(i) = beta1 * m(i) + (1.0 - beta1) * grads(i);
        new_v(i) = beta2 * v(i) + (1.0 - beta2) * grads(i) * grads(i);
        const T direction = new_m(i) / of_m / (sqrt(new_v(i) / of_v) + T(call.attribute("eps")));
        new_params(i) = params(i) - T(call.attribute("rate")) *
                                        (direction + T(call.attribute("decay")) * params(i));
    }
}

static Operator describe() {
    return declare_operator("adamw")
        .parameter("n")
        .parameter("step", {.maximum = 1000})
        .attribute("rate", {0x1p-10, 0.5})
        .attribute("beta1", {0.875, 0.5})
        .attribute("beta2", {0.998046875, 0.75})
        .attribute("eps", {0x1p-20, 0x1p-10})
        .attribute("decay", {0.0, 0.0625})
        .input("params", {"n"})
        .input("grads", {"n"})
        .input("m", {"n"})
        .input("v", {"n"}, positive_numbers())
        .output("new_params", {"n"})
        .output("new_m", {"n"})
        .output("new_v", {"n"})
        .separable_along("n")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); });
}
GRADVERIFY_OPERATOR(describe);
