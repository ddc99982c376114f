// SPDX-License-Identifier: Apache-2.0
// A sum of products with passes of second order and of the forward mode, for the tests.
#include "harness/second_order.hpp"

namespace gradverify {
namespace {

/// y[i] = the sum over j of x[i,j] w[j].
constexpr auto weighted_sum = []<class T>(const ForwardCall<T>& call) {
    const auto x = call.input("x"), w = call.input("w"), y = call.output("y");
    for (std::int64_t i = 0; i < x.size(0); ++i)
        for (std::int64_t j = 0; j < x.size(1); ++j) y(i) += x(i, j) * w(j);
};

Operator weighted() {
    return declare_operator("weighted")
        .parameter("rows")
        .parameter("width")
        .input("x", {"rows", "width"})
        .input("w", {"width"})
        .output("y", {"rows"})
        .sum_of_products({{"x", "w"}})
        .forward(weighted_sum);
}
Operator weighted_backward() {
    return declare_backward(weighted(), weighted_sum).gradient("grad_x", {"ddw", "dy"}, {"dx"});
}
Operator weighted_jvp() { return declare_jvp(weighted(), weighted_sum); }

GRADVERIFY_OPERATOR(weighted);
GRADVERIFY_OPERATOR(weighted_backward);
GRADVERIFY_OPERATOR(weighted_jvp);

}  // namespace
}  // namespace gradverify
