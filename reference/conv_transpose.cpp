// SPDX-License-Identifier: Apache-2.0
// The reference of conv_transpose: one walk over every product, which each pass adds up by another
// index. Shares no geometry with conv's reference, so that each can check the other.
#include "reference/conv_transpose.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "harness/numbers/bounded_functions.hpp"
#include "harness/registry/registry.hpp"
#include "reference/conv_orders.hpp"
#include "reference/filter_space.hpp"
#include "reference/window_factors.hpp"

namespace gradverify::conv_transpose {

namespace {

using conv::Axis;

std::int64_t output_size(const Axis& axis) {
    if (axis.in == 0) return 0;
    return std::max<std::int64_t>(
        0, (axis.in - 1) * axis.stride + axis.dilation * (axis.filter - 1) + 1 +
               axis.output_padding - axis.padding_left - axis.padding_right);
}

/// Places in x, w and y, each within a channel.
struct Meeting {
    std::size_t in, tap, out;
};

/// Every input position and tap whose output position exists, in one, two or three dimensions.
struct Meetings {
    std::int64_t inputs = 1, taps = 1, outputs = 1;  ///< elements of one channel
    std::vector<Meeting> all{{0, 0, 0}};

    explicit Meetings(const Parameters& p) {
        for (const Axis& axis : p.spatial()) {
            std::vector<Meeting> further;
            for (const Meeting& before : all) add(further, before, axis);
            all = std::move(further);
            inputs *= axis.in;
            taps *= axis.filter;
            outputs *= output_size(axis);
        }
    }

