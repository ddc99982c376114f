// SPDX-License-Identifier: Apache-2.0
// The operator dropout_add_norm: the end of a transformer's layer. The gradient makes the mask
// again from the seed; both results have cotangents.
//
//   z = residual + keep x / (1 - p),  y = layer norm of z's rows
//   keep of element i is whether the uniform number is above p that curand makes of word i % 4 of
//   subsequence i / 4, at the offset
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

/// The factor of element i: 0 where it is dropped.
template <class T>
double factor(const ForwardCall<T>& call, std::int64_t i) {
    const auto words = call.philox(call.indices("seed")(), call.indices("offset")(), i / 4);
    const double p = call.problem().real("p");
    return call.uniform(words[static_cast<std::size_t>(i % 4)]) > p ? 1.0 / (1.0 - p) : 0.0;
}

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x"), residual = call.input("residual");
    const auto weight = call.input("weight"), bias = call.input("bias");
    const auto y = call.output("y"), z = call.output("z");
    const auto mean = call.output("mean"), rstd = call.output("rstd");
    const std::int64_t width = x.size(1);
    for (std::int64_t r = 0; r < x.size(0); ++r) {
        T sum = 0.0, squares = 0.0;
        for (std::int64_t j = 0; j < width; ++j)
            sum += z(r, j) = residual(r, j) + factor(call, r * width + j) * x(r, j);
        mean(r) = sum / static_cast<double>(width);
        for (std::int64_t j = 0; j < width; ++j)
            squares += (z(r, j) - mean(r)) * (z(r, j) - mean(r));
        rstd(r) = rsqrt(squares / static_cast<double>(width) + call.attribute("eps"));
        for (std::int64_t j = 0; j < width; ++j)
            y(r, j) = (z(r, j) - mean(r)) * rstd(r) * weight(j) + bias(j);
    }
}

template <class T>
void backward(const ForwardCall<T>& call) {
    const auto grad_y = call.input("dy"), z = call.input("z"), weight = call.input("weight");
    const auto mean = call.input("mean"), rstd = call.input("rstd");
    const auto dx = call.output("dx"), dresidual = call.output("dresidual");
    const std::int64_t width = z.size(1);
    for (std::int64_t r = 0; r < z.size(0); ++r) {
        const auto xhat = [&](std::int64_t j) { return (z(r, j) - mean(r)) * rstd(r); };
        T sum = 0.0, sum_xhat = 0.0;
        for (std::int64_t j = 0; j < width; ++j) {
            sum += grad_y(r, j) * weight(j);
            sum_xhat += grad_y(r, j) * weight(j) * xhat(j);
            call.output("dweight")(j) += grad_y(r, j) * xhat(j);
            call.output("dbias")(j) += grad_y(r, j);
        }
        for (std::int64_t j = 0; j < width; ++j) {
            const T mean_g = (sum + xhat(j) * sum_xhat) / static_cast<double>(width);
            dresidual(r, j) =
                call.input("dz")(r, j) + rstd(r) * (grad_y(r, j) * weight(j) - mean_g);
            dx(r, j) = factor(call, r * width + j) * dresidual(r, j);
        }
    }
}

Operator describe() {
    const Holds any_number = whole_numbers(0, (std::int64_t{1} << 53) - 1, DType::i64);
    return declare_operator("dropout_add_norm")
        .parameter("rows", {.minimum = 0})
        .parameter("width")
        .attribute("p", {0.5, 0.0, 0.125})
        .attribute("eps", {1e-5, 0.1})
        .input("x", {"rows", "width"})
        .input("residual", {"rows", "width"})
        .input("weight", {"width"})
        .input("bias", {"width"})
        .input("seed", {}, any_number)
        .input("offset", {}, any_number)
        .output("y", {"rows", "width"})
        .output("z", {"rows", "width"})
        .saved("mean", {"rows"})
        .saved("rstd", {"rows"})
        .typical("rows", 1, 16)
        .typical("width", 1, 64)
        .benchmark("rows=8192,width=4096")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dy", "dz", "z", "weight", "mean", "rstd", "seed", "offset"},
                  {"dx", "dresidual", "dweight", "dbias"},
                  []<class T>(const ForwardCall<T>& call) { backward(call); });
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
