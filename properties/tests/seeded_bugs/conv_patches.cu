// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of convolutions by patches, and of depthwise ones. Left out for cuda without cuBLAS.
#if !defined(GRADVERIFY_NO_CUBLAS) || !defined(__NVCC__)
#include "kernels/conv/depthwise.cuh"
#include "kernels/fast/conv/im2col.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

// Samples behind the last whole chunk, of four, get the bias alone.
void remainder_skipped(const Forward& call) {
    const long long n = call.problem.n;
    patches_to_features<float>(call, n < 4 ? n : n / 4 * 4);
}

/// Keeps the last of the patches that hold a pixel.
__global__ void fold_last(const float* patches, float* dx, DirectGeometry g, long long elements) {
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long positions = d.features * h.features * v.features;
    const long long taps = d.filter * h.filter * v.filter;
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        long long out[3], in[3], tap[3];
        const long long channel = split(i, d.image, h.image, v.image, in);
        float last = 0.0f;
        for (long long row = 0; row < taps; ++row) {
            split(row, d.filter, h.filter, v.filter, tap);
            for (int axis = 0; axis < 3; ++axis)
                out[axis] = g.axes[axis].feature(in[axis], tap[axis]);
            if (out[0] < 0 || out[1] < 0 || out[2] < 0) continue;
            const long long column = (out[0] * h.features + out[1]) * v.features + out[2];
            last = patches[(channel * taps + row) * positions + column];
        }
        dx[i] = last;
    }
}

// Where patches overlap, one is written over the other.
void overlaps_overwritten(const GradInput& call) {
    if (call.dx.elements() == 0) return;
    const auto patches = patches_of<float>(call.problem, call.dx, call.dy, call.launch);
    const Launch& on = call.launch;
    features_to_patches(call, patches);
    fold_last<<<blocks_of_loop(call.dx.elements(), on.block_size), on.block_size, 0, on.stream>>>(
        patches.data, call.dx.as<float>(), patches.g, call.dx.elements());
}

// Channel k of y reads channel k of x, modulo their number.
void multiplier_ignored(const Forward& call) {
    if (call.y.elements() == 0) return;
    Parameters p = call.problem;
    p.groups = 1;
    for (std::int64_t k = 0; k < call.problem.k; ++k) {
        TensorView of_x = call.x, of_w = call.w, of_b = call.b, of_y = call.y;
        const std::int64_t channel = k % call.problem.c;
        of_x.data = call.x.as<float>() + channel * call.x.stride(1);
        of_w.data = call.w.as<float>() + k * call.w.stride(0);
        of_y.data = call.y.as<float>() + k * call.y.stride(1);
        of_x.sizes[1] = of_w.sizes[0] = of_y.sizes[1] = 1;
        of_b.data = call.b.as<float>() + k;
        launch_depthwise_to_features<float>(p, of_x, of_w, of_b, of_y, call.launch);
    }
}

// Only the first of the channels of y that read a channel of x adds to its gradient.
void first_of_multiplier(const GradInput& call) {
    if (call.dx.elements() == 0) return;
    TensorView dy = call.dy, w = call.w;
    const std::int64_t multiplier = call.problem.k / call.problem.groups;
    dy.sizes[1] /= multiplier;
    dy.strides[1] *= multiplier;
    w.sizes[0] /= multiplier;
    w.strides[0] *= multiplier;
    launch_depthwise_to_image<float>(call.problem, dy, w, call.dx, call.launch);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "bug_remainder_skipped", remainder_skipped).with(declare_patches<float>);
GRADVERIFY_KERNEL(GradInput, "bug_overlaps_overwritten", overlaps_overwritten)
    .with(declare_patches<float>);
GRADVERIFY_KERNEL(Forward, "bug_multiplier_ignored", multiplier_ignored)
    .with(declare_depthwise<float>)
    .spatial_axes(1, 1);
GRADVERIFY_KERNEL(GradInput, "bug_first_of_multiplier", first_of_multiplier)
    .with(declare_depthwise<float>);

#endif
