// SPDX-License-Identifier: Apache-2.0
// Keeps streams busy without the host, whose functions on several streams would take turns.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>

#include "harness/base/cuda_check.hpp"
#include "harness/devices/cuda_timer.hpp"

namespace gradverify::detail {

namespace {

__device__ std::uint64_t now_in_nanoseconds() {
    std::uint64_t now = 0;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

__global__ void spin(std::uint64_t nanoseconds) {
    const std::uint64_t begin = now_in_nanoseconds();
    while (now_in_nanoseconds() - begin < nanoseconds) continue;
}

}  // namespace

void delay_stream(CUstream_st* stream) {
    spin<<<1, 1, 0, stream>>>(std::chrono::nanoseconds(stream_delay).count());
    GRADVERIFY_CUDA_CHECK(cudaGetLastError());
}

}  // namespace gradverify::detail
