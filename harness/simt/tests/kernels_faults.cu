// SPDX-License-Identifier: Apache-2.0
// Kernels that leave their memory or their stack.
#include <cuda_runtime.h>

#include "harness/simt/tests/launcher.hpp"

__global__ void overrun(float* data, int count) { data[count + threadIdx.x] = 1; }
GRADVERIFY_SIMT_TEST_LAUNCHER(write_past_the_end) { overrun<<<1, 1>>>(call.data, call.count); }

__device__ int deep(volatile int* frame, int depth) {
    volatile int own[1024];
    own[depth % 1024] = frame[depth % 1024] + depth;
    return depth == 0 ? own[0] : deep(own, depth - 1) + own[1];
}
__global__ void recurse(float* data) {
    volatile int first[1024] = {};
    data[0] = deep(first, 1000000);
}
GRADVERIFY_SIMT_TEST_LAUNCHER(overflow_the_stack) { recurse<<<1, 1>>>(call.data); }
