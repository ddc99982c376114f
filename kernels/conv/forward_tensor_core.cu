// SPDX-License-Identifier: Apache-2.0
// conv.forward/tensor_core: y as a product of matrices on tensor cores, pixels by output channels
// over taps and input channels.
#include "kernels/conv/tensor_core.cuh"

namespace {

using namespace gradverify;
using gradverify::conv::declare_tensor_core;
using gradverify::conv::declare_tensor_core_nhwc;

template <class T>
void launch(const conv::Forward& call) {
    const conv::TensorCoreGeometry g(call.problem, call.x, call.y);
    const auto pixels = g.window<T, true>(call.x);
    const conv::FilterByFeature<T> filter{conv::layout_of<const T>(call.w), g.group_features,
                                          pixels.taps, conv::has_chunks<T>(call.w, g.group_image)};
    const conv::ToPixels<T> y{conv::layout_of<T>(call.y), g.over_features(), call.b.as<const T>(),
                              g.group_features, conv::has_chunks<T>(call.y, g.group_features)};
    conv::with_tile(call.launch.block_size, [&](auto shape) {
        using Shape = decltype(shape);
        tensor_core::launch_tiles<Shape>(
            pixels, filter, y,
            tensor_core::tile_grid<Shape, T>(g.feature_positions, g.group_features,
                                             pixels.taps.count, g.groups, 1),
            call.launch.stream);
    });
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "tensor_core_f16", launch<__half>)
    .with(declare_tensor_core<__half>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "tensor_core_bf16", launch<__nv_bfloat16>)
    .with(declare_tensor_core<__nv_bfloat16>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "tensor_core_tf32", launch<float>)
    .with(declare_tensor_core<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "tensor_core_f16_nhwc", launch<__half>)
    .with(declare_tensor_core_nhwc<__half>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "tensor_core_bf16_nhwc", launch<__nv_bfloat16>)
    .with(declare_tensor_core_nhwc<__nv_bfloat16>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "tensor_core_tf32_nhwc", launch<float>)
    .with(declare_tensor_core_nhwc<float>);
