// SPDX-License-Identifier: Apache-2.0
// The selective scan of a state space model (mamba), real and in float, with B and C that vary.
#include "harness/declare_operator.hpp"
using namespace gradverify;
static Operator describe() {
    return declare_operator("selective_scan")
        .parameter("b")
        .parameter("d")
        .parameter("l")
        .parameter("n")
        .parameter("softplus", {.default_value = 0, .minimum = 0, .maximum = 1})
        .input("u", {"b", "d", "l"})
        .input("delta", {"b", "d", "l"}, numbers_between(0.0, 1.0))
        .input("A", {"d", "n"}, numbers_between(-2.0, 0.0))
        .input("B", {"b", 1, "n", "l"})
        .input("C", {"b", 1, "n", "l"})
        .input("D", {"d"})
        .input("delta_bias", {"d"}, numbers_between(0.0, 1.0))
        .output("y", {"b", "d", "l"})
        .typical("l", 1, 80)
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto u = call.input("u"), delta = call.input("delta"), A = call.input("A"),
                       B = call.input("B"), C = call.input("C"), D = call.input("D"),
                       bias = call.input("delta_bias");
            const auto y = call.output("y");
            for (std::int64_t b = 0; b < u.size(0); ++b)
                for (std::int64_t d = 0; d < u.size(1); ++d) {
                    for (std::int64_t l = 0; l < u.size(2); ++l) y(b, d, l) = D(d) * u(b, d, l);
                    for (std::int64_t n = 0; n < A.size(1); ++n) {
                        T state = 0.0;
                        for (std::int64_t l = 0; l < u.size(2); ++l) {
                            T step = delta(b, d, l) + bias(d);
                            if (call.parameter("softplus") == 1) step = log1p(exp(step));
                            state = exp(step * A(d, n)) * state + step * B(b, 0, n, l) * u(b, d, l);
                            y(b, d, l) += C(b, 0, n, l) * state;
                        }
                    }
                }
        })
        .gradient("backward", {"dy", "u", "delta", "A", "B", "C", "D", "delta_bias"},
                  {"du", "ddelta", "dA", "dB", "dC", "dD", "ddelta_bias"});
}
GRADVERIFY_OPERATOR(describe);
