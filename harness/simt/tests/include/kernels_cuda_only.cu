// SPDX-License-Identifier: Apache-2.0
// Behind CUDA_ONLY, for its fragments of integers: the cpu device builds the rest of the target.
#include <mma.h>

#include "harness/simt/tests/launcher.hpp"

using namespace nvcuda;

__global__ void tensor_product(int* out) {
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 1);
    wmma::store_matrix_sync(out, sum, 16, wmma::mem_row_major);
}
LAUNCHER(tensor_cores) { tensor_product<<<1, 32>>>(reinterpret_cast<int*>(call.data)); }
