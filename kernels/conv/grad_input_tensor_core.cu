// SPDX-License-Identifier: Apache-2.0
// conv.grad_input/tensor_core: dx as a product of matrices on tensor cores, pixels by input
// channels over taps and output channels.
#include "kernels/conv/tensor_core.cuh"

namespace {

using namespace gradverify;
using gradverify::conv::declare_tensor_core;
using gradverify::conv::declare_tensor_core_nhwc;

template <class T>
void launch(const conv::GradInput& call) {
    const conv::TensorCoreGeometry g(call.problem, call.dx, call.dy);
    const auto pixels = g.window<T, true, true>(call.dy, g.group_features);
    const conv::ByChannel<T, conv::Taps> filter{conv::layout_of<const T>(call.w), pixels.taps,
                                                g.group_image, g.group_features * call.w.stride(0),
                                                conv::has_chunks<T>(call.w, g.group_image)};
    const conv::ToPixels<T> dx{conv::layout_of<T>(call.dx), g.over_image(), nullptr, g.group_image,
                               conv::has_chunks<T>(call.dx, g.group_image)};
    conv::with_tile(call.launch.block_size, [&](auto shape) {
        using Shape = decltype(shape);
        tensor_core::launch_tiles<Shape>(
            pixels, filter, dx,
            tensor_core::tile_grid<Shape, T>(g.image_positions, g.group_image, pixels.taps.count,
                                             g.groups, 1),
            call.launch.stream);
    });
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_f16", launch<__half>)
    .with(declare_tensor_core<__half>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_bf16", launch<__nv_bfloat16>)
    .with(declare_tensor_core<__nv_bfloat16>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_tf32", launch<float>)
    .with(declare_tensor_core<float>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_f16_nhwc", launch<__half>)
    .with(declare_tensor_core_nhwc<__half>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_bf16_nhwc", launch<__nv_bfloat16>)
    .with(declare_tensor_core_nhwc<__nv_bfloat16>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "tensor_core_tf32_nhwc", launch<float>)
    .with(declare_tensor_core_nhwc<float>);
