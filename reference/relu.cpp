// SPDX-License-Identifier: Apache-2.0
// The operator relu. It is linear on each side of zero, so kernels are compared exactly. At zero
// the branch that the forward function takes is the definition.
#include <limits>

#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

Operator describe() {
    return declare_operator("relu")
        .parameter("n", {.minimum = 0, .maximum = std::int64_t{1} << 40})
        .separable_along("n")
        .input("x", {"n"})
        .defined_for_nan("x")
        .output("y", {"n"})
        .piecewise_linear()
        .branches_decide()
        .reduction_length([](const Problem&) { return std::int64_t{1}; })
        .typical("n", 1, 4096)
        .benchmark("n=67108864")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            constexpr double nan = std::numeric_limits<double>::quiet_NaN();
            for (std::int64_t i = 0; i < x.elements(); ++i)
                y(i) = x(i) > 0.0 ? x(i) : T(isnan(x(i)) ? nan : 0.0);
        })
        .gradient("grad_input", {"dy", "x"}, {"dx"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
