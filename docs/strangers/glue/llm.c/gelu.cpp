// SPDX-License-Identifier: Apache-2.0
// GELU by its approximation with tanh.
#include <cmath>
#include <numbers>

#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("gelu_tanh")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .separable_along("n")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            const double scale = std::sqrt(2.0 / std::numbers::pi);
            for (std::int64_t i = 0; i < x.elements(); ++i) {
                const T cube = 0.044715 * x.flat(i) * x.flat(i) * x.flat(i);
                y.flat(i) = 0.5 * x.flat(i) * (1.0 + tanh(scale * (x.flat(i) + cube)));
            }
        });
}
GRADVERIFY_OPERATOR(describe);
