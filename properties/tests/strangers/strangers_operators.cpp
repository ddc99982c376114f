// SPDX-License-Identifier: Apache-2.0
// Operators whose gradient kernels take the output that forward saved, and one whose sums follow
// addresses, for the tests.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

/// What shines through a pile of slabs of depth x and colours c, whose image is saved: y[c, ray].
/// Where `stops`, no further than something is left.
template <bool stops>
Operator slabs_of(const char* name) {
    return declare_operator(name)
        .parameter("rays")
        .parameter("n")
        .parameter("colours")
        .input("x", {"rays", "n"}, numbers_between(0.0, 30.0))
        .input("c", {"rays", "n", "colours"}, constant(probabilities()))
        .output("y", {"colours", "rays"})
        .typical("rays", 1, 4)
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), c = call.input("c"), y = call.output("y");
            for (std::int64_t ray = 0; ray < x.size(0); ++ray) {
                T left = 1.0;
                for (std::int64_t i = 0; i < x.size(1); ++i) {
                    if (stops && left <= 0.0) break;
                    const T through = exp(-x(ray, i)), weight = left * (1.0 - through);
                    for (std::int64_t k = 0; k < y.size(0); ++k) y(k, ray) += weight * c(ray, i, k);
                    left = left * through;
                }
            }
        })
        .gradient("backward", {"dy", "x", "c", "y"}, {"dx"});
}

Operator slabs() { return slabs_of<false>("slabs"); }
Operator stopped_slabs() { return slabs_of<true>("stopped_slabs"); }

/// The opacity of fragments that each hide the probability sigmoid(x).
Operator blend() {
    return declare_operator("blend")
        .parameter("pixels")
        .parameter("n")
        .input("x", {"pixels", "n"})
        .output("y", {"pixels"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                T left = 1.0;
                for (std::int64_t j = 0; j < x.size(1); ++j) left = left * (1.0 - sigmoid(x(i, j)));
                call.output("y")(i) = 1.0 - left;
            }
        })
        .gradient("backward", {"dy", "x", "y"}, {"dx"});
}

/// The opacity of a whole row: y = 1 - exp(-sum of x).
Operator saturation() {
    return declare_operator("saturation")
        .parameter("rows")
        .parameter("n")
        .input("x", {"rows", "n"}, numbers_between(0.0, 8.0))
        .output("y", {"rows"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                T sum = 0.0;
                for (std::int64_t j = 0; j < x.size(1); ++j) sum += x(i, j);
                call.output("y")(i) = 1.0 - exp(-sum);
            }
        })
        .gradient("backward", {"dy", "y"}, {"dx"});
}

/// tanh, whose gradient is written by hand from y.
Operator saved_tanh() {
    return declare_operator("saved_tanh")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.parameter("n"); ++i)
                call.output("y")(i) = tanh(call.input("x")(i));
        })
        .gradient("backward", {"dy", "x", "y"}, {"dx"}, []<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.parameter("n"); ++i) {
                const T y = call.input("y")(i);
                call.output("dx")(i) = call.input("dy")(i) * (1.0 - y * y);
            }
        });
}

/// Sums of exp(x / 1000) over rows.
Operator row_sums() {
    return declare_operator("row_sums")
        .parameter("rows")
        .parameter("n")
        .input("x", {"rows", "n"})
        .output("y", {"rows"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i)
                for (std::int64_t j = 0; j < x.size(1); ++j)
                    call.output("y")(i) += exp(x(i, j) * 0.001);
        });
}

GRADVERIFY_OPERATOR(slabs);
GRADVERIFY_OPERATOR(stopped_slabs);
GRADVERIFY_OPERATOR(blend);
GRADVERIFY_OPERATOR(saturation);
GRADVERIFY_OPERATOR(saved_tanh);
GRADVERIFY_OPERATOR(row_sums);

}  // namespace
}  // namespace gradverify
