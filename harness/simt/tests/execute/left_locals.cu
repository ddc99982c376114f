// SPDX-License-Identifier: Apache-2.0
// Functions that return an address of their local variable, as FlashAttention's conversions do:
// nvcc inlines them and the variable stays in registers.
#include <vector>

#include "harness/simt/tests/construct.hpp"

namespace left_locals {

template <class T>
struct View {
    T* data;
    int count;
};
struct Four {
    float values[4];
};

template <class T>
__forceinline__ __device__ View<T> view(T* data, int count) {
    return {data, count};
}
__forceinline__ __device__ auto scaled(const float* from, float by) {
    Four result;
    for (int i = 0; i < 4; ++i) result.values[i] = by * from[i];
    return view(reinterpret_cast<float*>(&result), 4);
}

__global__ void add(float* out, const float* in, int times) {
    float sum = 0.0f;
    for (int time = 0; time < times; ++time) {
        const View<float> twice = scaled(in, 2.0f), thrice = scaled(in, 3.0f);
        __syncthreads();
        for (int i = 0; i < 4; ++i) sum += twice.data[i] + 10.0f * thrice.data[i];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

}  // namespace left_locals

CONSTRUCT(a_local_variable_outlives_its_inlined_function) {
    Array<float> in(numbers(4, 1.0f)), out(3 * 64);
    left_locals::add<<<3, 64>>>(out, in, 2);
    report.equal("sums", out.host(), std::vector<float>(3 * 64, 2 * 32 * 10.0f));
}
