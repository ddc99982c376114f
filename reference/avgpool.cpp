// SPDX-License-Identifier: Apache-2.0
// The operator avgpool. It is linear, and exact on integers where every divisor is a power of two.
// The gradient is derived.
#include <algorithm>

#include "harness/declare_operator.hpp"
#include "reference/window_factors.hpp"

namespace gradverify {
namespace {

/// One spatial axis of a problem. Windows and divisors are those of PyTorch's avg_pool2d
/// (aten/src/ATen/native/Pool.h).
struct Axis {
    std::int64_t in, window, stride, padding;
    bool rounds_up, includes_padding;

    Axis(const Problem& problem, int axis)
        : in(problem.on_axis("in", axis)),
          window(problem.on_axis("window", axis)),
          stride(problem.on_axis("stride", axis)),
          padding(problem.on_axis("padding", axis)),
          rounds_up(problem.scalar("ceil") != 0),
          includes_padding(problem.scalar("include_pad") != 0) {}

    std::int64_t windows() const {
        const std::int64_t room = in + 2 * padding - window;
        // How many strides fit into the room, which is less than a whole one where it is negative.
        std::int64_t strides = room / stride;
        if (room % stride > 0 && rounds_up) ++strides;
        if (room % stride < 0 && !rounds_up) --strides;
        if (rounds_up && strides * stride >= in + padding) --strides;
        return std::max<std::int64_t>(strides + 1, 0);
    }
    /// The pixels of a window that lie inside the image.
    std::int64_t first(std::int64_t output) const {
        return std::max<std::int64_t>(output * stride - padding, 0);
    }
    std::int64_t end(std::int64_t output) const {
        return std::min(output * stride - padding + window, in);
    }
    /// This axis's factor of the divisor.
    std::int64_t counted(std::int64_t output) const {
        if (!includes_padding) return end(output) - first(output);
        const std::int64_t begin = output * stride - padding;
        return std::min(begin + window, in + padding) - begin;
    }
};

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x");
    const auto y = call.output("y");
    const Axis h(call.problem(), 0), w(call.problem(), 1);
    for (std::int64_t n = 0; n < y.size(0); ++n)
        for (std::int64_t c = 0; c < y.size(1); ++c)
            for (std::int64_t oh = 0; oh < y.size(2); ++oh)
                for (std::int64_t ow = 0; ow < y.size(3); ++ow) {
                    T sum = 0.0;
                    for (std::int64_t ph = h.first(oh); ph < h.end(oh); ++ph)
                        for (std::int64_t pw = w.first(ow); pw < w.end(ow); ++pw)
                            sum += x(n, c, ph, pw);
                    y(n, c, oh, ow) = sum / static_cast<double>(h.counted(oh) * w.counted(ow));
                }
}

Sizes output_sizes(const Problem& problem) {
    return {problem.scalar("n"), problem.scalar("c"), Axis(problem, 0).windows(),
            Axis(problem, 1).windows()};
}

std::vector<FactorSpec> factors() {
    std::vector<FactorSpec> factors = window_factors("window", "padding");
    factors.push_back(rest_factor("window", {"padding"}, [](std::span<const std::int64_t> v) {
        return detail::rest_level(v[0] + 2 * v[3], v[1], v[2]);
    }));
    return factors;
}

bool is_padded_by_half(const Problem& problem) {
    const Axis h(problem, 0), w(problem, 1);
    return 2 * h.padding <= h.window && 2 * w.padding <= w.window;
}

/// With larger windows the terms of a gradient, each divided, would need more bits than there are.
constexpr std::int64_t most_exact = 2048;

bool divides_exactly(const Problem& problem) {
    const Axis h(problem, 0), w(problem, 1);
    if (h.window > most_exact / w.window) return false;
    const auto is_power_of_two = [](std::int64_t count) { return (count & (count - 1)) == 0; };
    for (const Axis& axis : {h, w})
        for (std::int64_t output = 0; output < axis.windows(); ++output)
            if (!is_power_of_two(axis.counted(output))) return false;
    return true;
}

/// A gradient has as many terms as windows have a pixel, and they count in units of the smallest.
std::int64_t reduction_length(const Problem& problem) {
    const Axis h(problem, 0), w(problem, 1);
    const double area = static_cast<double>(h.window) * static_cast<double>(w.window);
    return static_cast<std::int64_t>(std::min(area * area, 0x1p+60));
}

/// An addition on the scalar that records costs about as much as eight multiply-adds.
double work(const Problem& problem) {
    double outputs = 1.0;
    for (const std::int64_t size : output_sizes(problem)) outputs *= static_cast<double>(size);
    double pixels = 1.0, taps = 1.0;
    for (const char* parameter : {"n", "c"})
        pixels *= static_cast<double>(problem.scalar(parameter));
    for (const int axis : {0, 1}) {
        const Axis on(problem, axis);
        pixels *= static_cast<double>(on.in);
        taps *= static_cast<double>(std::min(on.window, on.in));
    }
    return 32.0 * pixels + outputs * (32.0 + 8.0 * taps);
}

Operator describe() {
    const auto per_axis = [](const char* name) {
        return ParameterSpec{.name = name, .kind = ParameterKind::per_axis};
    };
    ParameterSpec in = per_axis("in"), padding = per_axis("padding");
    in.carries_rank = true;
    padding.default_value = padding.minimum = 0;
    padding.is_padding = true;
    const auto image = [](const Problem& problem) {
        return Sizes{problem.scalar("n"), problem.scalar("c"), problem.on_axis("in", 0),
                     problem.on_axis("in", 1)};
    };
    const ParameterRange no_or_yes{.default_value = 0, .minimum = 0, .maximum = 1};
    return declare_operator("avgpool")
        .parameter("n", {.minimum = 0})
        .parameter("c")
        .parameter(in)
        .parameter(per_axis("window"))
        .parameter(per_axis("stride"))
        .parameter(padding)
        .parameter("include_pad", no_or_yes)
        .parameter("ceil", no_or_yes)
        .spatial_axes(2, 2)
        .valid_if("a padding of at most half of the window", is_padded_by_half)
        .factors(factors())
        .separable_along("n")
        .separable_along("c")
        .input("x", image)
        .output("y", output_sizes)
        .sum_of_products({{"x"}})
        .exact_if("every divisor is a power of two, of at most 2048 pixels", divides_exactly)
        .reduction_length(reduction_length)
        .work(work)
        .typical("n", 1, 4)
        .typical("c", 1, 8)
        .typical("in", 1, 32)
        .typical("window", 1, 3)
        .typical("stride", 1, 3)
        .benchmark("n=64,c=64,in=112x112,window=2,stride=2")
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("grad_input", {"dy"}, {"dx"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
