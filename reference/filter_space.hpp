// SPDX-License-Identifier: Apache-2.0
// What operators with a filter have in common: parameters, passes, and along what a problem may be
// made of copies. Each decides by itself what a size is.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/operators/operator.hpp"
#include "reference/conv.hpp"

namespace gradverify {

inline std::vector<ParameterSpec> filter_parameters() {
    return {{.name = "n", .minimum = 0},
            {.name = "c"},
            {.name = "k"},
            {.name = "groups"},
            {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true},
            {.name = "filter", .kind = ParameterKind::per_axis},
            {.name = "stride", .kind = ParameterKind::per_axis},
            {.name = "dilation", .kind = ParameterKind::per_axis},
            {.name = "padding",
             .kind = ParameterKind::per_axis_pair,
             .default_value = 0,
             .minimum = 0,
             .is_padding = true}};
}

/// n, channels, then a size for each axis of the problem.
template <class SizeOn>
Sizes spatial_sizes(std::int64_t outer, std::int64_t channels, const conv::Parameters& p,
                    SizeOn size_on) {
    Sizes sizes{outer, channels};
    for (const conv::Axis& axis : p.spatial()) sizes.push_back(size_on(axis));
    return sizes;
}

inline Sizes sizes_of_x(const Problem& problem) {
    const conv::Parameters p(problem);
    return spatial_sizes(p.n, p.c, p, [](const conv::Axis& axis) { return axis.in; });
}
inline Sizes sizes_of_b(const Problem& problem) { return {problem.scalar("k")}; }

inline Constraint on(std::string parameter, Condition condition) {
    condition.parameter = std::move(parameter);
    return condition;
}

/// How a pass is computed, and the most terms of an element's sum.
struct ProductPass {
    Reference<double> reference;
    Reference<Bounded> bounded_reference;
    std::int64_t (*reduction_length)(const Problem&);
};
struct ProductPasses {
    ProductPass forward, grad_input, grad_weight, grad_bias;
    double (*products)(const Problem&);  ///< multiply-adds of each of the first three
    std::function<Sizes(const Problem&)> sizes_of_y;

    /// The additions of grad_bias.
    double additions(const Problem& problem) const {
        return static_cast<double>(element_count(sizes_of_y(problem)));
    }
};

/// The passes of y = x w + b.
inline std::vector<PassSpec> product_passes(const ProductPasses& of) {
    using Names = std::vector<std::string>;
    const auto pass = [](const char* name, Names inputs, const char* output, const ProductPass& by,
                         std::function<double(const Problem&)> multiply_adds) {
        return PassSpec{.name = name,
                        .inputs = std::move(inputs),
                        .outputs = {output},
                        .reference = by.reference,
                        .bounded_reference = by.bounded_reference,
                        .multiply_adds = std::move(multiply_adds),
                        .reduction_length = by.reduction_length};
    };
    return {pass("forward", {"x", "w", "b"}, "y", of.forward, of.products),
            pass("grad_input", {"dy", "w"}, "dx", of.grad_input, of.products),
            pass("grad_weight", {"dy", "x"}, "dw", of.grad_weight, of.products),
            pass("grad_bias", {"dy"}, "db", of.grad_bias,
                 [of](const Problem& problem) { return of.additions(problem); })};
}

template <class T>
Reference<T> in_one(Reference<T> grad_input, Reference<T> grad_weight, Reference<T> grad_bias) {
    return [=](const Problem& problem, Inputs<T> in, Outputs<T> out) {
        const std::array<Array<T>, 2> dy_and_w{in[0], in[2]};
        grad_input(problem, dy_and_w, out.subspan(0, 1));
        grad_weight(problem, in.subspan(0, 2), out.subspan(1, 1));
        grad_bias(problem, in.subspan(0, 1), out.subspan(2, 1));
    };
}

/// The same passes, and `backward`, which is the three gradients in one.
inline std::vector<PassSpec> filter_passes(const ProductPasses& of) {
    std::vector<PassSpec> passes = product_passes(of);
    const PassSpec &dx = passes[1], &dw = passes[2], &db = passes[3];
    passes.push_back({.name = "backward",
                      .inputs = {"dy", "x", "w"},
                      .outputs = {"dx", "dw", "db"},
                      .reference = in_one(dx.reference, dw.reference, db.reference),
                      .bounded_reference =
                          in_one(dx.bounded_reference, dw.bounded_reference, db.bounded_reference),
                      .multiply_adds =
                          [of](const Problem& problem) {
                              return 2.0 * of.products(problem) + of.additions(problem);
                          },
                      .reduction_length =
                          [of](const Problem& problem) {
                              return std::max({of.grad_input.reduction_length(problem),
                                               of.grad_weight.reduction_length(problem),
                                               of.grad_bias.reduction_length(problem)});
                          }});
    return passes;
}

/// Terms over all taps, as if none of them were a stride apart.
inline std::int64_t terms_of_channels(const Problem& problem, const char* channels) {
    std::int64_t terms = problem.scalar(channels) / problem.scalar("groups");
    for (int axis = 0; axis < problem.rank(); ++axis) terms *= problem.on_axis("filter", axis);
    return terms;
}
/// Terms of an output's sum, the bias included.
inline std::int64_t terms_of_output(const Problem& problem) {
    return terms_of_channels(problem, "c") + 1;
}
inline std::int64_t terms_of_pixel(const Problem& problem) {
    return terms_of_channels(problem, "k");
}

/// A problem may be made of copies along samples; along groups; without groups along input and
/// output channels; and along axes on which no two windows share a pixel, as `are_apart` says.
inline std::vector<SeparableSpec> filter_copies(bool (*are_apart)(const Problem&, int axis)) {
    const auto without_groups = [](const Problem& problem) {
        return problem.scalar("groups") == 1;
    };
    std::vector<SeparableSpec> specs{
        {.name = "n", .parameters = {"n"}},
        {.name = "groups", .parameters = {"c", "k", "groups"}},
        {.name = "k", .parameters = {"k"}, .holds_if = without_groups},
        {.name = "c", .parameters = {"c"}, .holds_if = without_groups}};
    int from_last = 0;
    for (const char* name : {"in_w", "in_h", "in_d"}) {
        ++from_last;
        specs.push_back({.name = name,
                         .parameters = {name},
                         .holds_if = [are_apart, from_last](const Problem& problem) {
                             return are_apart(problem, problem.rank() - from_last);
                         }});
    }
    return specs;
}

inline bool is_unpadded(const Problem& problem, int axis) {
    return problem.on_axis("padding", axis, Side::left) == 0 &&
           problem.on_axis("padding", axis, Side::right) == 0;
}

inline std::int64_t reach_of_filter(const Problem& problem, int axis) {
    return problem.on_axis("dilation", axis) * (problem.on_axis("filter", axis) - 1) + 1;
}

}  // namespace gradverify
