// SPDX-License-Identifier: Apache-2.0
// The museum's pieces of conv, fc and segment_sum.
#include <type_traits>

#include <cuda_fp8.h>

#include "properties/tests/museum/pair.cuh"
#include "properties/tests/seeded_bugs/plain_conv.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify::plain_conv;
using gradverify::declare_atomics;
using gradverify::declare_piece;
using gradverify::DType;

// A pixel that no output reads through the one tap is never written.
struct OnlyReadPixels : RightConv {
    __device__ static bool is_written(const DeviceGeometry& g, long long ih, long long iw) {
        const bool is_pointwise = g.h.filter == 1 && g.w.filter == 1;
        return !is_pointwise || (g.h.output(ih, 0) >= 0 && g.w.output(iw, 0) >= 0);
    }
};

// The gradients of pointwise filters are made for the first channel, and the others stay zero.
void first_plane(const GradInput& call) {
    const DeviceGeometry g = gradverify::conv::device_geometry(call.problem, call.dy);
    const bool is_pointwise = g.h.filter == 1 && g.w.filter == 1;
    clear(call.dx, call.launch);
    launch_each<grad_input<RightConv>>(call.launch,
                                       is_pointwise ? g.h.in * g.w.in : call.dx.elements(), call.dy,
                                       call.w, call.dx, g);
}

using Weights = gradverify::fc::GradWeight;
using e4m3 = __nv_fp8_e4m3;
using e5m2 = __nv_fp8_e5m2;

// The cotangent's bytes are E5M2, and taken for E4M3.
template <class Taken>
__device__ void products(int i, const void* dy, const e4m3* x, float* dw, int n, int c, int k) {
    float sum = 0.0f;
    for (int row = 0; row < n; ++row)
        sum += static_cast<float>(static_cast<const Taken*>(dy)[row * k + i / c]) *
               static_cast<float>(x[row * c + i % c]);
    dw[i] = sum;
}

template <bool is_fixed>
void weights(const Weights& call) {
    using Taken = std::conditional_t<is_fixed, e5m2, e4m3>;
    launch_each<products<Taken>>(call.launch, call.dw.elements(), call.dy.data, call.x, call.dw,
                                 call.n, call.c, call.k);
}
void declare_bytes(gradverify::KernelDeclaration& kernel) {
    kernel.with(declare_piece)
        .storage(DType::f32)
        .storage("dy", DType::f8e5m2)
        .storage("x", DType::f8e4m3);
}

struct Sums : gradverify::Pass<"segment_sum", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), offsets = tensor("offsets"), y = tensor("y");
    std::int64_t total = size("total"), parts = size("parts"), width = size("width");
};

constexpr int threads = 64;

__device__ int part_of(const int* offsets, int parts, int row) {
    int part = 0;
    while (part + 1 < parts && offsets[part + 1] <= row) ++part;
    return part;
}

// A barrier of a block stands between the clearing of y and the sums that other blocks add to it.
template <bool clears>
__global__ void clear_and_add(const float* x, const int* offsets, float* y, int total, int parts,
                              int width) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (clears && i < parts * width) y[i] = 0.0f;
    __syncthreads();
    if (i < total * width)
        atomicAdd(&y[part_of(offsets, parts, i / width) * width + i % width], x[i]);
}

template <bool is_fixed>
void in_one_kernel(const Sums& call) {
    if (is_fixed) clear(call.y, call.launch);
    const long long rows = call.total > call.parts ? call.total : call.parts;
    launch_blocks(call.launch, clear_and_add<!is_fixed>, blocks_of(rows * call.width, threads),
                  threads, call.x, call.offsets, call.y, call.total, call.parts, call.width);
}

// Nothing to add up, nothing to do: y keeps what was in it.
template <bool is_fixed>
void returns_early(const Sums& call) {
    if (is_fixed) clear(call.y, call.launch);
    if (call.total == 0) return;
    if (!is_fixed) clear(call.y, call.launch);
    launch_blocks(call.launch, clear_and_add<false>, blocks_of(call.total * call.width, threads),
                  threads, call.x, call.offsets, call.y, call.total, call.parts, call.width);
}

void declare_empty(gradverify::KernelDeclaration& kernel) {
    kernel.with(declare_atomics).with_empty_problems();
}

}  // namespace

GRADVERIFY_KERNEL(GradInput, "museum_pixels_between_strides", launch_grad_input<OnlyReadPixels>)
    .with(declare_piece);
GRADVERIFY_KERNEL(GradInput, "museum_first_plane", first_plane).with(declare_piece);
GRADVERIFY_KERNEL(GradInput, "fixed_museum", launch_grad_input<RightConv>).with(declare_piece);
GRADVERIFY_MUSEUM_PAIR(Weights, "e5m2_taken_for_e4m3", weights, declare_bytes);
GRADVERIFY_MUSEUM_PAIR(Sums, "cleared_by_another_block", in_one_kernel, declare_atomics);
GRADVERIFY_MUSEUM_PAIR(Sums, "empty_total", returns_early, declare_empty);
