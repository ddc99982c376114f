// SPDX-License-Identifier: Apache-2.0
// A fully connected layer, with all gradients in one pass, and that of the bias in another.
#include "harness/declare_operator.hpp"

using namespace gradverify;

template <class T>
static void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x"), w = call.input("w"), b = call.input("b");
    const auto y = call.output("y");
    for (std::int64_t n = 0; n < y.size(0); ++n)
        for (std::int64_t k = 0; k < y.size(1); ++k) {
            y(n, k) = b(k);
            for (std::int64_t c = 0; c < x.size(1); ++c) y(n, k) += x(n, c) * w(k, c);
        }
}
static double products(const Problem& problem) {
    return static_cast<double>(problem.scalar("n")) * static_cast<double>(problem.scalar("c")) *
           static_cast<double>(problem.scalar("k"));
}

static Operator describe() {
    return declare_operator("linear")
        .parameter("n")
        .parameter("c")
        .parameter("k")
        .input("x", {"n", "c"})
        .input("w", {"k", "c"})
        .input("b", {"k"})
        .output("y", {"n", "k"})
        .sum_of_products({{"x", "w"}, {"b"}})
        .separable_along("n")
        .typical("n", 1, 300)
        .typical("c", 1, 70)
        .typical("k", 1, 300)
        .work(products)
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dy", "x", "w"}, {"dx", "dw", "db"})
        .gradient("bias", {"dy"}, {"db"});
}
GRADVERIFY_OPERATOR(describe);
