// SPDX-License-Identifier: Apache-2.0
// The operators swiglu and geglu: one half of each row is the gate of the other.
//
//   y[r,j] = act(x[r,j]) x[r,width+j]
//   swiglu: act(z) = z sigmoid(z)
//   geglu: act(z) = z (1 + erf(z / sqrt 2)) / 2, or by the approximation with tanh
//
// swiglu has passes of second order and of the forward mode.
#include <numbers>

#include "harness/second_order.hpp"

namespace gradverify {
namespace {

OperatorDeclaration gated(const char* name) {
    return declare_operator(name)
        .parameter("rows", {.minimum = 0})
        .parameter("width")
        .separable_along("rows")
        .input("x", [](const Problem& p) { return Sizes{p.scalar("rows"), 2 * p.scalar("width")}; })
        .output("y", {"rows", "width"})
        .typical("rows", 1, 16)
        .typical("width", 1, 64)
        .benchmark("rows=8192,width=14336");
}

template <class T>
void forward(const ForwardCall<T>& call, const auto& activation) {
    const auto x = call.input("x");
    const auto y = call.output("y");
    for (std::int64_t r = 0; r < y.size(0); ++r)
        for (std::int64_t j = 0; j < y.size(1); ++j)
            y(r, j) = activation(x(r, j)) * x(r, y.size(1) + j);
}

template <class T>
T gelu(const T& z) {
    return 0.5 * z * (1.0 + erf(z / std::numbers::sqrt2));
}
template <class T>
T gelu_by_tanh(const T& z) {
    const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    return 0.5 * z * (1.0 + tanh(scale * (z + 0.044715 * z * z * z)));
}

constexpr auto gated_by_silu = []<class T>(const ForwardCall<T>& call) {
    forward(call, [](const T& z) { return z * sigmoid(z); });
};

Operator swiglu() { return gated("swiglu").forward(gated_by_silu); }
Operator swiglu_backward() {
    return declare_backward(swiglu(), gated_by_silu)
        .gradient("grad_dy", {"ddx", "x"}, {"ddy"})
        .gradient("grad_x", {"ddx", "dy", "x"}, {"dx"})
        .gradient("double_backward", {"ddx", "dy", "x"}, {"ddy", "dx"});
}
Operator swiglu_jvp() { return declare_jvp(swiglu(), gated_by_silu); }

Operator geglu() {
    return gated("geglu")
        .parameter("tanh", {.default_value = 0, .minimum = 0, .maximum = 1})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const bool by_tanh = call.parameter("tanh") == 1;
            forward(call, [&](const T& z) { return by_tanh ? gelu_by_tanh(z) : gelu(z); });
        });
}

GRADVERIFY_OPERATOR(swiglu);
GRADVERIFY_OPERATOR(swiglu_backward);
GRADVERIFY_OPERATOR(swiglu_jvp);
GRADVERIFY_OPERATOR(geglu);

}  // namespace
}  // namespace gradverify
