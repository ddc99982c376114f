// SPDX-License-Identifier: Apache-2.0
// The operator avgpool: linear, and exact on integers where every divisor is a power of two.
#include <algorithm>

#include "reference/pool_operator.hpp"
#include "reference/window_factors.hpp"

namespace gradverify {
namespace {

/// One spatial axis, with the windows and divisors of PyTorch (aten/src/ATen/native/Pool.h).
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
        // The division rounds towards zero, and the room may be negative.
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

bool is_padded_by_half(const Problem& problem) {
    const Axis h(problem, 0), w(problem, 1);
    return 2 * h.padding <= h.window && 2 * w.padding <= w.window;
}

/// Larger windows divide the terms of a gradient into more bits than there are.
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

/// A gradient has up to `area` terms, counted in units of the smallest.
std::int64_t reduction_length(const Problem& problem) {
    const Axis h(problem, 0), w(problem, 1);
    const double area = static_cast<double>(h.window) * static_cast<double>(w.window);
    return static_cast<std::int64_t>(std::min(area * area, 0x1p+60));
}

double work(const Problem& problem) {
    double taps = 1.0;
    for (const Axis& axis : {Axis(problem, 0), Axis(problem, 1)})
        taps *= static_cast<double>(std::min(axis.window, axis.in));
    return pooling_work(problem, pooled_sizes<Axis>(problem), taps);
}

Operator describe() {
    const ParameterRange no_or_yes{.default_value = 0, .minimum = 0, .maximum = 1};
    return declare_pooling("avgpool", {}, pooled_sizes<Axis>)
        .parameter("include_pad", no_or_yes)
        .parameter("ceil", no_or_yes)
        .valid_if("a padding of at most half of the window", is_padded_by_half)
        .factors(with_rest(
            window_factors("window", "padding"), "window", {"padding"},
            [](detail::FactorValues v) { return detail::rest_level(v[0] + 2 * v[3], v[1], v[2]); }))
        .sum_of_products({{"x"}})
        .exact_if("every divisor is a power of two, of at most 2048 pixels", divides_exactly)
        .reduction_length(reduction_length)
        .work(work)
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("grad_input", {"dy"}, {"dx"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
