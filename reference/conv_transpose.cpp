// SPDX-License-Identifier: Apache-2.0
// The reference of conv_transpose: one walk over every product that there is, which each pass adds
// up by another of its three indices. Shares nothing with conv's reference, so that each can be
// held to the other.
#include "reference/conv_transpose.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "harness/numbers/bounded_functions.hpp"
#include "harness/registry/registry.hpp"
#include "reference/conv_orders.hpp"
#include "reference/conv_transpose_operator.hpp"
#include "reference/filter_space.hpp"
#include "reference/window_copies.hpp"
#include "reference/window_factors.hpp"

namespace gradverify::conv_transpose {

Parameters::Parameters(const Problem& problem)
    : n(problem.scalar("n")),
      c(problem.scalar("c")),
      k(problem.scalar("k")),
      groups(problem.scalar("groups")),
      rank(problem.rank()) {
    const auto in = problem.all_of("in"), filter = problem.all_of("filter");
    const auto stride = problem.all_of("stride"), dilation = problem.all_of("dilation");
    const auto padding = problem.all_of("padding");
    const auto output_padding = problem.all_of("output_padding");
    for (std::size_t i = 0; i < in.size(); ++i)
        axes[i] = {.in = in[i],
                   .filter = filter[i],
                   .stride = stride[i],
                   .dilation = dilation[i],
                   .padding_left = padding[2 * i],
                   .padding_right = padding[2 * i + 1],
                   .output_padding = output_padding[i]};
}

namespace {

std::int64_t output_size(const Axis& axis) {
    if (axis.in == 0) return 0;
    return std::max<std::int64_t>(
        0, (axis.in - 1) * axis.stride + axis.dilation * (axis.filter - 1) + 1 +
               axis.output_padding - axis.padding_left - axis.padding_right);
}

/// A place in x, w or y: spatial indices alone, as one number.
struct Meeting {
    std::size_t in, tap, out;
};

/// Every input position and tap whose output position exists, in one, two or three dimensions.
class Meetings {
  public:
    explicit Meetings(const Parameters& p) : axes_(p.axes.begin(), p.axes.begin() + p.rank) {
        add(0, {0, 0, 0});
        for (const Axis& axis : axes_) {
            inputs *= axis.in;
            taps *= axis.filter;
            outputs *= output_size(axis);
        }
    }

    std::int64_t inputs = 1, taps = 1, outputs = 1;  ///< elements of one channel
    std::vector<Meeting> all;

  private:
    void add(std::size_t at, Meeting before) {
        if (at == axes_.size()) {
            all.push_back(before);
            return;
        }
        const Axis& axis = axes_[at];
        const std::int64_t size = output_size(axis);
        for (std::int64_t i = 0; i < axis.in; ++i)
            for (std::int64_t f = 0; f < axis.filter; ++f) {
                const std::int64_t o = i * axis.stride + f * axis.dilation - axis.padding_left;
                if (o < 0 || o >= size) continue;
                const auto next = [](std::size_t outer, std::int64_t length, std::int64_t index) {
                    return outer * static_cast<std::size_t>(length) +
                           static_cast<std::size_t>(index);
                };
                add(at + 1, {next(before.in, axis.in, i), next(before.tap, axis.filter, f),
                             next(before.out, size, o)});
            }
    }

