// SPDX-License-Identifier: Apache-2.0
// Operators with the contracts that fused kernels have: a loss whose gradient takes no cotangent,
// two outputs of which the gradient takes the cotangent of one, a function with jumps, and an
// output that is added to beside one that is written over.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

Operator fused_loss() {
    return declare_operator("fused_loss")
        .parameter("n")
        .input("x", {"n"})
        .output("loss", {})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i)
                call.output("loss")() += 0.5 * x(i) * x(i) + sin(x(i));
        })
        .gradient("backward", {"x"}, {"dx"});
}

Operator with_scale() {
    return declare_operator("with_scale")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .output("scale", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                call.output("y")(i) = sin(x(i));
                call.output("scale")(i) = x(i) * x(i);
            }
        })
        .gradient("backward", {"dy", "x"}, {"dx"});
}

Operator shifted() {
    return declare_operator("shifted")
        .parameter("n")
        .input("x", {"n"})
        .input("b", {})
        .output("y", {"n"})
        .sum_of_products({{"x"}, {"b"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.input("x").size(0); ++i)
                call.output("y")(i) = 2.0 * call.input("x")(i) + call.input("b")();
        });
}

/// The part of x behind the point.
Operator fraction() {
    return declare_operator("fraction")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) call.output("y")(i) = x(i) - floor(x(i));
        })
        .gradient("grad_x", {"dy"}, {"dx"});
}

/// y = x w for each row, with one w.
Operator shared_factor() {
    return declare_operator("shared_factor")
        .parameter("n")
        .input("x", {"n"})
        .input("w", {})
        .output("y", {"n"})
        .sum_of_products({{"x", "w"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.input("x").size(0); ++i)
                call.output("y")(i) = call.input("x")(i) * call.input("w")();
        })
        .gradient("backward", {"dy", "x", "w"}, {"dx", "dw"});
}

/// y[i] = x[place[i]] + b, b alone where there is no such place.
Operator picked() {
    return declare_operator("picked")
        .parameter("n")
        .parameter("w")
        .input("x", {"w"})
        .input("b", {})
        .input("place", {"n"}, whole_numbers(-2, 60))
        .output("y", {"n"})
        .sum_of_products({{"x"}, {"b"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            const auto place = call.indices("place");
            for (std::int64_t i = 0; i < y.size(0); ++i) {
                y(i) = call.input("b")();
                if (place(i) >= 0 && place(i) < x.size(0)) y(i) += x(place(i));
            }
        });
}

GRADVERIFY_OPERATOR(picked);
GRADVERIFY_OPERATOR(shifted);
GRADVERIFY_OPERATOR(shared_factor);
GRADVERIFY_OPERATOR(fraction);
GRADVERIFY_OPERATOR(fused_loss);
GRADVERIFY_OPERATOR(with_scale);

}  // namespace
}  // namespace gradverify
