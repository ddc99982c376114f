// SPDX-License-Identifier: Apache-2.0
// The operator layer_norm, with one backward pass for all gradients, from the saved mean and rstd;
// and its passes of second order and of the forward mode, from these, too.
#include "harness/second_order.hpp"

namespace gradverify {
namespace {

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x"), gamma = call.input("gamma"), beta = call.input("beta");
    const auto y = call.output("y"), mean = call.output("mean"), rstd = call.output("rstd");
    const std::int64_t width = x.size(1);
    for (std::int64_t r = 0; r < x.size(0); ++r) {
        T sum = 0.0, squares = 0.0;
        for (std::int64_t j = 0; j < width; ++j) sum += x(r, j);
        mean(r) = sum / static_cast<double>(width);
        for (std::int64_t j = 0; j < width; ++j) {
            const T from_mean = x(r, j) - mean(r);
            squares += from_mean * from_mean;
        }
        rstd(r) = rsqrt(squares / static_cast<double>(width) + call.attribute("eps"));
        for (std::int64_t j = 0; j < width; ++j)
            y(r, j) = (x(r, j) - mean(r)) * rstd(r) * gamma(j) + beta(j);
    }
}

constexpr auto normalise = []<class T>(const ForwardCall<T>& call) { forward(call); };

Operator describe() {
    return declare_operator("layer_norm")
        .parameter("rows", {.minimum = 0})
        .parameter("width")
        .attribute("eps", {1e-5, 0.1, 1e-12})
        .separable_along("rows")
        .input("x", {"rows", "width"})
        .input("gamma", {"width"})
        .input("beta", {"width"})
        .output("y", {"rows", "width"})
        .saved("mean", {"rows"})
        .saved("rstd", {"rows"})
        .typical("rows", 1, 16)
        .typical("width", 1, 64)
        .benchmark("rows=4096,width=1024")
        .forward(normalise)
        .gradient("backward", {"dy", "x", "gamma", "mean", "rstd"}, {"dx", "dgamma", "dbeta"});
}

Operator describe_backward() {
    return declare_backward(describe(), normalise)
        .gradient("grad_dy", {"ddx", "ddgamma", "ddbeta", "x", "gamma", "mean", "rstd"}, {"ddy"})
        .gradient("grad_x", {"ddx", "ddgamma", "dy", "x", "gamma", "mean", "rstd"}, {"dx"})
        .gradient("double_backward",
                  {"ddx", "ddgamma", "ddbeta", "dy", "x", "gamma", "mean", "rstd"},
                  {"ddy", "dx", "dgamma"});
}

Operator describe_jvp() {
    return declare_jvp(describe(), normalise)
        .jvp({"x", "gamma", "mean", "rstd", "tx", "tgamma", "tbeta"}, {"ty"});
}

GRADVERIFY_OPERATOR(describe);
GRADVERIFY_OPERATOR(describe_backward);
GRADVERIFY_OPERATOR(describe_jvp);

}  // namespace
}  // namespace gradverify
