// SPDX-License-Identifier: Apache-2.0
// Operators that go through a long row step by step, for the tests: a sum that decays, a product,
// and a log-sum-exp, each of all elements up to its own.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

OperatorDeclaration along_rows(const char* name) {
    return declare_operator(name).parameter("rows").parameter("length").separable_along("rows");
}

/// y[t] = a[t] y[t-1] + x[t]
Operator decayed_sum() {
    return along_rows("decayed_sum")
        .input("a", {"rows", "length"}, probabilities())
        .input("x", {"rows", "length"})
        .output("y", {"rows", "length"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto a = call.input("a"), x = call.input("x");
            for (std::int64_t row = 0; row < x.size(0); ++row) {
                T state = 0.0;
                for (std::int64_t t = 0; t < x.size(1); ++t)
                    call.output("y")(row, t) = state = a(row, t) * state + x(row, t);
            }
        });
}

/// y[t] = x[0] ... x[t]
Operator running_product() {
    return along_rows("running_product")
        .input("x", {"rows", "length"}, numbers_between(0.875, 1.125))
        .output("y", {"rows", "length"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t row = 0; row < x.size(0); ++row) {
                T product = 1.0;
                for (std::int64_t t = 0; t < x.size(1); ++t)
                    call.output("y")(row, t) = product = product * x(row, t);
            }
        });
}

/// y[t] = log(exp(x[0]) + ... + exp(x[t]))
Operator running_log_sum_exp() {
    return along_rows("running_log_sum_exp")
        .input("x", {"rows", "length"})
        .output("y", {"rows", "length"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t row = 0; row < x.size(0); ++row) {
                double largest = -INFINITY;
                T sum = 0.0;
                for (std::int64_t t = 0; t < x.size(1); ++t) {
                    const double before = largest;
                    largest = std::max(before, detached(x(row, t)));
                    sum = sum * std::exp(before - largest) + exp(x(row, t) - largest);
                    call.output("y")(row, t) = log(sum) + largest;
                }
            }
        });
}

GRADVERIFY_OPERATOR(decayed_sum);
GRADVERIFY_OPERATOR(running_product);
GRADVERIFY_OPERATOR(running_log_sum_exp);

}  // namespace
}  // namespace gradverify
