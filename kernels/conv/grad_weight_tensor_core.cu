// SPDX-License-Identifier: Apache-2.0
// conv.grad_weight/tensor_core: dw as a product of matrices on tensor cores, output channels by
// taps and input channels over pixels. There are few of the former and many pixels, so that these
// are split: each part leaves its sums in the workspace, and a second kernel adds them, always in
// the same order.
#include "kernels/conv/tensor_core.cuh"

namespace {

using namespace gradverify;
using gradverify::conv::declare_tensor_core;
using gradverify::conv::declare_tensor_core_nhwc;

long long divided_up(long long a, long long b) { return (a + b - 1) / b; }

long long out_size(const conv::Axis& axis) {
    const long long reach = axis.dilation * (axis.filter - 1) + 1;
    const long long room = axis.in + axis.padding_left + axis.padding_right - reach;
    return room < 0 ? 0 : room / axis.stride + 1;
}

/// In how many parts the pixels are added up: enough blocks for two on each of a GPU's
/// multiprocessors, but a part is some steps long.
long long splits_of(const conv::Parameters& p) {
    constexpr long long blocks = 264, steps_at_least = 4, step_pixels = 32;
    long long taps = p.c / p.groups, pixels = p.n;
    for (int axis = 0; axis < p.rank; ++axis) {
        taps *= p.axes[static_cast<std::size_t>(axis)].filter;
        pixels *= out_size(p.axes[static_cast<std::size_t>(axis)]);
    }
    const long long tiles = p.groups * divided_up(p.k / p.groups, tensor_core::LargeTile::m) *
                            divided_up(taps, tensor_core::LargeTile::n);
    const long long most =
        pixels < 4096 ? divided_up(pixels, step_pixels) : pixels / (step_pixels * steps_at_least);
    const long long wanted = divided_up(blocks, tiles < 1 ? 1 : tiles);
    const long long splits = wanted < most ? wanted : most;
    return splits < 1 ? 1 : splits;
}

std::int64_t workspace_bytes(const Problem& problem) {
    const conv::Parameters p(problem);
    long long elements = p.k * (p.c / p.groups);
    for (int axis = 0; axis < p.rank; ++axis)
        elements *= p.axes[static_cast<std::size_t>(axis)].filter;
    return splits_of(p) * elements * static_cast<long long>(sizeof(float));
}

template <class T>
void launch(const conv::GradWeight& call) {
    const conv::TensorCoreGeometry g(call.problem, call.x, call.dy);
    const long long splits = splits_of(call.problem);
    const conv::ByChannel<T, conv::Positions> features{
        conv::layout_of<const T>(call.dy), g.over_features(), g.group_features,
        g.group_features * call.dy.stride(1), conv::has_chunks<T>(call.dy, g.group_features)};
    const auto pixels = g.window<T, false>(call.x);
    const conv::ToPartialSums sums{static_cast<float*>(call.launch.workspace), g.group_features,
                                   pixels.taps.count, g.groups};
    conv::with_tile(call.launch.block_size, [&](auto shape) {
        using Shape = decltype(shape);
        tensor_core::launch_tiles<Shape>(
            features, pixels, sums,
            tensor_core::tile_grid<Shape, T>(g.group_features, pixels.taps.count,
                                             g.feature_positions, g.groups, splits),
            call.launch.stream);
    });
    const long long elements = call.dw.elements();
    const long long blocks = divided_up(elements, call.launch.block_size);
    conv::add_partial_sums<T><<<static_cast<unsigned>(blocks < 65536 ? blocks : 65536),
                                call.launch.block_size, 0, call.launch.stream>>>(
        sums.sums, conv::layout_of<T>(call.dw), pixels.taps, elements, splits);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "tensor_core_f16", launch<__half>)
    .with(declare_tensor_core<__half>)
    .workspace(workspace_bytes);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "tensor_core_bf16", launch<__nv_bfloat16>)
    .with(declare_tensor_core<__nv_bfloat16>)
    .workspace(workspace_bytes);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "tensor_core_tf32", launch<float>)
    .with(declare_tensor_core<float>)
    .workspace(workspace_bytes);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "tensor_core_f16_nhwc", launch<__half>)
    .with(declare_tensor_core_nhwc<__half>)
    .workspace(workspace_bytes);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "tensor_core_bf16_nhwc", launch<__nv_bfloat16>)
    .with(declare_tensor_core_nhwc<__nv_bfloat16>)
    .workspace(workspace_bytes);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "tensor_core_tf32_nhwc", launch<float>)
    .with(declare_tensor_core_nhwc<float>)
    .workspace(workspace_bytes);
