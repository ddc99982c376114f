// SPDX-License-Identifier: Apache-2.0
// The reference of conv: each image of a group is unfolded into a matrix of patches, and the passes
// are matrix products with it. A problem with fewer than three axes gets axes of size one in front.
// Shares no geometry with any kernel.
#include "reference/conv.hpp"

#include <Eigen/Core>
#include <algorithm>

#include "harness/numbers/matrix_product.hpp"
#include "harness/registry/registry.hpp"
#include "reference/conv_orders.hpp"
#include "reference/filter_space.hpp"
#include "reference/window_factors.hpp"

namespace gradverify::conv {

namespace {

std::int64_t output_size(const Axis& axis) {
    const std::int64_t reach = axis.dilation * (axis.filter - 1) + 1;
    const std::int64_t room = axis.in + axis.padding_left + axis.padding_right - reach;
    return room < 0 ? 0 : room / axis.stride + 1;
}

/// A problem with exactly three axes.
struct Geometry {
    Parameters p;
    std::array<Axis, 3> axes{};
    std::array<std::int64_t, 3> out{};
    std::int64_t image = 1, taps = 1, outputs = 1;  ///< elements of a channel, filter and output

    explicit Geometry(const Problem& problem) : p(problem) {
        std::ranges::copy(p.spatial(), axes.end() - p.rank);
        for (std::size_t axis = 0; axis < 3; ++axis) {
            out[axis] = output_size(axes[axis]);
            image *= axes[axis].in;
            taps *= axes[axis].filter;
            outputs *= out[axis];
        }
    }
    std::int64_t group_c() const { return p.c / p.groups; }
    std::int64_t group_k() const { return p.k / p.groups; }

    /// Calls `visit(pixel, tap, output)` for every output position and filter tap whose pixel lies
    /// inside the image, each a flat index within its channel.
    template <class Visit>
    void for_each_contribution(Visit visit) const {
        std::int64_t output = 0;
        for (std::int64_t od = 0; od < out[0]; ++od)
            for (std::int64_t oh = 0; oh < out[1]; ++oh)
                for (std::int64_t ow = 0; ow < out[2]; ++ow, ++output)
                    for_each_tap({od, oh, ow}, [&](std::int64_t pixel, std::int64_t tap) {
                        visit(pixel, tap, output);
                    });
    }

