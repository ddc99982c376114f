// SPDX-License-Identifier: Apache-2.0
// Kernels that only multiply and add in registers: their speed is the ceiling for `bench`.
#include <mma.h>

#include "harness/devices/cuda_timer.hpp"

namespace gradverify::detail {

namespace {

constexpr int threads = 256, blocks_per_multiprocessor = 8, rounds = 4096;
// Independent sums of a thread, or of a warp: an fma takes 4 cycles, a matrix product some 30.
constexpr int chains = 8, tiles = 4;
constexpr int tile = 16;

template <class T>
__global__ void multiply_and_add(T* sink, T factor) {
    T sums[chains];
    for (int i = 0; i < chains; ++i) sums[i] = static_cast<T>(threadIdx.x + i);
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int i = 0; i < chains; ++i) sums[i] = fma(sums[i], factor, factor);
    T sum = 0;
    for (int i = 0; i < chains; ++i) sum += sums[i];
    // This is never true, but the compiler can't know.
    if (sum == T(-1)) *sink = sum;
}

// Tiles of half exist from sm_70 on, tiles of tf32 from sm_80 on.
constexpr int half_depth = 16, tf32_depth = 8;

template <class T, int depth>
__global__ void multiply_tiles(float* sink) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    namespace wmma = nvcuda::wmma;
    wmma::fragment<wmma::matrix_a, tile, tile, depth, T, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, tile, tile, depth, T, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, tile, tile, depth, float> sums[tiles];
    wmma::fill_fragment(a, 0.5f);
    wmma::fill_fragment(b, 0.25f);
    for (int i = 0; i < tiles; ++i) wmma::fill_fragment(sums[i], static_cast<float>(threadIdx.x));
    for (int round = 0; round < rounds; ++round)
#pragma unroll
        for (int i = 0; i < tiles; ++i) wmma::mma_sync(sums[i], a, b, sums[i]);
    float sum = 0.0f;
    for (int i = 0; i < tiles; ++i) sum += sums[i].x[0];
    if (sum == -1.0f) *sink = sum;
#endif
}

/// Whether the code for this device was compiled with matrix units of both types.
bool has_matrix_units() {
    cudaFuncAttributes attributes{};
    return cudaFuncGetAttributes(&attributes, multiply_tiles<half, half_depth>) == cudaSuccess &&
           attributes.ptxVersion >= 80;
}

}  // namespace

double launch_ceiling_kernel(CeilingKernel kernel, int multiprocessors, void* sink,
                             CUstream_st* stream) {
    const int blocks = multiprocessors * blocks_per_multiprocessor;
    const double all_threads = static_cast<double>(blocks) * threads;
    if (kernel == CeilingKernel::f32_fma)
        multiply_and_add<<<blocks, threads, 0, stream>>>(static_cast<float*>(sink), 0.999f);
    if (kernel == CeilingKernel::f64_fma)
        multiply_and_add<<<blocks, threads, 0, stream>>>(static_cast<double*>(sink), 0.999);
    const bool is_half = kernel == CeilingKernel::f16_mma;
    if (!is_half && kernel != CeilingKernel::tf32_mma) return all_threads * rounds * chains * 2.0;
    if (!has_matrix_units()) return 0.0;
    if (is_half)
        multiply_tiles<half, half_depth><<<blocks, threads, 0, stream>>>(static_cast<float*>(sink));
    else
        multiply_tiles<nvcuda::wmma::precision::tf32, tf32_depth>
            <<<blocks, threads, 0, stream>>>(static_cast<float*>(sink));
    const int depth = is_half ? half_depth : tf32_depth;
    return all_threads / 32.0 * rounds * tiles * (2.0 * tile * tile * depth);
}

}  // namespace gradverify::detail
