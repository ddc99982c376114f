// SPDX-License-Identifier: Apache-2.0
// The sum of two tensors.
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("residual")
        .parameter("rows")
        .parameter("width")
        .input("a", {"rows", "width"})
        .input("b", {"rows", "width"})
        .output("y", {"rows", "width"})
        .separable_along("rows")
        .sum_of_products({{"a"}, {"b"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto a = call.input("a"), b = call.input("b");
            const auto y = call.output("y");
            for (std::int64_t i = 0; i < y.elements(); ++i) y.flat(i) = a.flat(i) + b.flat(i);
        });
}
GRADVERIFY_OPERATOR(describe);