    std::vector<Axis> axes_;
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

template <class T>
void backward(const Problem& problem, Inputs<T> in, Outputs<T> out) {
    const std::array dy_and_w{in[0], in[2]};
    grad_input<T>(problem, dy_and_w, out.subspan(0, 1));
    grad_weight<T>(problem, in.subspan(0, 2), out.subspan(1, 1));
    grad_bias<T>(problem, in.subspan(0, 1), out.subspan(2, 1));
}

Sizes sizes_of_x(const Problem& problem) {
    const Parameters p(problem);
    return spatial_sizes(p.n, p.c, p, [](const Axis& axis) { return axis.in; });
}
Sizes sizes_of_w(const Problem& problem) {
    const Parameters p(problem);
    return spatial_sizes(p.c, p.k / p.groups, p, [](const Axis& axis) { return axis.filter; });
}
Sizes sizes_of_b(const Problem& problem) { return {problem.scalar("k")}; }
Sizes sizes_of_y(const Problem& problem) {
    const Parameters p(problem);
    return spatial_sizes(p.n, p.k, p, output_size);
}

/// Multiply-adds of a pass, those on what is cut off included.
double products_in_all(const Problem& problem) {
    double products = static_cast<double>(element_count(sizes_of_x(problem))) *
                      static_cast<double>(problem.scalar("k") / problem.scalar("groups"));
    for (int axis = 0; axis < problem.rank(); ++axis)
        products *= static_cast<double>(problem.on_axis("filter", axis));
    return products;
}
double additions_of_bias(const Problem& problem) {
    return static_cast<double>(element_count(sizes_of_y(problem)));
}

/// Of all taps, as if none of them were a stride apart.
std::int64_t terms_of_channels(const Problem& problem, const char* channels) {
    std::int64_t terms = problem.scalar(channels) / problem.scalar("groups");
    for (int axis = 0; axis < problem.rank(); ++axis) terms *= problem.on_axis("filter", axis);
    return terms;
}

/// Of which a number of dx is the sum.
std::int64_t terms_of_pixel(const Problem& problem) { return terms_of_channels(problem, "k"); }
/// Of one channel of the whole batch.
std::int64_t input_pixels(const Problem& problem) {
    return element_count(sizes_of_x(problem)) / problem.scalar("c");
}
std::int64_t output_pixels(const Problem& problem) {
    return element_count(sizes_of_y(problem)) / problem.scalar("k");
}

std::vector<PassSpec> passes() {
    return {{.name = "forward",
             .inputs = {"x", "w", "b"},
             .outputs = {"y"},
             .reference = forward<double>,
             .bounded_reference = forward<Bounded>,
             .multiply_adds = products_in_all,
             .reduction_length =
                 [](const Problem& problem) { return terms_of_channels(problem, "c") + 1; }},
            {.name = "grad_input",
             .inputs = {"dy", "w"},
             .outputs = {"dx"},
             .reference = grad_input<double>,
             .bounded_reference = grad_input<Bounded>,
             .multiply_adds = products_in_all,
             .reduction_length = terms_of_pixel},
            {.name = "grad_weight",
             .inputs = {"dy", "x"},
             .outputs = {"dw"},
             .reference = grad_weight<double>,
             .bounded_reference = grad_weight<Bounded>,
             .multiply_adds = products_in_all,
             .reduction_length = input_pixels},
            {.name = "grad_bias",
             .inputs = {"dy"},
             .outputs = {"db"},
             .reference = grad_bias<double>,
             .bounded_reference = grad_bias<Bounded>,
             .multiply_adds = additions_of_bias,
             .reduction_length = output_pixels},
            {.name = "backward",
             .inputs = {"dy", "x", "w"},
             .outputs = {"dx", "dw", "db"},
             .reference = backward<double>,
             .bounded_reference = backward<Bounded>,
             .multiply_adds =
                 [](const Problem& problem) {
                     return 2.0 * products_in_all(problem) + additions_of_bias(problem);
                 },
             .reduction_length =
                 [](const Problem& problem) {
                     return std::max(
                         {terms_of_pixel(problem), input_pixels(problem), output_pixels(problem)});
                 }}};
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
    for (int axis = 0; axis < p.rank; ++axis) {
        const Axis& of = p.axes[static_cast<std::size_t>(axis)];
        if (of.output_padding > 0 && of.output_padding >= std::max(of.stride, of.dilation))
            return "conv_transpose needs output_padding below the stride or the dilation of its "
                   "axis";
    }
    return std::nullopt;
}

/// An axis is one of a convolution from y to x.
bool reads_nothing(const Problem& problem) {
    const Parameters p(problem);
    for (int axis = 0; axis < p.rank; ++axis) {
        const Axis& of = p.axes[static_cast<std::size_t>(axis)];
        if (reads_only_padding(output_size(of), of.filter, of.dilation, of.in, of.stride,
                               of.padding_left))
            return true;
    }
    return false;
}

/// Of each pixel as many outputs as a stride has, none of them another pixel's.
bool windows_are_apart(const Problem& problem, int axis) {
    return is_unpadded(problem, axis) &&
           reach_of(problem, "filter", axis) + problem.on_axis("output_padding", axis) ==
               problem.on_axis("stride", axis);
}

std::vector<SeparableSpec> separable() {
    std::vector<SeparableSpec> specs = along_channels();
    for (SeparableSpec& spec : along_axes(windows_are_apart)) specs.push_back(std::move(spec));
    return specs;
}

}  // namespace

Operator describe() {
    return {.name = "conv_transpose",
            .space = space(),
            .constraints = {on("c", multiple_of("groups")), on("k", multiple_of("groups"))},
            .features = {{"asymmetric_padding", {on("padding_left", same_as("padding_right"))}}},
            .usual_ranks = RankRange{2, 2},
            .factors = filter_factors(),
            .reads_nothing = reads_nothing,
            .separable = separable(),
            .why_invalid = why_invalid,
            .inputs = {{.name = "x", .sizes = sizes_of_x, .orders = image_orders()},
                       {.name = "w", .sizes = sizes_of_w, .orders = filter_orders("i", "o")},
                       {.name = "b", .sizes = sizes_of_b}},
            .outputs = {{.name = "y", .sizes = sizes_of_y, .orders = image_orders()}},
            .passes = passes(),
            .algebra = Algebra::products,
            .products = {{"x", "w"}, {"b"}},
            .typical = {on("n", between(1, 4)), on("c", between(1, 8)), on("k", between(1, 8)),
                        on("in", between(1, 16)), on("filter", between(1, 5)),
                        on("stride", between(1, 3))},
            .benchmark = "n=128,c=256,k=128,in=36x36,filter=3x3,stride=2,padding=1"};
}

GRADVERIFY_OPERATOR(describe);

}  // namespace gradverify::conv_transpose
