// SPDX-License-Identifier: Apache-2.0
// Operators, for the tests, whose kernels go wrong on tiny numbers and on zeros with a sign: the
// norm of each row, and its largest number. Functions by formulas that lose all digits where
// numbers of about 1 cancel, so that nothing bounds them from there on. And functions whose
// formulas square and multiply nothing huge.
#include "harness/declare_operator.hpp"
#include "harness/testing/small_declarations.hpp"
#include "properties/tests/small_operators.hpp"

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

/// y = f(x) for x between 0 and a largest number.
template <class Function>
OperatorDeclaration up_to(double most, const char* name, Function function) {
    return declare_operator(name)
        .parameter("n")
        .input("x", {"n"}, numbers_between(0.0, most))
        .output("y", {"n"})
        .forward(testing::by_element(
            [=](const auto& in, const auto& out) { out("y") = function(in("x")); }));
}

/// What 1 lacks to a sigmoid.
const auto rest = []<class T>(const T& x) { return 1.0 - 1.0 / (1.0 + exp(-x)); };

Operator root_of_rest() {
    return up_to(30.0, "root_of_rest", []<class T>(const T& x) { return pow(rest(x), T(0.5)); });
}
Operator log_of_rest() {
    return up_to(30.0, "log_of_rest", [](const auto& x) { return log(rest(x)); });
}
Operator inverse_of_rest() {
    return up_to(12.0, "inverse_of_rest",
                 [](const auto& x) { return x / (1.0 - tanh(x) * tanh(x)); });
}
Operator there_and_back() {
    return up_to(12.0, "there_and_back",
                 [](const auto& x) { return 0.5 * log((1.0 + tanh(x)) / (1.0 - tanh(x))); });
}
Operator rest_times_exp() {
    return up_to(14.0, "rest_times_exp", [](const auto& x) { return rest(x) * exp(x); });
}
Operator soft() {
    return testing::elementwise([](const auto& x) { return softplus(x); }, "soft");
}

Operator scaled_norm() {
    return declare_operator("scaled_norm")
        .parameter("rows")
        .parameter("width")
        .input("x", {"rows", "width"}, positive_numbers())
        .output("y", {"rows"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t r = 0; r < x.size(0); ++r) {
                T most = x(r, 0), sum = 0.0;
                for (std::int64_t c = 1; c < x.size(1); ++c) most = max(most, x(r, c));
                for (std::int64_t c = 0; c < x.size(1); ++c)
                    sum += (x(r, c) / most) * (x(r, c) / most);
                call.output("y")(r) = most * sqrt(sum);
            }
        });
}

/// y = f(x, w) for positive numbers.
template <class Function>
OperatorDeclaration of_positive(const char* name, Function function) {
    return testing::of_two(name, "x", "w", function, positive_numbers(), positive_numbers());
}

Operator geometric_mean() {
    return of_positive("geometric_mean",
                       [](const auto& x, const auto& w) { return sqrt(x) * sqrt(w); });
}
Operator log_of_product() {
    return of_positive("log_of_product",
                       [](const auto& x, const auto& w) { return log(x) + log(w); });
}
Operator share_of_square() {
    return of_positive("share_of_square", [](const auto& x, const auto& w) {
        return w / (1.0 + (1.0 / x) * (1.0 / x));
    });
}

GRADVERIFY_OPERATOR(scaled_norm);
GRADVERIFY_OPERATOR(geometric_mean);
GRADVERIFY_OPERATOR(log_of_product);
GRADVERIFY_OPERATOR(share_of_square);
GRADVERIFY_OPERATOR(root_of_rest);
GRADVERIFY_OPERATOR(log_of_rest);
GRADVERIFY_OPERATOR(inverse_of_rest);
GRADVERIFY_OPERATOR(there_and_back);
GRADVERIFY_OPERATOR(rest_times_exp);
GRADVERIFY_OPERATOR(soft);
GRADVERIFY_OPERATOR(row_norm);
GRADVERIFY_OPERATOR(row_max);

}  // namespace
}  // namespace gradverify
