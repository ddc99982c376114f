// SPDX-License-Identifier: Apache-2.0
// An error of the user's, after rewritten lines: it must be reported on line 14.
#include <cuda_runtime.h>

__global__ void kernel(float* data, int count) {
    __shared__ float staged[32];
    staged[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = staged[count];
}

void launch(float* data) {
    kernel<<<1, 32>>>(data, 1);
    undeclared_name = 3;
}
