// SPDX-License-Identifier: Apache-2.0
// Launches in all their forms, pointers to functions, and classes.
#include "harness/simt/tests/construct.hpp"

#include <cassert>

template <class T, int factor>
__global__ void __launch_bounds__(128, 2) multiply(T* __restrict__ data, const T* more, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) data[i] = data[i] * factor + (more ? more[i] : T(0));
}
CONSTRUCT(template_launches) {
    Array<double> data(table(100, [](int i) { return double(i); }));
    int count = 99;
    multiply<double, 3><<<2, 64>>>(data, NULL, ++count);
    multiply<double, 1><<<2, 64>>>(data, 0, count);
    multiply<double, 2><<<dim3(2), dim3(64), 0, 0>>>(data, data, count);
    report.holds("an argument is evaluated once", count == 100);
    report.equal("data", data.host(), [](int i) { return 9.0 * i; });
}

// Host variables that are called like the built-in ones, and a launch made by a macro.
#define LAUNCH(KERNEL, COUNT, ...) KERNEL<<<((COUNT) + 31) / 32, 32>>>(__VA_ARGS__, COUNT)
__global__ void add_index(int* data, int count) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int layer = blockIdx.z * blockDim.z + threadIdx.z;
    const int i = (layer * gridDim.y * blockDim.y + row) * gridDim.x * blockDim.x + column;
    if (i < count) data[i] += i;
}
CONSTRUCT(variables_named_like_built_in_ones) {
    Array<int> data(480);
    dim3 blockDim(4, 3, 2);
    dim3 gridDim(2, 5, 2);
    add_index<<<gridDim, blockDim>>>(data, 480);
    LAUNCH(add_index, 480, data);
    report.equal("data", data.host(), [](int i) { return 2 * i; });
}

__global__ void scale(float* data, float factor) { data[threadIdx.x] *= factor; }
__global__ void shift(float* data, float by) { data[threadIdx.x] += by; }
CONSTRUCT(kernel_pointers) {
    Array<float> data(numbers(32));
    void (*kernels[])(float*, float) = {scale, shift};
    for (auto* kernel : kernels) kernel<<<1, 32>>>(data, 3.0f);
    float* pointer = data;
    float two = 2.0f;
    void* arguments[] = {&pointer, &two};
    CHECK_CUDA(cudaLaunchKernel((const void*)scale, dim3(1), dim3(32), arguments, 0, nullptr));
    CHECK_CUDA(cudaLaunchKernel(reinterpret_cast<void*>(&shift), 1, 32, arguments, 0, nullptr));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    CHECK_CUDA(cudaLaunchKernelEx(&config, shift, pointer, 1.0f));
    report.equal("data", data.host(), [](int i) { return (float(i) * 3 + 3) * 2 + 2 + 1; });
}

using UnaryOp = float (*)(float);
__device__ float plus_one(float x) { return x + 1; }
__device__ float times_two(float x) { return x * 2; }
__device__ UnaryOp chosen = plus_one;
__global__ void call_pointers(float* data) {
    const UnaryOp ops[] = {times_two, chosen};
    data[threadIdx.x] = ops[threadIdx.x % 2](data[threadIdx.x]);
}
CONSTRUCT(device_function_pointers) {
    Array<float> data(numbers(16));
    call_pointers<<<1, 16>>>(data);
    report.equal("data", data.host(), [](int i) { return i % 2 ? float(i) + 1 : float(i) * 2; });
}

class Matrix {
  public:
    __host__ __device__ Matrix(float* data, int columns) : data_(data), columns_(columns) {}
    __device__ float& operator()(int row, int column) const {
        return data_[row * columns_ + column];
    }

  private:
    float* data_;
    int columns_;
};
__global__ void transpose(Matrix to, const Matrix from, int rows, int columns) {
    assert(blockDim.x >= unsigned(columns));
    if (threadIdx.x < unsigned(columns) && blockIdx.x < unsigned(rows))
        to(threadIdx.x, blockIdx.x) = from(blockIdx.x, threadIdx.x);
}
CONSTRUCT(classes_by_value_and_assert) {
    Array<float> from(numbers(35)), to(35);
    transpose<<<5, 32>>>(Matrix(to, 5), Matrix(from, 7), 5, 7);
    report.equal("to", to.host(), [](int i) { return float(i % 5 * 7 + i / 5); });
}
