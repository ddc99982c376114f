// SPDX-License-Identifier: Apache-2.0
// The operator rms_norm, with one backward pass from the saved rstd.
//
//   y[r,j] = x[r,j] rstd[r] weight[j],  rstd[r] = 1 / sqrt(mean over j of x[r,j]^2 + eps)
//
// Some kernels, such as those of Llama, round xhat = x rstd to the type of x.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

Operator describe() {
    return declare_operator("rms_norm")
        .parameter("rows", {.minimum = 0})
        .parameter("width")
        .attribute("eps", {1e-6, 0.1, 1e-12})
        .separable_along("rows")
        .input("x", {"rows", "width"})
        .input("weight", {"width"})
        .output("y", {"rows", "width"})
        .saved("rstd", {"rows"})
        .typical("rows", 1, 16)
        .typical("width", 1, 64)
        .benchmark("rows=4096,width=4096")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), weight = call.input("weight");
            const auto y = call.output("y"), rstd = call.output("rstd");
            const std::int64_t width = x.size(1);
            for (std::int64_t r = 0; r < x.size(0); ++r) {
                T squares = 0.0;
                for (std::int64_t j = 0; j < width; ++j) squares += x(r, j) * x(r, j);
                rstd(r) = rsqrt(squares / static_cast<double>(width) + call.attribute("eps"));
                for (std::int64_t j = 0; j < width; ++j)
                    y(r, j) = call.rounds("xhat", x(r, j) * rstd(r)) * weight(j);
            }
        })
        .gradient("backward", {"dy", "x", "weight", "rstd"}, {"dx", "dweight"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
