// SPDX-License-Identifier: Apache-2.0
// A depthwise convolution over the past alone, with a SiLU behind it or without.
#include "harness/declare_operator.hpp"

using namespace gradverify;

template <class T>
static void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x"), w = call.input("w"), bias = call.input("bias");
    const auto y = call.output("y");
    const std::int64_t width = w.size(1);
    for (std::int64_t b = 0; b < x.size(0); ++b)
        for (std::int64_t d = 0; d < x.size(1); ++d)
            for (std::int64_t l = 0; l < x.size(2); ++l) {
                T sum = bias(d);
                for (std::int64_t i = std::max<std::int64_t>(0, width - 1 - l); i < width; ++i)
                    sum += w(d, i) * x(b, d, l - width + 1 + i);
                y(b, d, l) = call.parameter("silu") == 1 ? sum * sigmoid(sum) : sum;
            }
}

static Operator describe() {
    return declare_operator("causal_conv1d_fn")
        .parameter("b")
        .parameter("d")
        .parameter("l")
        .parameter("width", {.default_value = 2, .minimum = 2, .maximum = 4})
        .parameter("silu", {.default_value = 0, .minimum = 0, .maximum = 1})
        .input("x", {"b", "d", "l"})
        .input("w", {"d", "width"})
        .input("bias", {"d"})
        .output("y", {"b", "d", "l"})
        .typical("l", 1, 80)
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dy", "x", "w", "bias"}, {"dx", "dw", "dbias"});
}
GRADVERIFY_OPERATOR(describe);
