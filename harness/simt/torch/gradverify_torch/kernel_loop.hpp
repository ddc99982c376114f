// SPDX-License-Identifier: Apache-2.0
// Loops of kernels over a number of elements. No other header has the macros: files have their own.
#pragma once
#pragma GCC system_header

#include <cstdint>

#include "gradverify_simt/forced.hpp"

namespace at::cuda::detail {
constexpr int CUDA_NUM_THREADS = 1024;
inline int GET_BLOCKS(std::int64_t count, std::int64_t threads = CUDA_NUM_THREADS) {
    return static_cast<int>((count + threads - 1) / threads);
}
}  // namespace at::cuda::detail

#define CUDA_KERNEL_LOOP_TYPE(i, n, index_t)                                          \
    const std::int64_t gradverify_step = std::int64_t{blockDim.x} * gridDim.x;        \
    std::int64_t gradverify_at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; \
    for (index_t i = index_t(gradverify_at); gradverify_at < (n);                     \
         gradverify_at += gradverify_step, i = index_t(gradverify_at))
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
