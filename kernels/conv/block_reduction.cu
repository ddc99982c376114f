// SPDX-License-Identifier: Apache-2.0
// conv.grad_bias/block_reduction: a block for each output channel; threads sum strided shares,
// warps reduce by shuffles, the first warp reduces the warps.
// conv.grad_weight/tree_reduction: a block for each filter element; threads sum strided shares, and
// a tree in shared memory adds them up.
#include <cstdint>

#include "kernels/conv/geometry.cuh"
#include "kernels/kernel.cuh"

namespace {

using namespace gradverify::conv;

constexpr unsigned full_warp = 0xffffffffu;

__device__ float sum_of_warp(float value) {
    for (int distance = warpSize / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(full_warp, value, distance);
    return value;
}

// dy: batch, channels, pixels; db: channels. The block's size is a multiple of a warp.
__global__ void sum_channel(const float* dy, float* db, long long batch, long long channels,
                            long long pixels) {
    __shared__ float sum_of[32];
    const long long k = blockIdx.x;
    const int lane = threadIdx.x % warpSize;
    const int warp = threadIdx.x / warpSize;

    float sum = 0.0f;
    for (long long i = threadIdx.x; i < batch * pixels; i += blockDim.x)
        sum += dy[(i / pixels * channels + k) * pixels + i % pixels];
    sum = sum_of_warp(sum);
    if (lane == 0) sum_of[warp] = sum;
    __syncthreads();
    if (warp > 0) return;
    const int warps = blockDim.x / warpSize;
    sum = sum_of_warp(lane < warps ? sum_of[lane] : 0.0f);
    if (lane == 0) db[k] = sum;
}

void grad_bias(const GradBias& call) {
    const auto blocks = static_cast<unsigned>(call.problem.k);
    sum_channel<<<blocks, call.launch.block_size, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), call.problem.n, call.problem.k,
        call.dy.size(2) * call.dy.size(3));
}

constexpr int tree_threads = 256;

// dy: n, k, out; x: n, c, in; dw: k, c, filter.
__global__ void reduce_filter_element(const float* dy, const float* x, float* dw,
                                      DeviceGeometry g) {
    __shared__ float partial[tree_threads];
    const long long element = blockIdx.x;
    const long long fw = element % g.w.filter;
    const long long fh = element / g.w.filter % g.h.filter;
    const long long c = element / (g.w.filter * g.h.filter) % g.c;
    const long long k = element / (g.w.filter * g.h.filter * g.c);

    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < g.n * pixels; i += tree_threads) {
        const long long n = i / pixels, oh = i % pixels / g.w.out, ow = i % pixels % g.w.out;
        const long long ih = g.h.pixel(oh, fh), iw = g.w.pixel(ow, fw);
        if (ih < 0 || iw < 0) continue;
        sum += dy[(n * g.k + k) * pixels + oh * g.w.out + ow] *
               x[((n * g.c + c) * g.h.in + ih) * g.w.in + iw];
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = tree_threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) dw[element] = partial[0];
}

void grad_weight(const GradWeight& call) {
    const auto blocks = static_cast<unsigned>(call.dw.elements());
    reduce_filter_element<<<blocks, tree_threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dw.as<float>(),
        device_geometry(call.problem, call.dy));
}

}  // namespace

GRADVERIFY_KERNEL(GradBias, "block_reduction", grad_bias)
    .with(declare_elements_on_stream<float>)
    .blocks_of({256, 32, 96, 1024})
    .costs({.threads_per_output = 256, .barriers_per_thread = 11});
GRADVERIFY_KERNEL(GradWeight, "tree_reduction", grad_weight)
    .with(declare_elements_on_stream<float>)
    .where("dilation", gradverify::equals(1))
    .where("groups", gradverify::equals(1))
    .up_to_elements(INT32_MAX)
    .costs({.threads_per_output = tree_threads, .barriers_per_thread = 9});
