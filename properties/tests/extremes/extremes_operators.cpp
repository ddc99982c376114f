// SPDX-License-Identifier: Apache-2.0
// Operators, for the tests, whose kernels go wrong on tiny numbers and on zeros with a sign: the
// norm of each row, and its largest number.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

OperatorDeclaration of_rows(const char* name) {
    return declare_operator(name)
        .parameter("rows")
        .parameter("width")
        .input("x", {"rows", "width"})
        .output("y", {"rows"});
}

Operator row_norm() {
    return of_rows("row_norm")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t r = 0; r < x.size(0); ++r) {
                T sum = 0.0;
                for (std::int64_t c = 0; c < x.size(1); ++c) sum += x(r, c) * x(r, c);
                call.output("y")(r) = sqrt(sum);
            }
        })
        .gradient("grad_x", {"dy", "x", "y"}, {"dx"});
}

Operator row_max() {
    return of_rows("row_max").piecewise_linear().branches_decide().forward(
        []<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t r = 0; r < x.size(0); ++r) {
                T most = x(r, 0);
                for (std::int64_t c = 1; c < x.size(1); ++c)
                    if (most < x(r, c)) most = x(r, c);
                call.output("y")(r) = most;
            }
        });
}

GRADVERIFY_OPERATOR(row_norm);
GRADVERIFY_OPERATOR(row_max);

}  // namespace
}  // namespace gradverify
