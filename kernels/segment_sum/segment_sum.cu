// SPDX-License-Identifier: Apache-2.0
// segment_sum.forward/naive: a thread for each sum.
// segment_sum.forward/rows: a block for each part, whose warps share its rows.
// segment_sum.grad_x/search: a thread for each element finds its part by bisection.
// segment_sum.grad_x/parts: a block for each part writes its rows.
#include "kernels/kernel.cuh"

namespace {

using gradverify::TensorView;

struct Forward : gradverify::Pass<"segment_sum", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), offsets = tensor("offsets"), y = tensor("y");
    std::int64_t parts = size("parts"), width = size("width");
};
struct GradX : gradverify::Pass<"segment_sum", "grad_x"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), offsets = tensor("offsets"), dx = tensor("dx");
    std::int64_t parts = size("parts"), width = size("width");
};

__global__ void sum_parts(const float* x, const int* offsets, float* y, long long elements,
                          long long width) {
    const long long i = thread_in_grid();
    if (i >= elements) return;
    float sum = 0.0f;
    for (long long t = offsets[i / width]; t < offsets[i / width + 1]; ++t)
        sum += x[t * width + i % width];
    y[i] = sum;
}

void forward(const Forward& call) {
    const long long elements = call.y.elements();
    sum_parts<<<blocks_of(elements, 128), 128, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.offsets.as<const int>(), call.y.as<float>(), elements,
        call.width);
}

constexpr int warps = 8;

/// Lanes go along the width, warps down the rows.
__global__ void sum_rows(const float* x, const int* offsets, float* y, long long width) {
    __shared__ float sums[warps][32];
    const long long part = blockIdx.x, j = blockIdx.y * 32LL + threadIdx.x;
    float sum = 0.0f;
    for (long long t = offsets[part] + threadIdx.y; t < offsets[part + 1] && j < width; t += warps)
        sum += x[t * width + j];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y != 0 || j >= width) return;
    for (int warp = 1; warp < warps; ++warp) sum += sums[warp][threadIdx.x];
    y[part * width + j] = sum;
}

void forward_by_rows(const Forward& call) {
    const dim3 grid(static_cast<unsigned>(call.parts),
                    static_cast<unsigned>((call.width + 31) / 32));
    sum_rows<<<grid, dim3(32, warps), 0, call.launch.stream>>>(
        call.x.as<const float>(), call.offsets.as<const int>(), call.y.as<float>(), call.width);
}

/// The last part that begins at the row or before, so that empty parts are passed over.
__device__ long long part_of(long long row, const int* offsets, long long parts) {
    long long first = 0, behind = parts;
    while (behind - first > 1) {
        const long long middle = (first + behind) / 2;
        (offsets[middle] <= row ? first : behind) = middle;
    }
    return first;
}

__global__ void spread(const float* dy, const int* offsets, float* dx, long long elements,
                       long long parts, long long width) {
    const long long i = thread_in_grid();
    if (i < elements) dx[i] = dy[part_of(i / width, offsets, parts) * width + i % width];
}

void grad_x_by_search(const GradX& call) {
    const long long elements = call.dx.elements();
    if (elements == 0) return;
    spread<<<blocks_of(elements, 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.offsets.as<const int>(), call.dx.as<float>(), elements,
        call.parts, call.width);
}

__global__ void spread_part(const float* dy, const int* offsets, float* dx, long long width) {
    const long long part = blockIdx.x, begin = offsets[part] * width;
    const long long elements = offsets[part + 1] * width - begin;
    for (long long i = threadIdx.x; i < elements; i += blockDim.x)
        dx[begin + i] = dy[part * width + i % width];
}

void grad_x_by_parts(const GradX& call) {
    spread_part<<<static_cast<unsigned>(call.parts), 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.offsets.as<const int>(), call.dx.as<float>(), call.width);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "naive", forward).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(Forward, "rows", forward_by_rows)
    .with(declare_elements_on_stream<float>)
    .where("width", gradverify::between(1, 65535 * 32));
GRADVERIFY_KERNEL(GradX, "search", grad_x_by_search).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(GradX, "parts", grad_x_by_parts).with(declare_elements_on_stream<float>);
