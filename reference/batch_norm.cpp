// SPDX-License-Identifier: Apache-2.0
// The operator batch_norm in training mode, with saved and running statistics.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x"), gamma = call.input("gamma"), beta = call.input("beta");
    const auto y = call.output("y"), mean = call.output("mean"), rstd = call.output("rstd");
    const T momentum = call.attribute("momentum");
    const double count = static_cast<double>(x.size(0) * x.size(2));
    const auto for_each = [&](auto visit) {
        for (std::int64_t n = 0; n < x.size(0); ++n)
            for (std::int64_t p = 0; p < x.size(2); ++p) visit(n, p);
    };
    for (std::int64_t c = 0; c < x.size(1); ++c) {
        T sum = 0.0, squares = 0.0;
        for_each([&](auto n, auto p) { sum += x(n, c, p); });
        mean(c) = sum / count;
        for_each([&](auto n, auto p) {
            const T from_mean = x(n, c, p) - mean(c);
            squares += from_mean * from_mean;
        });
        rstd(c) = rsqrt(squares / count + call.attribute("eps"));
        for_each([&](auto n, auto p) {
            y(n, c, p) = (x(n, c, p) - mean(c)) * rstd(c) * gamma(c) + beta(c);
        });
        call.output("new_running_mean")(c) =
            (1.0 - momentum) * call.input("running_mean")(c) + momentum * mean(c);
        call.output("new_running_var")(c) = (1.0 - momentum) * call.input("running_var")(c) +
                                            momentum * squares / max(count - 1.0, 1.0);
    }
}

Operator describe() {
    return declare_operator("batch_norm")
        .parameter("n")
        .parameter("c")
        .parameter("pixels")
        .attribute("eps", {1e-5, 0.1})
        .attribute("momentum", {0.1, 0.0, 1.0})
        .separable_along("c")
        .input("x", {"n", "c", "pixels"})
        .input("gamma", {"c"})
        .input("beta", {"c"})
        .input("running_mean", {"c"}, constant())
        .input("running_var", {"c"}, constant(positive_numbers()))
        .output("y", {"n", "c", "pixels"})
        .saved("mean", {"c"})
        .saved("rstd", {"c"})
        .saved("new_running_mean", {"c"})
        .saved("new_running_var", {"c"})
        .typical("n", 1, 8)
        .typical("c", 1, 8)
        .typical("pixels", 1, 16)
        .benchmark("n=16,c=256,pixels=784")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dy", "x", "gamma", "mean", "rstd"}, {"dx", "dgamma", "dbeta"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
