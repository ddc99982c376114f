// SPDX-License-Identifier: Apache-2.0
// The softmax of each row: of all of it, and, scaled, of what a causal mask leaves.
#include <cmath>

#include "harness/declare_operator.hpp"

using namespace gradverify;

/// Of the first `seen` elements of a row, times a factor; the others give zero.
template <class T>
static void softmax(const auto& x, const auto& y, std::int64_t at, std::int64_t seen, double by) {
    T largest = x.flat(at), sum = 0.0;
    for (std::int64_t j = 1; j < seen; ++j) largest = max(largest, x.flat(at + j));
    for (std::int64_t j = 0; j < seen; ++j) sum += exp(by * (x.flat(at + j) - largest));
    for (std::int64_t j = 0; j < seen; ++j)
        y.flat(at + j) = exp(by * (x.flat(at + j) - largest)) / sum;
}

static Operator of_rows() {
    return declare_operator("softmax")
        .parameter("rows")
        .parameter("c")
        .input("x", {"rows", "c"}, numbers_between(-20.0, 20.0))
        .output("y", {"rows", "c"})
        .separable_along("rows")
        .typical("rows", 1, 16)
        .typical("c", 1, 300)
        .branches_decide()
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i)
                softmax<T>(x, call.output("y"), i * x.size(1), x.size(1), 1.0);
        });
}
GRADVERIFY_OPERATOR(of_rows);

/// From the weights and their gradient.
template <class T>
static void causal_backward(const ForwardCall<T>& call) {
    const auto y = call.input("y"), dy = call.input("dy");
    const auto dx = call.output("dx");
    const double by = 1.0 / std::sqrt(static_cast<double>(call.parameter("width")));
    for (std::int64_t h = 0; h < y.size(0); ++h)
        for (std::int64_t t = 0; t < y.size(1); ++t) {
            T sum = 0.0;
            for (std::int64_t j = 0; j <= t; ++j) sum += y(h, t, j) * dy(h, t, j);
            for (std::int64_t j = 0; j <= t; ++j)
                dx(h, t, j) = by * (y(h, t, j) * (dy(h, t, j) - sum));
        }
}

static Operator causal() {
    return declare_operator("causal_softmax")
        .parameter("heads")
        .parameter("time")
        .parameter("width")
        .input("x", {"heads", "time", "time"}, numbers_between(-20.0, 20.0))
        .output("y", {"heads", "time", "time"})
        .typical("heads", 1, 8)
        .typical("time", 1, 80)
        .typical("width", 1, 64)
        .branches_decide()
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const double by = 1.0 / std::sqrt(static_cast<double>(call.parameter("width")));
            for (std::int64_t h = 0; h < x.size(0); ++h)
                for (std::int64_t t = 0; t < x.size(1); ++t)
                    softmax<T>(x, call.output("y"), (h * x.size(1) + t) * x.size(1), t + 1, by);
        })
        .gradient("backward", {"dy", "y"}, {"dx"},
                  []<class T>(const ForwardCall<T>& call) { causal_backward(call); });
}
GRADVERIFY_OPERATOR(causal);
