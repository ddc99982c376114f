// SPDX-License-Identifier: Apache-2.0
// The operators group_norm and instance_norm, each with one backward pass from the saved mean and
// rstd of every group; an instance is a group of one channel.
//
//   y[n,c,p] = (x[n,c,p] - mean[n,g]) rstd[n,g] gamma[c] + beta[c],  g = the group of channel c
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x"), gamma = call.input("gamma"), beta = call.input("beta");
    const auto y = call.output("y"), mean = call.output("mean"), rstd = call.output("rstd");
    const std::int64_t channels = x.size(1) / mean.size(1), pixels = x.size(2);
    const double count = static_cast<double>(channels * pixels);
    for (std::int64_t n = 0; n < x.size(0); ++n)
        for (std::int64_t g = 0; g < mean.size(1); ++g) {
            const auto for_each = [&](auto visit) {
                for (std::int64_t c = g * channels; c < (g + 1) * channels; ++c)
                    for (std::int64_t p = 0; p < pixels; ++p) visit(c, p);
            };
            T sum = 0.0, squares = 0.0;
            for_each([&](auto c, auto p) { sum += x(n, c, p); });
            const T center = mean(n, g) = sum / count;
            for_each(
                [&](auto c, auto p) { squares += (x(n, c, p) - center) * (x(n, c, p) - center); });
            rstd(n, g) = rsqrt(squares / count + call.attribute("eps"));
            for_each([&](auto c, auto p) {
                y(n, c, p) = (x(n, c, p) - center) * rstd(n, g) * gamma(c) + beta(c);
            });
        }
}

Operator describe(OperatorDeclaration declaration, const char* groups) {
    return declaration.parameter("n", {.minimum = 0})
        .parameter("c")
        .parameter("pixels")
        .attribute("eps", {1e-5, 0.1, 1e-12})
        .separable_along("n")
        .input("x", {"n", "c", "pixels"})
        .input("gamma", {"c"})
        .input("beta", {"c"})
        .output("y", {"n", "c", "pixels"})
        .saved("mean", {"n", groups})
        .saved("rstd", {"n", groups})
        .typical("n", 1, 4)
        .typical("c", 1, 16)
        .typical("pixels", 1, 64)
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dy", "x", "gamma", "mean", "rstd"}, {"dx", "dgamma", "dbeta"});
}

Operator group_norm() {
    return describe(declare_operator("group_norm")
                        .parameter("groups")
                        .where("c", multiple_of("groups"))
                        .benchmark("n=16,c=256,pixels=4096,groups=32"),
                    "groups");
}
Operator instance_norm() {
    return describe(declare_operator("instance_norm").benchmark("n=16,c=64,pixels=65536"), "c");
}

GRADVERIFY_OPERATOR(group_norm);
GRADVERIFY_OPERATOR(instance_norm);

}  // namespace
}  // namespace gradverify
