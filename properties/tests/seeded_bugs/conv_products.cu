// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of convolutions as products: groups, dilation, split sums, phases of the stride.
#include "kernels/fast/conv/implicit_gemm_split.cuh"
#include "reference/conv.hpp"
#include "reference/conv_transpose.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

GemmOperands<float> operands(const Forward& call) {
    return gemm_operands<float>(call.problem, call.x, call.y, call.w);
}
GemmOperands<float> operands(const GradInput& call) {
    return gemm_operands<float>(call.problem, call.dx, call.dy, call.w);
}
GemmOperands<float> operands(const GradWeight& call) {
    return gemm_operands<float>(call.problem, call.x, call.dy, call.dw);
}

template <class Break>
void forward(const Forward& call, Break make_wrong) {
    if (call.y.elements() == 0) return;
    const auto of = operands(call);
    auto tensors = features_tensors<long long>(of, call.b.as<const float>());
    auto walk = features_walk<long long>(of);
    make_wrong(of, tensors, walk);
    launch_walk(tensors, walk, features_shape(of.g), call.launch);
}

template <class Break>
void grad_input(const GradInput& call, Break make_wrong) {
    if (call.dx.elements() == 0) return;
    const auto of = operands(call);
    auto tensors = image_tensors<long long, float>(of, nullptr);
    auto walk = image_walk<long long>(of);
    make_wrong(of, tensors, walk);
    launch_walk(tensors, walk, image_shape(of.g), call.launch);
}

// Every group reads the channels of the first.
void first_groups_image(const Forward& call) {
    forward(call, [](auto&, auto& tensors, auto&) { tensors.b_group = 0; });
}

// The groups of the filter lie apart by channels, not by features.
void group_of_filter(const GradInput& call) {
    grad_input(call, [](auto& of, auto& tensors, auto&) {
        tensors.a_group = of.g.group_image * of.w.outer;
    });
}

// Taps lie side by side, whatever the dilation.
void dilation_ignored(const Forward& call) {
    forward(call, [](auto&, auto&, auto& walk) {
        for (auto& axis : walk.axes) axis.term_step = 1;
    });
}

// A phase's first tap as if there were no dilation.
void phase_without_dilation(const GradInput& call) {
    grad_input(call, [](auto&, auto&, auto& walk) {
        for (auto& axis : walk.axes) axis.inverse = 1;
    });
}

// The padding does not move the phases.
void phase_without_padding(const GradInput& call) {
    grad_input(call, [](auto&, auto&, auto& walk) {
        for (auto& axis : walk.axes) axis.padding = 0;
    });
}

// No more phases than taps: pixels that no tap reaches are not written.
void phases_by_taps(const GradInput& call) {
    grad_input(call, [](auto&, auto&, auto& walk) {
        for (auto& axis : walk.axes)
            if (axis.filter < axis.phases) axis.phases = axis.filter;
    });
}

/// How a sum is split, and which shares are added up.
struct Split {
    Shares shares;
    long long launched, summed;
};

template <GemmResult result, class Break>
void grad_weight(const GradWeight& call, bool starts_at_zero, Break make_wrong) {
    const auto of = operands(call);
    const DirectGeometry& g = of.g;
    const GemmShape shape{
        .rows = g.group_features,
        .columns = g.group_image * g.axes[0].filter * g.axes[1].filter * g.axes[2].filter};
    const Shares shares = shares_of(of, shape, call.launch.block_size);
    Split split{shares, shares.count(), shares.count()};
    make_wrong(split, most_shares<GemmTiles<float>::Large>(shape, of.groups));
    auto* const partials = static_cast<float*>(call.launch.workspace);
    if (starts_at_zero) launch_sum_shares<float>(partials, 0, of, call.launch);
    if (split.launched > 0)
        launch_gemm<result, float, long long>(
            filter_tensors<long long>(of), filter_walk<long long>(of),
            {.slices = split.launched, .terms_of_slice = split.shares.terms_of_share}, shape,
            partials, call.launch);
    if (result == GemmResult::partial)
        launch_sum_shares<float>(partials, split.summed, of, call.launch);
}

// A last share with fewer terms than the others is left out.
void last_share_dropped(const GradWeight& call) {
    grad_weight<GemmResult::partial>(call, false, [](Split& split, long long) {
        const Shares& shares = split.shares;
        if (split.launched > 1 && shares.terms % shares.terms_of_share != 0)
            split.launched = split.summed = split.launched - 1;
    });
}

// Shares are added to what dw happens to hold.
void shares_onto_anything(const GradWeight& call) {
    grad_weight<GemmResult::added>(call, call.dy.elements() == 0, [](Split&, long long) {});
}

// Adds up as many shares as a longer sum has.
void more_shares_than_terms(const GradWeight& call) {
    grad_weight<GemmResult::partial>(call, false,
                                     [](Split& split, long long most) { split.summed = most; });
}

constexpr auto declare_gemm = declare_implicit_gemm<float>;

/// Limits the problems, so that all smaller ones can be run.
void declare_single_channels(KernelDeclaration& kernel) {
    kernel.with(declare_gemm).spatial_axes(1, 1).where("c", equals(1)).where("k", equals(1));
}

std::int64_t workspace_bytes(const Problem& problem) {
    const Parameters p(problem);
    return split_workspace<float>(p, p.k, p.c);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_first_groups_image", first_groups_image).with(declare_gemm);
GRADVERIFY_KERNEL(GradInput, "bug_group_of_filter", group_of_filter)
    .with(declare_gemm)
    .spatial_axes(1, 1);
GRADVERIFY_KERNEL(Forward, "bug_dilation_ignored", dilation_ignored).with(declare_gemm);
GRADVERIFY_KERNEL(GradInput, "bug_phase_without_dilation", phase_without_dilation)
    .with(declare_single_channels)
    .where("n", equals(1));
GRADVERIFY_KERNEL(GradInput, "bug_phase_without_padding", phase_without_padding).with(declare_gemm);
GRADVERIFY_KERNEL(GradInput, "bug_phases_by_taps", phases_by_taps).with(declare_gemm);
GRADVERIFY_KERNEL(GradWeight, "bug_last_share_dropped", last_share_dropped)
    .with(declare_single_channels)
    .where("filter", equals(1))
    .where("stride", equals(1))
    .where("padding", equals(0))
    .workspace(workspace_bytes);
GRADVERIFY_KERNEL(GradWeight, "bug_shares_onto_anything", shares_onto_anything)
    .with(declare_gemm)
    .not_deterministic();
GRADVERIFY_KERNEL(GradWeight, "bug_more_shares_than_terms", more_shares_than_terms)
    .with(declare_gemm)
    .workspace(workspace_bytes);
