// SPDX-License-Identifier: Apache-2.0
// What kernels with a block for each row share: a row's elements in packs of up to 16 bytes, sums
// over a block by shuffles, and how many blocks loop over the rows.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

/// Several elements of a row, which are loaded or stored at once.
template <class T, int count>
struct alignas(std::min<int>(16, count * sizeof(T))) Pack {
    T at[count];
};
template <int count, class T>
__device__ const Pack<T, count>& pack_at(const T* first) {
    return *reinterpret_cast<const Pack<T, count>*>(first);
}
template <int count, class T>
__device__ Pack<T, count>& pack_at(T* first) {
    return *reinterpret_cast<Pack<T, count>*>(first);
}

/// As many elements as fill 16 bytes.
template <class T>
constexpr int elements_of_pack = 16 / static_cast<int>(sizeof(T));

/// The sum over the lanes of a warp, in every lane.
__device__ inline float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/// The sum over a block, in every thread. **Ranges** the block has whole warps, at most 32, and all
/// of its threads call; `share` holds 32 floats.
__device__ inline float sum_of_warps(float value, float* share) {
    value = warp_sum(value);
    __syncthreads();  // the sum before may still be read
    if (threadIdx.x % 32 == 0) share[threadIdx.x / 32] = value;
    __syncthreads();
    return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? share[threadIdx.x % 32] : 0.0f);
}

/// A block for each row, but no more than 8 for each multiprocessor: they loop over the rows.
inline unsigned blocks_of_rows(long long rows) {
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    return static_cast<unsigned>(std::min(rows, 8LL * multiprocessors));
}
