// SPDX-License-Identifier: Apache-2.0
// The operator rope: pairs of elements at the head of each row are turned, by angles whose cosines
// and sines a table holds for every position.
//
//   (y[a], y[b]) = (x[a] cos - x[b] sin, x[a] sin + x[b] cos)  for each pair i, at position p
//   interleaved: (a, b) = (2i, 2i + 1); else (i, i + pairs). The others stay as they are.
#include "harness/declare_operator.hpp"

namespace gradverify {
namespace {

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto y = call.output("y");
    const auto x = call.input("x"), cosines = call.input("cos"), sines = call.input("sin");
    const std::int64_t pairs = cosines.size(1);
    const bool is_interleaved = call.parameter("interleaved") == 1;
    for (std::int64_t b = 0; b < x.size(0); ++b)
        for (std::int64_t s = 0; s < x.size(1); ++s)
            for (std::int64_t h = 0; h < x.size(2); ++h) {
                for (std::int64_t i = 0; i < pairs; ++i) {
                    const std::int64_t first = is_interleaved ? 2 * i : i;
                    const std::int64_t second = is_interleaved ? 2 * i + 1 : i + pairs;
                    const std::int64_t p = s + call.parameter("offset");
                    const T one = x(b, s, h, first), other = x(b, s, h, second);
                    y(b, s, h, first) = one * cosines(p, i) - other * sines(p, i);
                    y(b, s, h, second) = one * sines(p, i) + other * cosines(p, i);
                }
                for (std::int64_t d = 2 * pairs; d < x.size(3); ++d) y(b, s, h, d) = x(b, s, h, d);
            }
}

Operator describe() {
    const Shape table([](const Problem& p) {
        return Sizes{p.scalar("offset") + p.scalar("length"), p.scalar("pairs")};
    });
    return declare_operator("rope")
        .parameter("batch", {.minimum = 0})
        .parameter("length")
        .parameter("heads")
        .parameter("dim", {.default_value = 2})
        .parameter("pairs", {.minimum = 0})
        .parameter("offset", {.default_value = 0, .minimum = 0})
        .parameter("interleaved", {.default_value = 0, .minimum = 0, .maximum = 1})
        .valid_if("pairs <= dim / 2",
                  [](const Problem& p) { return 2 * p.scalar("pairs") <= p.scalar("dim"); })
        .separable_along("batch")
        .separable_along("heads")
        .input("x", {"batch", "length", "heads", "dim"})
        .input("cos", table, constant(numbers_between(-2.0, 2.0)))
        .input("sin", table, constant(numbers_between(-2.0, 2.0)))
        .output("y", {"batch", "length", "heads", "dim"})
        .sum_of_products({{"x", "cos"}, {"x", "sin"}, {"x"}})
        .reduction_length([](const Problem&) { return 2; })
        .typical("batch", 1, 4)
        .typical("length", 1, 32)
        .typical("heads", 1, 4)
        .typical("dim", 2, 64)
        .typical("pairs", 1, 32)
        .typical("offset", 0, 16)
        .benchmark("batch=4,length=4096,heads=32,dim=128,pairs=64")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("grad_x", {"dy", "cos", "sin"}, {"dx"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
