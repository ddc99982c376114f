// SPDX-License-Identifier: Apache-2.0
// In the manner of a framework's extension: dispatch over element types by a macro with a lambda,
// accessors passed by value, a fused bias and GELU with a path for pairs, an embedding's gradient
// with atomics.
#include <cstdint>
#include <stdexcept>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "harness/simt/tests/third_party/extension.h"

#define DISPATCH(TYPE, NAME, ...)                           \
    [&] {                                                   \
        switch (TYPE) {                                     \
            case ScalarType::Float: {                       \
                using scalar_t = float;                     \
                return __VA_ARGS__();                       \
            }                                               \
            case ScalarType::Half: {                        \
                using scalar_t = half;                      \
                return __VA_ARGS__();                       \
            }                                               \
            case ScalarType::BFloat16: {                    \
                using scalar_t = nv_bfloat16;               \
                return __VA_ARGS__();                       \
            }                                               \
        }                                                   \
        throw std::runtime_error(#NAME " not implemented"); \
    }()
#define KERNEL_LOOP(i, n)                                                     \
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < (n); \
         i += blockDim.x * gridDim.x)

template <typename T, int N>
class PackedAccessor {
  public:
    __host__ __device__ PackedAccessor(T* data, const int64_t (&sizes)[N]) : data_(data) {
        int64_t stride = 1;
        for (int i = N - 1; i >= 0; --i) {
            sizes_[i] = sizes[i];
            strides_[i] = stride;
            stride *= sizes[i];
        }
    }
    __device__ int64_t size(int i) const { return sizes_[i]; }
    template <typename... I>
    __device__ __forceinline__ T& at(I... index) const {
        const int64_t places[] = {static_cast<int64_t>(index)...};
        int64_t offset = 0;
#pragma unroll
        for (int i = 0; i < N; ++i) offset += places[i] * strides_[i];
        return data_[offset];
    }

  private:
    T* data_;
    int64_t sizes_[N], strides_[N];
};

namespace {

template <typename T>
__device__ __forceinline__ float to_float(T x) {
    return static_cast<float>(x);
}
template <>
__device__ __forceinline__ float to_float<half>(half x) {
    return __half2float(x);
}

__device__ __forceinline__ float gelu(float x) {
    constexpr float kAlpha = M_SQRT1_2;
    return x * 0.5f * (1.0f + ::erff(x * kAlpha));
}

template <typename scalar_t>
__global__ void bias_gelu_kernel(PackedAccessor<const scalar_t, 2> x,
                                 const scalar_t* __restrict__ bias,
                                 PackedAccessor<scalar_t, 2> out) {
    const int64_t rows = x.size(0), columns = x.size(1);
    KERNEL_LOOP(i, rows * columns) {
        const int64_t row = i / columns, column = i % columns;
        out.at(row, column) =
            static_cast<scalar_t>(gelu(to_float(x.at(row, column)) + to_float(bias[column])));
    }
}

// Two elements at a time where the rows allow it.
__global__ void bias_gelu_half2_kernel(const half2* x, const half2* bias, half2* out, int pairs,
                                       int pairs_per_row) {
    KERNEL_LOOP(i, pairs) {
        const float2 v = __half22float2(__hadd2(x[i], bias[i % pairs_per_row]));
        out[i] = __floats2half2_rn(gelu(v.x), gelu(v.y));
    }
}

template <typename scalar_t, typename index_t>
__global__ void embedding_backward_kernel(const scalar_t* grad, const index_t* indices,
                                          float* grad_weight, int count, int width,
                                          index_t padding_idx) {
    for (int i = blockIdx.x * blockDim.y + threadIdx.y; i < count; i += gridDim.x * blockDim.y) {
        const index_t row = indices[i];
        if (row == padding_idx) continue;
        for (int column = threadIdx.x; column < width; column += blockDim.x)
            atomicAdd(grad_weight + row * width + column, to_float(grad[i * width + column]));
    }
}

}  // namespace

void bias_gelu(ScalarType type, const void* x, const void* bias, void* out, int64_t rows,
               int64_t columns) {
    const int threads = 128;
    const int blocks = static_cast<int>((rows * columns + threads - 1) / threads);
    if (type == ScalarType::Half && columns % 2 == 0) {
        bias_gelu_half2_kernel<<<blocks, threads>>>(
            static_cast<const half2*>(x), static_cast<const half2*>(bias), static_cast<half2*>(out),
            static_cast<int>(rows * columns / 2), static_cast<int>(columns / 2));
        return;
    }
    DISPATCH(
        type, "bias_gelu", ([&] {
            bias_gelu_kernel<scalar_t><<<blocks, threads>>>(
                PackedAccessor<const scalar_t, 2>(static_cast<const scalar_t*>(x), {rows, columns}),
                static_cast<const scalar_t*>(bias),
                PackedAccessor<scalar_t, 2>(static_cast<scalar_t*>(out), {rows, columns}));
        }));
}

void embedding_backward(ScalarType type, const void* grad, const int64_t* indices,
                        float* grad_weight, int count, int width, int vocabulary,
                        int64_t padding_idx) {
    cudaMemsetAsync(grad_weight, 0, sizeof(float) * vocabulary * width);
    DISPATCH(type, "embedding_backward", ([&] {
                 embedding_backward_kernel<scalar_t, int64_t>
                     <<<2, dim3(32, 4)>>>(static_cast<const scalar_t*>(grad), indices, grad_weight,
                                          count, width, padding_idx);
             }));
}
