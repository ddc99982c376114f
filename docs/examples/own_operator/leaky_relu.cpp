// SPDX-License-Identifier: Apache-2.0
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("leaky_relu")
        .parameter("n", {.minimum = 0})
        .attribute("slope", {0.25, 0.0, -1.5})
        .input("x", {"n", 3})
        .output("y", {"n", 3})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            const T slope = call.attribute("slope");
            for (std::int64_t i = 0; i < x.elements(); ++i)
                y.flat(i) = max(x.flat(i), T(0.0)) + slope * min(x.flat(i), T(0.0));
        });
}
GRADVERIFY_OPERATOR(describe);
