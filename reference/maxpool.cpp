// SPDX-License-Identifier: Apache-2.0
// The operator maxpool. Values are copied, so kernels are compared exactly. At ties the branch that
// the forward function takes is the definition. The gradient is derived.
#include <algorithm>

#include "reference/pool_operator.hpp"
#include "reference/window_factors.hpp"

namespace gradverify {
namespace {

/// One spatial axis of a problem.
struct Axis {
    std::int64_t in, window, stride, dilation, padding;

    Axis(const Problem& problem, int axis)
        : in(problem.on_axis("in", axis)),
          window(problem.on_axis("window", axis)),
          stride(problem.on_axis("stride", axis)),
          dilation(problem.on_axis("dilation", axis)),
          padding(problem.on_axis("padding", axis)) {}

    std::int64_t span() const { return dilation * (window - 1) + 1; }
    std::int64_t windows() const {
        const std::int64_t room = in + 2 * padding - span();
        return room < 0 ? 0 : room / stride + 1;
    }
    /// The pixel under a tap; outside of the image where it is negative, or not below `in`.
    std::int64_t pixel(std::int64_t output, std::int64_t tap) const {
        return output * stride + tap * dilation - padding;
    }
    bool is_inside(std::int64_t pixel) const { return 0 <= pixel && pixel < in; }
};

template <class T>
void forward(const ForwardCall<T>& call) {
    const auto x = call.input("x");
    const auto y = call.output("y"), index = call.output("index");
    const Axis h(call.problem(), 0), w(call.problem(), 1);
    for (std::int64_t n = 0; n < y.size(0); ++n)
        for (std::int64_t c = 0; c < y.size(1); ++c)
            for (std::int64_t oh = 0; oh < y.size(2); ++oh)
                for (std::int64_t ow = 0; ow < y.size(3); ++ow) {
                    std::int64_t best_h = -1, best_w = -1;
                    for (std::int64_t th = 0; th < h.window; ++th)
                        for (std::int64_t tw = 0; tw < w.window; ++tw) {
                            const std::int64_t ph = h.pixel(oh, th), pw = w.pixel(ow, tw);
                            if (!h.is_inside(ph) || !w.is_inside(pw)) continue;
                            const T& pixel = x(n, c, ph, pw);
                            if (best_h >= 0 && !isnan(pixel) && !(pixel > x(n, c, best_h, best_w)))
                                continue;
                            best_h = ph, best_w = pw;
                        }
                    y(n, c, oh, ow) = x(n, c, best_h, best_w);
                    index(n, c, oh, ow) = T(static_cast<double>(best_h * w.in + best_w));
                }
}

bool is_padded_by_half(const Problem& problem) {
    const Axis h(problem, 0), w(problem, 1);
    return 2 * h.padding <= h.span() && 2 * w.padding <= w.span();
}

/// Taps that are far apart may step over a small image from one side's padding to the other's.
bool has_pixels_in_windows(const Problem& problem) {
    for (const Axis& axis : {Axis(problem, 0), Axis(problem, 1)}) {
        for (std::int64_t output = 0; output < axis.windows(); ++output) {
            const std::int64_t before = std::max<std::int64_t>(-axis.pixel(output, 0), 0);
            const std::int64_t first = (before + axis.dilation - 1) / axis.dilation;
            if (first >= axis.window || !axis.is_inside(axis.pixel(output, first))) return false;
        }
    }
    return true;
}

double work(const Problem& problem) {
    const double taps = static_cast<double>(problem.on_axis("window", 0)) *
                        static_cast<double>(problem.on_axis("window", 1));
    return pooling_work(problem, pooled_sizes<Axis>(problem), taps);
}

Operator describe() {
    return declare_pooling("maxpool", {"dilation"}, pooled_sizes<Axis>)
        .valid_if("a padding of at most half of what the window spans", is_padded_by_half)
        .valid_if("a pixel of the image in every window", has_pixels_in_windows)
        .factors(with_rest(window_factors("window", "padding"), "window", {"dilation", "padding"},
                           [](detail::FactorValues v) {
                               return detail::rest_level(v[0] + 2 * v[4], v[3] * (v[1] - 1) + 1,
                                                         v[2]);
                           }))
        .defined_for_nan("x")
        .saved("index", pooled_sizes<Axis>, {.dtype = DType::i32})
        .piecewise_linear()
        .branches_decide()
        .reduction_length([](const Problem& problem) {
            return problem.on_axis("window", 0) * problem.on_axis("window", 1);
        })
        .work(work)
        .forward([]<class T>(const ForwardCall<T>& call) { forward(call); })
        .gradient("grad_input", {"dy", "index"}, {"dx"});
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify
