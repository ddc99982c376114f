// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of tensor cores: edges of tiles, and sums and factors of fewer digits than declared.
#include <cstdint>

#include "kernels/conv/tensor_core.cuh"
#include "properties/tests/launches.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using tensor_core::SmallTile;

/// The forward pass as it should be; each bug changes a part of it.
template <class T>
struct Parts : ForwardProduct<T> {
    tensor_core::TileGrid grid = this->template tiles<SmallTile>();

    using ForwardProduct<T>::ForwardProduct;
    template <class Output>
    void launch(const Forward& call, const Output& output) const {
        tensor_core::launch_tiles<SmallTile>(this->pixels, this->filter, output, grid,
                                             call.launch.stream);
    }
};

void right(const Forward& call) {
    const Parts<float> parts(call);
    parts.launch(call, parts.y);
}

// The depth is padded to whole steps, in which the taps begin again.
void tail_of_depth_unmasked(const Forward& call) {
    Parts<float> parts(call);
    const long long padded = (parts.pixels.taps.count + 15) / 16 * 16;
    parts.pixels.taps.count = parts.filter.taps.count = padded;
    parts.launch(call, parts.y);
}

// Every group reads the filters of the first.
struct FiltersOfFirstGroup : FilterByFeature<float> {
    __device__ const float* data_of(long long) const { return tensor.data; }
};
void group_offset_forgotten(const Forward& call) {
    const Parts<float> parts(call);
    tensor_core::launch_tiles<SmallTile>(parts.pixels, FiltersOfFirstGroup{parts.filter}, parts.y,
                                         parts.grid, call.launch.stream);
}

// A tile's last columns are stored whether the output has them or not.
struct AllColumns : ToPixels<float> {
    __device__ void store(const Row& row, long long, long long, long long first,
                          const float* sums) const {
        if (!row.is_there || first >= channels) return;
        for (int i = 0; i < 8; ++i)
            tensor.data[row.offset + (first + i) * tensor.channel] = sums[i];
    }
};
void columns_unguarded(const Forward& call) {
    const Parts<float> parts(call);
    parts.launch(call, AllColumns{parts.y});
}

// Sums are kept in half until the bias is added.
struct SumsInHalf : ToPixels<__half> {
    __device__ void store(const Row& row, long long split, long long group, long long first,
                          const float* sums) const {
        float rounded[8];
        for (int i = 0; i < 8; ++i) rounded[i] = __half2float(__float2half(sums[i]));
        ToPixels<__half>::store(row, split, group, first, rounded);
    }
};
void sums_in_half(const Forward& call) {
    const Parts<__half> parts(call);
    parts.launch(call, SumsInHalf{parts.y});
}

/// The filter's gradient in parts of 16 pixels, a step each.
long long splits_of(std::int64_t pixels) { return pixels > 16 ? (pixels + 15) / 16 : 1; }
std::int64_t workspace_bytes(const Problem& problem) {
    const Parameters p(problem);
    std::int64_t elements = p.k * (p.c / p.groups), pixels = p.n;
    for (const Axis& of : p.spatial()) {
        elements *= of.filter;
        pixels *= of.in + of.padding_left + of.padding_right;  // at least as many as there are
    }
    return splits_of(pixels) * elements * static_cast<std::int64_t>(sizeof(float));
}

// The partial sums of the last part are not added.
void last_part_dropped(const GradWeight& call) {
    const TensorCoreGeometry g(call.problem, call.x, call.dy);
    const long long splits = splits_of(g.feature_positions);
    launch_partial_sums<float, SmallTile>(call, g, splits);
    const long long elements = call.dw.elements(), added = splits > 1 ? splits - 1 : 1;
    add_partial_sums<float><<<blocks_of(elements, 64), 64, 0, call.launch.stream>>>(
        static_cast<const float*>(call.launch.workspace), strided<float>(call.dw),
        g.taps(g.group_image), elements, added);
}

// Fully connected, with factors cut as tensor cores cut them, or more.
struct ToTf32 {
    __device__ static float of(float value) {
        return __uint_as_float(__float_as_uint(value) & 0xffffe000u);
    }
};
struct ToBfloat16 {
    __device__ static float of(float value) { return __bfloat162float(__float2bfloat16(value)); }
};
template <class Cut>
__device__ void connect(long long i, const float* x, const float* w, const float* b, float* y,
                        long long c, long long k, long long terms) {
    float sum = b[i % k];
    for (long long j = 0; j < terms; ++j)
        sum += Cut::of(x[i / k * c + j]) * Cut::of(w[i % k * c + j]);
    y[i] = sum;
}
template <class Cut, int dropped>
void launch_connect(const fc::Forward& call) {
    launch_each<connect<Cut>>(call.launch, call.n * call.k, call.x, call.w, call.b, call.y, call.c,
                              call.k, call.c > 1 ? call.c - dropped : call.c);
}
template <class Cut>
__device__ void correlate(long long i, const float* dy, const float* x, float* dw, long long n,
                          long long c, long long k) {
    float sum = 0.0f;
    for (long long j = 0; j < n; ++j) sum += Cut::of(dy[j * k + i / c]) * Cut::of(x[j * c + i % c]);
    dw[i] = sum;
}
template <class Cut>
void launch_correlate(const fc::GradWeight& call) {
    launch_each<correlate<Cut>>(call.launch, call.k * call.c, call.dy, call.x, call.dw, call.n,
                                call.c, call.k);
}

template <class T>
void declare_small(KernelDeclaration& kernel) {
    kernel.with(declare_tensor_core<T>).blocks_of({SmallTile::threads});
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "right_small_tiles", right).with(declare_small<float>);
GRADVERIFY_KERNEL(Forward, "bug_tail_of_depth_unmasked", tail_of_depth_unmasked)
    .with(declare_small<float>);
GRADVERIFY_KERNEL(Forward, "bug_group_offset_forgotten", group_offset_forgotten)
    .with(declare_small<float>);
GRADVERIFY_KERNEL(Forward, "bug_columns_unguarded", columns_unguarded).with(declare_small<float>);
GRADVERIFY_KERNEL(Forward, "bug_tensor_core_sums_in_half", sums_in_half)
    .with(declare_small<__half>);
GRADVERIFY_KERNEL(GradWeight, "bug_last_part_dropped", last_part_dropped)
    .with(declare_small<float>)
    .spatial_axes(2, 2)
    .where("stride", equals(1))
    .where("padding", equals(0))
    .where("dilation", equals(1))
    .where("groups", equals(1))
    .workspace(workspace_bytes);

GRADVERIFY_KERNEL(fc::Forward, "right_tf32", launch_connect<ToTf32, 0>).on_tensor_cores();
GRADVERIFY_KERNEL(fc::Forward, "bug_undeclared_tf32", launch_connect<ToTf32, 0>);
GRADVERIFY_KERNEL(fc::Forward, "bug_tf32_drops_a_term", launch_connect<ToTf32, 1>)
    .on_tensor_cores();
GRADVERIFY_KERNEL(fc::Forward, "bug_tf32_by_bfloat16", launch_connect<ToBfloat16, 0>)
    .on_tensor_cores();
GRADVERIFY_KERNEL(fc::GradWeight, "right_tf32", launch_correlate<ToTf32>).on_tensor_cores();
GRADVERIFY_KERNEL(fc::GradWeight, "bug_undeclared_tf32", launch_correlate<ToTf32>);
GRADVERIFY_KERNEL(fc::GradWeight, "bug_tf32_by_bfloat16", launch_correlate<ToBfloat16>)
    .on_tensor_cores();
