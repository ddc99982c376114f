// SPDX-License-Identifier: Apache-2.0
// The operator segment_sum: the sums of the parts of a ragged batch, as offsets cut it.
//
//   y[p,j] = sum over rows offsets[p] <= t < offsets[p+1] of x[t,j]
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

Operator describe() {
    return declare_operator("segment_sum")
        .parameter("total", {.minimum = 0})
        .parameter("parts")
        .parameter("width")
        .separable_along("width")
        .input("x", {"total", "width"})
        .input("offsets", {one_more_than("parts")}, offsets_to("total"))
        .output("y", {"parts", "width"})
        .sum_of_products({{"x"}})
        .reduction_length([](const Problem& problem) { return problem.scalar("total"); })
        .typical("total", 1, 64)
        .typical("parts", 1, 8)
        .typical("width", 1, 16)
        .benchmark("total=65536,parts=512,width=256")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto offsets = call.indices("offsets");
            const auto x = call.input("x");
            const auto y = call.output("y");
            for (std::int64_t p = 0; p < y.size(0); ++p)
                for (std::int64_t t = offsets(p); t < offsets(p + 1); ++t)
                    for (std::int64_t j = 0; j < y.size(1); ++j) y(p, j) += x(t, j);
        })
        .gradient("grad_x", {"dy", "offsets"}, {"dx"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
