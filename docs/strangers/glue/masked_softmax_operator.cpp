// SPDX-License-Identifier: Apache-2.0
// The softmax of scaled rows, where the mask is 0; a row that is masked as a whole gives zeros.
#include "harness/declare_operator.hpp"

using namespace gradverify;

template <class Row>
static void for_each_row(const Row& row, const auto& of) {
    for (std::int64_t b = 0; b < of.size(0); ++b)
        for (std::int64_t h = 0; h < of.size(1); ++h)
            for (std::int64_t q = 0; q < of.size(2); ++q) row(b, h, q);
}

template <class T>
static void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const auto mask = call.indices("mask");
    const T scale = call.attribute("scale");
    for_each_row(
        [&](std::int64_t b, std::int64_t h, std::int64_t q) {
            T largest = -10000.0, sum = 0.0;
            for (std::int64_t k = 0; k < x.size(3); ++k)
                if (mask(b, 0, q, k) == 0) largest = max(largest, scale * x(b, h, q, k));
            for (std::int64_t k = 0; k < x.size(3); ++k)
                if (mask(b, 0, q, k) == 0) sum += exp(scale * x(b, h, q, k) - largest);
            for (std::int64_t k = 0; k < x.size(3); ++k)
                if (mask(b, 0, q, k) == 0)
                    y(b, h, q, k) = exp(scale * x(b, h, q, k) - largest) / sum;
        },
        x);
}

/// From y alone, as the kernels have it: what y was rounded to is then no error of theirs.
template <class T>
static void backward(const ForwardCall<T>& call) {
    const auto y = call.input("y"), dy = call.input("dy");
    const auto dx = call.output("dx");
    for_each_row(
        [&](std::int64_t b, std::int64_t h, std::int64_t q) {
            T sum = 0.0;
            for (std::int64_t k = 0; k < y.size(3); ++k) sum += dy(b, h, q, k) * y(b, h, q, k);
            for (std::int64_t k = 0; k < y.size(3); ++k)
                dx(b, h, q, k) =
                    T(call.attribute("scale")) * (y(b, h, q, k) * (dy(b, h, q, k) - sum));
        },
        y);
}

static Operator describe() {
    return declare_operator("masked_softmax")
        .parameter("b")
        .parameter("h")
        .parameter("q", {.default_value = 8, .minimum = 2})
        .parameter("k", {.default_value = 20, .minimum = 1})
        .attribute("scale", {1.0, 0.5})
        .input("x", {"b", "h", "q", "k"}, numbers_between(-6.0, 6.0))
        .input("mask", {"b", 1, "q", "k"}, whole_numbers(0, 1))
        .output("y", {"b", "h", "q", "k"})
        .typical("k", 1, 80)
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("backward", {"dy", "y"}, {"dx"},
                  []<class T>(const ForwardCall<T>& call) { backward(call); });
}
GRADVERIFY_OPERATOR(describe);