  private:
    template <class Visit>
    void for_each_tap(const std::array<std::int64_t, 3>& position, Visit visit) const {
        const auto pixel_on = [&](std::size_t axis, std::int64_t tap) {
            return position[axis] * axes[axis].stride + tap * axes[axis].dilation -
                   axes[axis].padding_left;
        };
        const auto inside = [&](std::size_t axis, std::int64_t pixel) {
            return pixel >= 0 && pixel < axes[axis].in;
        };
        for (std::int64_t fd = 0; fd < axes[0].filter; ++fd) {
            const std::int64_t d = pixel_on(0, fd);
            if (!inside(0, d)) continue;
            for (std::int64_t fh = 0; fh < axes[1].filter; ++fh) {
                const std::int64_t h = pixel_on(1, fh);
                if (!inside(1, h)) continue;
                for (std::int64_t fw = 0; fw < axes[2].filter; ++fw) {
                    const std::int64_t w = pixel_on(2, fw);
                    if (inside(2, w))
                        visit((d * axes[1].in + h) * axes[2].in + w,
                              (fd * axes[1].filter + fh) * axes[2].filter + fw);
                }
            }
        }
    }
};

template <class T>
using MatrixMap = Eigen::Map<Matrix<T>>;
template <class T>
using ConstMatrixMap = Eigen::Map<const Matrix<T>>;

/// The patches of one image's group of channels.
///
/// **Shapes** x `group_c, image`; result `group_c * taps, outputs`, zero where a tap is outside.
template <class T>
Matrix<T> unfold(const Geometry& g, const T* x) {
    Matrix<T> patches = Matrix<T>::Constant(g.group_c() * g.taps, g.outputs, T(0));
    g.for_each_contribution([&](std::int64_t pixel, std::int64_t tap, std::int64_t output) {
        for (std::int64_t c = 0; c < g.group_c(); ++c)
            patches(c * g.taps + tap, output) = x[c * g.image + pixel];
    });
    return patches;
}

/// Adds patches back to the pixels that they came from: the transpose of `unfold`.
template <class T>
void fold(const Geometry& g, const Matrix<T>& patches, T* dx) {
    g.for_each_contribution([&](std::int64_t pixel, std::int64_t tap, std::int64_t output) {
        for (std::int64_t c = 0; c < g.group_c(); ++c)
            dx[c * g.image + pixel] += patches(c * g.taps + tap, output);
    });
}

/// Calls `visit(x or dx offset, w or dw offset, y or dy offset)` for each image and group.
template <class Visit>
void for_each_group(const Geometry& g, Visit visit) {
    for (std::int64_t n = 0; n < g.p.n; ++n)
        for (std::int64_t group = 0; group < g.p.groups; ++group)
            visit((n * g.p.c + group * g.group_c()) * g.image,
                  group * g.group_k() * g.group_c() * g.taps,
                  (n * g.p.k + group * g.group_k()) * g.outputs);
}

template <class T>
void forward(const Problem& problem, Inputs<T> in, Outputs<T> out) {
    const Geometry g(problem);
    const auto &x = in[0].data, &w = in[1].data, &b = in[2].data;
    if (out[0].data.empty()) return;
    for_each_group(g, [&](std::int64_t x_at, std::int64_t w_at, std::int64_t y_at) {
        const ConstMatrixMap<T> filters(w.data() + w_at, g.group_k(), g.group_c() * g.taps);
        MatrixMap<T>(out[0].data.data() + y_at, g.group_k(), g.outputs) =
            product(filters, unfold(g, x.data() + x_at));
    });
    T* y = out[0].data.data();
    for (std::int64_t n = 0; n < g.p.n; ++n)
        for (std::int64_t k = 0; k < g.p.k; ++k)
            for (std::int64_t o = 0; o < g.outputs; ++o) *y++ += b[static_cast<std::size_t>(k)];
}

template <class T>
void grad_input(const Problem& problem, Inputs<T> in, Outputs<T> out) {
    const Geometry g(problem);
    const auto &dy = in[0].data, &w = in[1].data;
    if (dy.empty()) return;
    for_each_group(g, [&](std::int64_t x_at, std::int64_t w_at, std::int64_t y_at) {
        const ConstMatrixMap<T> filters(w.data() + w_at, g.group_k(), g.group_c() * g.taps);
        const ConstMatrixMap<T> cotangent(dy.data() + y_at, g.group_k(), g.outputs);
        fold<T>(g, product(filters.transpose(), cotangent), out[0].data.data() + x_at);
    });
}

template <class T>
void grad_weight(const Problem& problem, Inputs<T> in, Outputs<T> out) {
    const Geometry g(problem);
    const auto &dy = in[0].data, &x = in[1].data;
    if (dy.empty()) return;
    for_each_group(g, [&](std::int64_t x_at, std::int64_t w_at, std::int64_t y_at) {
        const ConstMatrixMap<T> cotangent(dy.data() + y_at, g.group_k(), g.outputs);
        MatrixMap<T> dw(out[0].data.data() + w_at, g.group_k(), g.group_c() * g.taps);
        dw += product(cotangent, unfold(g, x.data() + x_at).transpose());
    });
}

template <class T>
void grad_bias(const Problem& problem, Inputs<T> in, Outputs<T> out) {
    const Geometry g(problem);
    const T* dy = in[0].data.data();
    for (std::int64_t n = 0; n < g.p.n; ++n)
        for (std::int64_t k = 0; k < g.p.k; ++k)
            for (std::int64_t o = 0; o < g.outputs; ++o)
                out[0].data[static_cast<std::size_t>(k)] += *dy++;
}

Sizes sizes_of_w(const Problem& problem) {
    const Parameters p(problem);
    return spatial_sizes(p.k, p.c / p.groups, p, [](const Axis& axis) { return axis.filter; });
}
Sizes sizes_of_y(const Problem& problem) {
    const Parameters p(problem);
    return spatial_sizes(p.n, p.k, p, output_size);
}

double products_in_all(const Problem& problem) {
    return static_cast<double>(element_count(sizes_of_y(problem))) *
           static_cast<double>(element_count(sizes_of_w(problem)) / problem.scalar("k"));
}

/// Pixels of one output channel in the whole batch.
std::int64_t output_pixels(const Problem& problem) {
    const Geometry g(problem);
    return g.p.n * g.outputs;
}

bool reads_nothing(const Problem& problem) {
    const Parameters p(problem);
    return std::ranges::any_of(p.spatial(), [](const Axis& of) {
        return reads_only_padding(of.in, of.filter, of.dilation, output_size(of), of.stride,
                                  of.padding_left);
    });
}

/// Each window lies within `stride` pixels of its own.
bool windows_are_apart(const Problem& problem, int axis) {
    const std::int64_t stride = problem.on_axis("stride", axis);
    return is_unpadded(problem, axis) && reach_of_filter(problem, axis) <= stride &&
           problem.on_axis("in", axis) % stride == 0;
}

Operator describe() {
    return {.name = "conv",
            .space = ParameterSpace(filter_parameters(), 1, 3),
            .constraints = {on("c", multiple_of("groups")), on("k", multiple_of("groups"))},
            .features = {{"asymmetric_padding", {on("padding_left", same_as("padding_right"))}}},
            .usual_ranks = RankRange{2, 2},
            .factors = with_rest(filter_factors(), "filter", {"dilation", "padding"},
                                 [](detail::FactorValues v) {
                                     return detail::rest_level(v[0] + v[4] + v[5],
                                                               v[3] * (v[1] - 1) + 1, v[2]);
                                 }),
            .reads_nothing = reads_nothing,
            .separable = filter_copies(windows_are_apart),
            .why_invalid = nullptr,
            .inputs = {{.name = "x", .sizes = sizes_of_x, .orders = image_orders()},
                       {.name = "w", .sizes = sizes_of_w, .orders = filter_orders("o", "i")},
                       {.name = "b", .sizes = sizes_of_b}},
            .outputs = {{.name = "y", .sizes = sizes_of_y, .orders = image_orders()}},
            .passes = filter_passes(
                {.forward = {forward<double>, forward<Bounded>, terms_of_output},
                 .grad_input = {grad_input<double>, grad_input<Bounded>, terms_of_pixel},
                 .grad_weight = {grad_weight<double>, grad_weight<Bounded>, output_pixels},
                 .grad_bias = {grad_bias<double>, grad_bias<Bounded>, output_pixels},
                 .products = products_in_all,
                 .sizes_of_y = sizes_of_y}),
            .algebra = Algebra::products,
            .products = {{"x", "w"}, {"b"}},
            .typical = {on("n", between(1, 4)), on("c", between(1, 8)), on("k", between(1, 8)),
                        on("in", between(1, 32)), on("filter", between(1, 7)),
                        on("stride", between(1, 3)), on("padding", between(0, 3))},
            .benchmark = "n=128,c=128,k=256,in=71x71,filter=3x3,stride=2,padding=1"};
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify::conv
