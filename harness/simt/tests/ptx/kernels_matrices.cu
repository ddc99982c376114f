// SPDX-License-Identifier: Apache-2.0
// What wmma asks of a warp and of a matrix in memory, and is not given.
#include <cuda_runtime.h>
#include <mma.h>

#include "harness/simt/tests/launcher.hpp"

namespace wmma = nvcuda::wmma;
using A = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;

struct Fragments {
    A a;
    B b;
    Sum sum;
};
__device__ Fragments filled() {
    Fragments all;
    wmma::fill_fragment(all.a, 1.0f);
    wmma::fill_fragment(all.b, 2.0f);
    wmma::fill_fragment(all.sum, 0.0f);
    return all;
}

__global__ void multiply(float* data, bool is_half_of_the_warp, unsigned exiting) {
    if (threadIdx.x == exiting) return;
    auto [a, b, sum] = filled();
    if (is_half_of_the_warp && threadIdx.x >= 16) {
        __syncthreads();
        return;
    }
#line 201 "matrices.cu"
    wmma::mma_sync(sum, a, b, sum);
    if (is_half_of_the_warp) __syncthreads();
    data[threadIdx.x] = sum.x[0];
}
LAUNCHER(multiply_by_part_of_a_warp) { multiply<<<1, 48>>>(call.data, false, ~0u); }
LAUNCHER(multiply_in_a_branch) { multiply<<<1, 32>>>(call.data, true, ~0u); }
LAUNCHER(multiply_without_a_lane) { multiply<<<1, 32>>>(call.data, false, 5); }

KERNEL(multiply_in_two_shapes, 1, 32) {
    auto [a, b, sum] = filled();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> c;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> d;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> other;
    wmma::fill_fragment(c, __half(1.0f));
    wmma::fill_fragment(d, __half(1.0f));
    wmma::fill_fragment(other, 0.0f);
#line 241 "matrices.cu"
    if (threadIdx.x % 2 == 0)
        wmma::mma_sync(sum, a, b, sum);
    else
        wmma::mma_sync(other, c, d, other);
    data[threadIdx.x] = sum.x[0] + other.x[0];
}

__global__ void load(float* data, int first, int ldm) {
    A a;
#line 251 "matrices.cu"
    wmma::load_matrix_sync(a, data + first, ldm);
    data[threadIdx.x] = a.x[0];
}
LAUNCHER(load_misaligned) { load<<<1, 32>>>(call.data, 4, 12); }
LAUNCHER(load_misaligned_rows) { load<<<1, 32>>>(call.data, 8, 10); }

__global__ void store(float* data, int first) {
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
#line 261 "matrices.cu"
    wmma::store_matrix_sync(data + first, sum, 16, wmma::mem_row_major);
}
LAUNCHER(store_misaligned) { store<<<1, 32>>>(call.data, 4); }
