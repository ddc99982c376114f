// SPDX-License-Identifier: Apache-2.0
// The operator embedding. It is linear in the table, so kernels are compared exactly.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

double elements_moved(const Problem& problem) {
    return static_cast<double>(problem.scalar("tokens") + problem.scalar("rows")) *
           static_cast<double>(problem.scalar("width"));
}

Operator describe() {
    return declare_operator("embedding")
        .parameter("tokens", {.minimum = 0})
        .parameter("rows")
        .parameter("width")
        .parameter("padding", {.default_value = 0, .minimum = 0})
        .separable_along("tokens")
        .separable_along("width")
        .input("index", {"tokens"}, indices_below("rows"))
        .input("weight", {"rows", "width"})
        .output("y", {"tokens", "width"})
        .sum_of_products({{"weight"}})
        .reduction_length([](const Problem& problem) { return problem.scalar("tokens"); })
        .work(elements_moved)
        .typical("tokens", 1, 64)
        .typical("rows", 1, 16)
        .typical("width", 1, 16)
        .benchmark("tokens=16384,rows=50257,width=768")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto index = call.indices("index");
            const auto weight = call.input("weight");
            const auto y = call.output("y");
            for (std::int64_t t = 0; t < y.size(0); ++t)
                for (std::int64_t j = 0; j < y.size(1); ++j)
                    if (index(t) != call.parameter("padding")) y(t, j) = weight(index(t), j);
        })
        .gradient("grad_weight", {"dy", "index"}, {"dweight"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
