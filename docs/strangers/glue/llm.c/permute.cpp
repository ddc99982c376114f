// SPDX-License-Identifier: Apache-2.0
// The axes of a tensor of four in another order.
#include "harness/declare_operator.hpp"

using namespace gradverify;

static Operator describe() {
    return declare_operator("permute")
        .parameter("d1")
        .parameter("d2")
        .parameter("d3")
        .parameter("d4")
        .input("x", {"d1", "d2", "d3", "d4"})
        .output("y", {"d4", "d3", "d1", "d2"})
        .sum_of_products({{"x"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            for (std::int64_t a = 0; a < x.size(0); ++a)
                for (std::int64_t b = 0; b < x.size(1); ++b)
                    for (std::int64_t c = 0; c < x.size(2); ++c)
                        for (std::int64_t d = 0; d < x.size(3); ++d) y(d, c, a, b) = x(a, b, c, d);
        });
}
GRADVERIFY_OPERATOR(describe);