  private:
    static void add(std::vector<Meeting>& to, const Meeting& before, const Axis& axis) {
        const std::int64_t size = output_size(axis);
        const auto next = [](std::size_t outer, std::int64_t length, std::int64_t index) {
            return outer * static_cast<std::size_t>(length) + static_cast<std::size_t>(index);
        };
        for (std::int64_t i = 0; i < axis.in; ++i)
            for (std::int64_t f = 0; f < axis.filter; ++f) {
                const std::int64_t o = i * axis.stride + f * axis.dilation - axis.padding_left;
                if (o < 0 || o >= size) continue;
                to.push_back({next(before.in, axis.in, i), next(before.tap, axis.filter, f),
                              next(before.out, size, o)});
            }
    }
};

/// Calls `visit(index in x, index in w, index in y)` for every product of the forward pass.
template <class Visit>
void for_each_product(const Parameters& p, Visit visit) {
    const Meetings meetings(p);
    const std::int64_t group_c = p.c / p.groups, group_k = p.k / p.groups;
    for (std::int64_t n = 0; n < p.n; ++n)
        for (std::int64_t c = 0; c < p.c; ++c)
            for (std::int64_t in_group = 0; in_group < group_k; ++in_group) {
                const std::int64_t k = c / group_c * group_k + in_group;
                const auto x = static_cast<std::size_t>((n * p.c + c) * meetings.inputs);
                const auto w = static_cast<std::size_t>((c * group_k + in_group) * meetings.taps);
                const auto y = static_cast<std::size_t>((n * p.k + k) * meetings.outputs);
                for (const Meeting& at : meetings.all) visit(x + at.in, w + at.tap, y + at.out);
            }
}

/// Calls `visit(k, index in y)` for every element of y.
template <class Visit>
void for_each_output(const Parameters& p, std::size_t elements, Visit visit) {
    const std::size_t channels = static_cast<std::size_t>(p.n * p.k);
    for (std::size_t i = 0; i < elements; ++i)
        visit(i / (elements / channels) % static_cast<std::size_t>(p.k), i);
}

template <class T>
void forward(const Problem& problem, Inputs<T> in, Outputs<T> out) {
    const Parameters p(problem);
    const auto &x = in[0].data, &w = in[1].data, &b = in[2].data;
    auto& y = out[0].data;
    for_each_product(p, [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) {
        y[at_y] += x[at_x] * w[at_w];
    });
    for_each_output(p, y.size(), [&](std::size_t k, std::size_t at_y) { y[at_y] += b[k]; });
}

template <class T>
void grad_input(const Problem& problem, Inputs<T> in, Outputs<T> out) {
    const auto &dy = in[0].data, &w = in[1].data;
    for_each_product(Parameters(problem),
                     [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) {
                         out[0].data[at_x] += dy[at_y] * w[at_w];
                     });
}

template <class T>
void grad_weight(const Problem& problem, Inputs<T> in, Outputs<T> out) {
    const auto &dy = in[0].data, &x = in[1].data;
    for_each_product(Parameters(problem),
                     [&](std::size_t at_x, std::size_t at_w, std::size_t at_y) {
                         out[0].data[at_w] += dy[at_y] * x[at_x];
                     });
}

template <class T>
void grad_bias(const Problem& problem, Inputs<T> in, Outputs<T> out) {
    const auto& dy = in[0].data;
    for_each_output(Parameters(problem), dy.size(),
                    [&](std::size_t k, std::size_t at_y) { out[0].data[k] += dy[at_y]; });
}

Sizes sizes_of_w(const Problem& problem) {
    const Parameters p(problem);
    return spatial_sizes(p.c, p.k / p.groups, p, [](const Axis& axis) { return axis.filter; });
}
Sizes sizes_of_y(const Problem& problem) {
    const Parameters p(problem);
    return spatial_sizes(p.n, p.k, p, output_size);
}

/// Multiply-adds of a pass, with those on outputs that are cut off.
double products_in_all(const Problem& problem) {
    return static_cast<double>(element_count(sizes_of_x(problem))) *
           static_cast<double>(element_count(sizes_of_w(problem)) / problem.scalar("c"));
}

/// Pixels of one channel in the whole batch.
std::int64_t input_pixels(const Problem& problem) {
    return element_count(sizes_of_x(problem)) / problem.scalar("c");
}
std::int64_t output_pixels(const Problem& problem) {
    return element_count(sizes_of_y(problem)) / problem.scalar("k");
}

ParameterSpace space() {
    std::vector<ParameterSpec> parameters = filter_parameters();
    parameters.push_back({.name = "output_padding",
                          .kind = ParameterKind::per_axis,
                          .default_value = 0,
                          .minimum = 0,
                          .is_padding = true});
    return ParameterSpace(std::move(parameters), 1, 3);
}

std::optional<std::string> why_invalid(const Problem& problem) {
    const Parameters p(problem);
    if (std::ranges::any_of(p.spatial(), [](const Axis& of) {
            return of.output_padding > 0 && of.output_padding >= std::max(of.stride, of.dilation);
        }))
        return "conv_transpose needs output_padding below the stride or the dilation of its axis";
    return std::nullopt;
}

/// Each axis is that of a convolution from y to x.
bool reads_nothing(const Problem& problem) {
    const Parameters p(problem);
    return std::ranges::any_of(p.spatial(), [](const Axis& of) {
        return reads_only_padding(output_size(of), of.filter, of.dilation, of.in, of.stride,
                                  of.padding_left);
    });
}

/// Each pixel has a stride's outputs to itself.
bool windows_are_apart(const Problem& problem, int axis) {
    return is_unpadded(problem, axis) &&
           reach_of_filter(problem, axis) + problem.on_axis("output_padding", axis) ==
               problem.on_axis("stride", axis);
}

Operator describe() {
    return {.name = "conv_transpose",
            .space = space(),
            .constraints = {on("c", multiple_of("groups")), on("k", multiple_of("groups"))},
            .features = {{"asymmetric_padding", {on("padding_left", same_as("padding_right"))}}},
            .usual_ranks = RankRange{2, 2},
            .factors = filter_factors(),
            .reads_nothing = reads_nothing,
            .separable = filter_copies(windows_are_apart),
            .why_invalid = why_invalid,
            .inputs = {{.name = "x", .sizes = sizes_of_x, .orders = image_orders()},
                       {.name = "w", .sizes = sizes_of_w, .orders = filter_orders("i", "o")},
                       {.name = "b", .sizes = sizes_of_b}},
            .outputs = {{.name = "y", .sizes = sizes_of_y, .orders = image_orders()}},
            .passes = filter_passes(
                {.forward = {forward<double>, forward<Bounded>, terms_of_output},
                 .grad_input = {grad_input<double>, grad_input<Bounded>, terms_of_pixel},
                 .grad_weight = {grad_weight<double>, grad_weight<Bounded>, input_pixels},
                 .grad_bias = {grad_bias<double>, grad_bias<Bounded>, output_pixels},
                 .products = products_in_all,
                 .sizes_of_y = sizes_of_y}),
            .algebra = Algebra::products,
            .products = {{"x", "w"}, {"b"}},
            .typical = {on("n", between(1, 4)), on("c", between(1, 8)), on("k", between(1, 8)),
                        on("in", between(1, 16)), on("filter", between(1, 5)),
                        on("stride", between(1, 3))},
            .benchmark = "n=128,c=256,k=128,in=36x36,filter=3x3,stride=2,padding=1"};
}

GRADVERIFY_OPERATOR(describe);

}  // namespace
}  // namespace gradverify::conv_transpose
