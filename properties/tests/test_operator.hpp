// SPDX-License-Identifier: Apache-2.0
// An operator for the tests of generators and shrinking: parameters, constraints, sizes and costs
// like those of a two-dimensional convolution, and no reference.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/operators/operator.hpp"
#include "harness/registry/kernel_declaration.hpp"
#include "harness/testing/made_operator.hpp"
#include "properties/problems/solver.hpp"

namespace gradverify::testing {

/// One spatial axis of a problem of the test operator.
struct TestAxis {
    std::int64_t in, filter, stride, dilation, left, right;

    TestAxis(const Problem& problem, int axis)
        : in(problem.on_axis("in", axis)),
          filter(problem.on_axis("filter", axis)),
          stride(problem.on_axis("stride", axis)),
          dilation(problem.on_axis("dilation", axis)),
          left(problem.on_axis("padding", axis, Side::left)),
          right(problem.on_axis("padding", axis, Side::right)) {}

    std::int64_t padded() const { return in + left + right; }
    std::int64_t reach() const { return dilation * (filter - 1) + 1; }
    std::int64_t out() const { return reach() > padded() ? 0 : (padded() - reach()) / stride + 1; }
};

/// Whether this holds of one of a problem's axes.
inline std::function<bool(const Problem&)> on_some_axis(
    std::function<bool(const TestAxis&)> predicate) {
    return [predicate = std::move(predicate)](const Problem& p) {
        for (int axis = 0; axis < p.rank(); ++axis)
            if (predicate(TestAxis(p, axis))) return true;
        return false;
    };
}

inline Sizes with_axes(Sizes sizes, const Problem& problem, std::int64_t (*of)(const TestAxis&)) {
    for (int axis = 0; axis < problem.rank(); ++axis) sizes.push_back(of(TestAxis(problem, axis)));
    return sizes;
}

inline Sizes input_sizes(const Problem& p) {
    return with_axes({p.scalar("n"), p.scalar("c")}, p, [](const TestAxis& a) { return a.in; });
}
inline Sizes filter_sizes(const Problem& p) {
    return with_axes({p.scalar("k"), p.scalar("c") / p.scalar("groups")}, p,
                     [](const TestAxis& a) { return a.filter; });
}
inline Sizes bias_sizes(const Problem& p) { return {p.scalar("k")}; }
inline Sizes output_sizes(const Problem& p) {
    return with_axes({p.scalar("n"), p.scalar("k")}, p, [](const TestAxis& a) { return a.out(); });
}
inline double products(const Problem& p) {
    return static_cast<double>(element_count(output_sizes(p))) *
           static_cast<double>(element_count(filter_sizes(p))) / static_cast<double>(p.scalar("k"));
}

inline ParameterSpace test_space(int rank_min, int rank_max) {
    const auto axes = ParameterKind::per_axis;
    return ParameterSpace({{.name = "n", .minimum = 0},
                           {.name = "c"},
                           {.name = "k"},
                           {.name = "groups"},
                           {.name = "in", .kind = axes, .carries_rank = true},
                           {.name = "filter", .kind = axes},
                           {.name = "stride", .kind = axes},
                           {.name = "dilation", .kind = axes},
                           padding_parameter()},
                          rank_min, rank_max);
}

inline PassSpec test_pass(std::string name, std::vector<std::string> inputs, std::string output) {
    return {.name = std::move(name),
            .inputs = std::move(inputs),
            .outputs = {std::move(output)},
            .multiply_adds = products};
}

inline Operator make_test_operator(int rank_min = 2, int rank_max = 2) {
    return {.name = "filter",
            .space = test_space(rank_min, rank_max),
            .constraints = {where("c", multiple_of("groups")), where("k", multiple_of("groups")),
                            where("padding_left", same_as("padding_right"))},
            .factors = {{.name = "stride against filter",
                         .levels = {"smaller", "equal", "larger"},
                         .parameters = {"stride", "filter"},
                         .level_of_values =
                             [](std::span<const std::int64_t> v) {
                                 return v[0] < v[1] ? 0 : v[0] == v[1] ? 1 : 2;
                             }}},
            .why_invalid = {},
            .inputs = {{.name = "x", .sizes = input_sizes},
                       {.name = "w", .sizes = filter_sizes},
                       {.name = "b", .sizes = bias_sizes}},
            .outputs = {{.name = "y", .sizes = output_sizes}},
            .passes = {test_pass("forward", {"x", "w", "b"}, "y"),
                       test_pass("grad_weight", {"dy", "x"}, "dw")},
            .algebra = Algebra::products,
            .products = {{"x", "w"}, {"b"}}};
}

/// The test operator with sums of this many products.
inline Operator operator_with_sums_of(std::int64_t (*length)(const Problem&)) {
    Operator op = make_test_operator();
    for (PassSpec& pass : op.passes) pass.reduction_length = length;
    return op;
}

inline const Operator& test_operator() {
    static const Operator op = make_test_operator();
    return op;
}

/// An operator of these parameters whose one pass is a gradient.
inline Operator small_operator(
    ParameterSpace space, std::vector<Constraint> constraints = {},
    std::function<Sizes(const Problem&)> sizes = [](const Problem&) { return Sizes{1}; }) {
    return {.name = "small",
            .space = std::move(space),
            .constraints = std::move(constraints),
            .why_invalid = {},
            .inputs = {{.name = "x", .sizes = std::move(sizes)}},
            .passes = {test_pass("grad_weight", {"x"}, "dx")}};
}

/// b is a multiple of a = 2 and of c, and divides d, so that some values of c lead into a dead end.
inline std::vector<Constraint> chain_of_four(std::int64_t most_c, std::int64_t d) {
    return {where("b", multiple_of("a")),   where("b", multiple_of("c")),
            where("d", multiple_of("b")),   where("a", equals(2)),
            where("c", between(4, most_c)), where("b", between(5, 10)),
            where("d", equals(d))};
}

/// A kernel of the test operator that supports everything but empty problems.
inline KernelDeclaration test_kernel() {
    return {
        .operator_name = "filter", .pass_name = "grad_weight", .variant = "test", .device = "cpu"};
}

/// A kernel for stride 1, no padding and square filters.
inline KernelDeclaration plain_kernel() {
    KernelDeclaration kernel = test_kernel();
    kernel.where("stride", equals(1))
        .where("padding", equals(0))
        .where("dilation", equals(1))
        .where("groups", equals(1))
        .where("filter_h", same_as("filter_w"));
    return kernel;
}

/// The problems that a kernel of an operator's last pass supports.
struct Supported {
    Operator op;
    KernelDeclaration kernel;
    SupportedProblems problems;

    explicit Supported(KernelDeclaration declared = test_kernel(),
                       Operator described = make_test_operator())
        : op(std::move(described)),
          kernel(std::move(declared)),
          problems(op, op.passes.back(), kernel) {}
    Supported(const Supported&) = delete;
    Supported& operator=(const Supported&) = delete;

    operator const SupportedProblems&() const { return problems; }
    /// The domain of the lowest rank, and its class of a slot, by position or by name.
    const RankDomain& domain() const { return problems.domains().front(); }
    const SlotClass& of(int slot) const { return domain().at(domain().index_of(slot)); }
    const SlotClass& of(std::string_view slot) const {
        return of(op.space.find(slot, domain().rank).front());
    }
    Problem parse(std::string_view text) const { return Problem::parse(op.space, text); }
};

}  // namespace gradverify::testing
