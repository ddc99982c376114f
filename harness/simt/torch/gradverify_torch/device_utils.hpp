// SPDX-License-Identifier: Apache-2.0
// Shuffles by PyTorch's names, and reductions over a warp and a block: the first thread, or the
// first lane, gets the result.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/forced.hpp"

#define GRADVERIFY_TORCH_SHUFFLE(NAME, CALL, T2)                                               \
    template <class T>                                                                         \
    T NAME(T value, T2 by, int width = warpSize, unsigned mask = ~0u, GRADVERIFY_SIMT_PLACE) { \
        return CALL(mask, value, by, width, file, line);                                       \
    }
GRADVERIFY_TORCH_SHUFFLE(WARP_SHFL, __shfl_sync, int)
GRADVERIFY_TORCH_SHUFFLE(WARP_SHFL_XOR, __shfl_xor_sync, int)
GRADVERIFY_TORCH_SHUFFLE(WARP_SHFL_UP, __shfl_up_sync, unsigned)
GRADVERIFY_TORCH_SHUFFLE(WARP_SHFL_DOWN, __shfl_down_sync, unsigned)
#undef GRADVERIFY_TORCH_SHUFFLE
inline unsigned WARP_BALLOT(int predicate, unsigned mask = ~0u, GRADVERIFY_SIMT_PLACE) {
    return __ballot_sync(mask, predicate, file, line);
}
inline unsigned ACTIVE_MASK(GRADVERIFY_SIMT_PLACE) { return __activemask(file, line); }
inline void WARP_SYNC(unsigned mask = ~0u, GRADVERIFY_SIMT_PLACE) { __syncwarp(mask, file, line); }
template <class T>
GRADVERIFY_SIMT_ACCESS T doLdg(const T* address) {
    return *address;
}

namespace at::native::cuda_utils {

constexpr int kCUDABlockReduceNumThreads = 512, kCUDABlockReduceMaxThreads = 1024;

struct Block1D {
    static int Tid() { return int(threadIdx.x); }
    static int Warps() { return int(blockDim.x / 32); }
};
struct Block2D {
    static int Tid() { return int(threadIdx.x + threadIdx.y * blockDim.x); }
    static int Warps() { return int(blockDim.x * blockDim.y / 32); }
};
template <class T>
T WarpReduceSum(T value, GRADVERIFY_SIMT_PLACE) {
    for (int by = 16; by > 0; by /= 2) value += WARP_SHFL_DOWN(value, by, 32, ~0u, file, line);
    return value;
}
/// Of whole warps, with a value for each of them in `shared`.
template <class T, class B = Block1D>
GRADVERIFY_SIMT_ACCESS T BlockReduceSum(T value, T* shared, GRADVERIFY_SIMT_PLACE) {
    const int thread = B::Tid();
    value = WarpReduceSum(value, file, line);
    __syncthreads(file, line);  // others may still read what a reduction before left there
    if (thread % 32 == 0) shared[thread / 32] = value;
    __syncthreads(file, line);
    value = thread < B::Warps() ? shared[thread % 32] : T(0);
    return thread < 32 ? WarpReduceSum(value, file, line) : value;
}

}  // namespace at::native::cuda_utils
