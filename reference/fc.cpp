// SPDX-License-Identifier: Apache-2.0
// The operator fc: linear in each input, so kernels are compared exactly.
#include <Eigen/Core>

#include "harness/numbers/matrix_product.hpp"
#include "harness/registry/registry.hpp"
#include "reference/filter_space.hpp"

namespace gradverify {
namespace {

std::int64_t rows_of(const Sizes& sizes) { return sizes.size() == 1 ? 1 : sizes.front(); }
/// An array of two axes, or of one as a matrix of one row.
template <class T>
Eigen::Map<const Matrix<T>> matrix(const Array<T>& array) {
    return {array.data.data(), rows_of(array.sizes), array.sizes.back()};
}
template <class T>
Eigen::Map<Matrix<T>> matrix(Array<T>& array) {
    return {array.data.data(), rows_of(array.sizes), array.sizes.back()};
}

template <class T>
void forward(const Problem&, Inputs<T> in, Outputs<T> out) {
    const auto x = matrix(in[0]), w = matrix(in[1]), b = matrix(in[2]);
    auto y = matrix(out[0]);
    y = product(x, w.transpose());
    for (Eigen::Index n = 0; n < y.rows(); ++n)
        for (Eigen::Index k = 0; k < y.cols(); ++k) y(n, k) += b(0, k);
}

template <class T>
void grad_input(const Problem&, Inputs<T> in, Outputs<T> out) {
    const auto dy = matrix(in[0]), w = matrix(in[1]);
    matrix(out[0]) = product(dy, w);
}

template <class T>
void grad_weight(const Problem&, Inputs<T> in, Outputs<T> out) {
    const auto dy = matrix(in[0]), x = matrix(in[1]);
    matrix(out[0]) = product(dy.transpose(), x);
}

template <class T>
void grad_bias(const Problem&, Inputs<T> in, Outputs<T> out) {
    const auto dy = matrix(in[0]);
    auto db = matrix(out[0]);
    for (Eigen::Index n = 0; n < dy.rows(); ++n)
        for (Eigen::Index k = 0; k < dy.cols(); ++k) db(0, k) += dy(n, k);
}

/// A tensor of the parameters' sizes.
TensorSpec tensor(std::string name, std::vector<std::string> parameters) {
    return {.name = std::move(name), .sizes = [parameters](const Problem& problem) {
                Sizes sizes;
                for (const std::string& one : parameters) sizes.push_back(problem.scalar(one));
                return sizes;
            }};
}

double products_in_all(const Problem& problem) {
    double products = 1.0;
    for (const char* parameter : {"n", "c", "k"})
        products *= static_cast<double>(problem.scalar(parameter));
    return products;
}

Operator describe() {
    const TensorSpec y = tensor("y", {"n", "k"});
    return {
        .name = "fc",
        .space = ParameterSpace(
            {{.name = "n", .minimum = 0, .carries_rank = true}, {.name = "c"}, {.name = "k"}}, 0,
            0),
        .constraints = {},
        .separable = {{.name = "n", .parameters = {"n"}},
                      {.name = "k", .parameters = {"k"}},
                      {.name = "c", .parameters = {"c"}}},
        .why_invalid = nullptr,
        .inputs = {tensor("x", {"n", "c"}), tensor("w", {"k", "c"}), tensor("b", {"k"})},
        .outputs = {y},
        .passes = product_passes(
            {.forward = {forward<double>, forward<Bounded>,
                         [](const Problem& problem) { return problem.scalar("c") + 1; }},
             .grad_input = {grad_input<double>, grad_input<Bounded>,
                            [](const Problem& problem) { return problem.scalar("k"); }},
             .grad_weight = {grad_weight<double>, grad_weight<Bounded>,
                             [](const Problem& problem) { return problem.scalar("n"); }},
             .grad_bias = {grad_bias<double>, grad_bias<Bounded>,
                           [](const Problem& problem) { return problem.scalar("n"); }},
             .products = products_in_all,
             .sizes_of_y = y.sizes}),
        .algebra = Algebra::products,
        .products = {{"x", "w"}, {"b"}},
        .typical = {on("n", between(1, 64)), on("c", between(1, 256)), on("k", between(1, 128))},
        .benchmark = "n=4096,c=4096,k=4096"};
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
