// SPDX-License-Identifier: Apache-2.0
// The operator bias_gelu, derived from its forward function.
#include <numbers>

#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

Operator describe() {
    return declare_operator("bias_gelu")
        .parameter("rows", {.minimum = 0})
        .parameter("width")
        .separable_along("rows")
        .separable_along("width")
        .input("x", {"rows", "width"})
        .input("bias", {"width"})
        .output("y", {"rows", "width"})
        .typical("rows", 1, 16)
        .typical("width", 1, 64)
        .benchmark("rows=1024,width=4096")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), bias = call.input("bias");
            const auto y = call.output("y");
            for (std::int64_t r = 0; r < x.size(0); ++r)
                for (std::int64_t j = 0; j < x.size(1); ++j) {
                    const T z = x(r, j) + bias(j);
                    y(r, j) = 0.5 * z * (1.0 + erf(z / std::numbers::sqrt2));
                }
        });
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
