// SPDX-License-Identifier: Apache-2.0
// The operator selective_scan: a state space model whose steps, B and C vary, as Mamba's, real.
//
//   s[t] = exp(step[t] A) s[t-1] + step[t] B[t] u[t],
//   y[t] = (D u[t] + sum over states of C[t] s[t]) gate[t],
//   step = delta + delta_bias, or softplus of it;  gate = 1, or z sigmoid(z)
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto u = call.input("u"), delta = call.input("delta"), A = call.input("A"),
               B = call.input("B"), C = call.input("C"), D = call.input("D"), z = call.input("z");
    const bool is_gated = call.parameter("gated") == 1;
    for (std::int64_t b = 0; b < u.size(0); ++b)
        for (std::int64_t d = 0; d < u.size(1); ++d) {
            std::vector<T> states(static_cast<std::size_t>(A.size(1)), T(0.0));
            for (std::int64_t l = 0; l < u.size(2); ++l) {
                T step = delta(b, d, l) + call.input("delta_bias")(d), sum = D(d) * u(b, d, l);
                if (call.parameter("delta_softplus") == 1) step = log1p(exp(step));
                for (std::int64_t n = 0; n < A.size(1); ++n) {
                    T& state = states[static_cast<std::size_t>(n)];
                    state = exp(step * A(d, n)) * state + step * B(b, 0, n, l) * u(b, d, l);
                    sum += C(b, 0, n, l) * state;
                }
                call.output("y")(b, d, l) = is_gated ? sum * z(b, d, l) * sigmoid(z(b, d, l)) : sum;
            }
        }
}

Operator describe() {
    return declare_operator("selective_scan")
        .parameter("b", {.minimum = 0})
        .parameter("d")
        .parameter("l")
        .parameter("n")
        .parameter("delta_softplus", {.default_value = 0, .minimum = 0, .maximum = 1})
        .parameter("gated", {.default_value = 0, .minimum = 0, .maximum = 1})
        .separable_along("b")
        .separable_along("d")
        .input("u", {"b", "d", "l"})
        .input("delta", {"b", "d", "l"}, numbers_between(0.0, 1.0))
        .input("A", {"d", "n"}, numbers_between(-2.0, 0.0))
        .input("B", {"b", 1, "n", "l"})
        .input("C", {"b", 1, "n", "l"})
        .input("D", {"d"})
        .input("z", {"b", "d", "l"})
        .input("delta_bias", {"d"}, numbers_between(0.0, 1.0))
        .output("y", {"b", "d", "l"})
        .typical("l", 1, 300)
        .benchmark("b=4,d=2048,l=2048,n=16,delta_softplus=1,gated=1")
        .work([](const Problem& p) {
            return 16.0 * static_cast<double>(element_count(
                              {p.scalar("b"), p.scalar("d"), p.scalar("l"), p.scalar("n")}));
        })
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dy", "u", "delta", "A", "B", "C", "D", "z", "delta_bias"},
                  {"du", "ddelta", "dA", "dB", "dC", "dD", "dz", "ddelta_bias"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
