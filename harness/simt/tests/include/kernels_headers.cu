// SPDX-License-Identifier: Apache-2.0
// Which header of a name is found: CPU_HEADERS' first, then the cpu device's, then the target's.
#include <cuda_runtime.h>
#include <cub/cub.cuh>

#include "harness/simt/tests/launcher.hpp"

#ifndef __NVCC__
__global__ void multiply(float* data) {
    using Reduce = cub::BlockReduce<float, 4>;
    __shared__ Reduce::TempStorage storage;
    const float product = Reduce(storage).Reduce(data[threadIdx.x] + 1, cub::Product());
    if (threadIdx.x == 0) data[0] = product;
}
LAUNCHER(product_of_own_header) { multiply<<<1, 4>>>(call.data); }
#endif
