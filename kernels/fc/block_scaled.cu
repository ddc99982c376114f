// SPDX-License-Identifier: Apache-2.0
// fc.forward/naive_mxfp8 and its like: factors with a scale for each block along the sum, a thread
// for each element of the result, sums in float. fc.forward/blocks_mxfp8 and its like: a warp for
// each element, whose lanes take the blocks in turn. The bias and the result are floats.
#include <cuda_fp8.h>

#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"
#include "reference/fc.hpp"

namespace {

using namespace gradverify;

// CUDA has types for E8M0 and E2M1 since 12.8; here they are bytes.
using Byte = unsigned char;

template <class T>
__device__ float element_at(const T* row, long long i) {
    return static_cast<float>(row[i]);
}
/// An element of E2M1, of which two lie in a byte, the first in its lower half.
__device__ float element_at(const Byte* row, long long i) {
    const int bits = i % 2 == 0 ? row[i / 2] : row[i / 2] >> 4;
    const int exponent = bits >> 1 & 3, fraction = bits & 1;
    const float size = exponent == 0 ? 0.5f * static_cast<float>(fraction)
                                     : 0.25f * static_cast<float>((2 + fraction) << exponent);
    return (bits & 8) != 0 ? -size : size;
}

__device__ float number_of_scale(__nv_fp8_e4m3 scale) { return static_cast<float>(scale); }
/// A scale of E8M0 is a power of two, and has a float's exponent bits. The least is not normal.
__device__ float number_of_scale(Byte scale) {
    return scale == 0 ? 0x1p-127f : __uint_as_float(static_cast<unsigned>(scale) << 23);
}

template <class T>
constexpr int elements_in = 1;
template <>
constexpr int elements_in<Byte> = 2;

/// Rows of `width` elements and of their blocks' scales.
template <class T, class Scale, int length>
struct Factor {
    const T* elements;
    const Scale* scales;
    long long width;

    /// The sum of products of two rows over one block.
    __device__ float product(long long row, const Factor& other, long long other_row,
                             long long block) const {
        const long long bytes = divided_up(width, elements_in<T>);
        const long long blocks = divided_up(width, length), first = block * length;
        const long long end = first + length < width ? first + length : width;
        const float scale = number_of_scale(scales[row * blocks + block]);
        const float other_scale = number_of_scale(other.scales[other_row * blocks + block]);
        float sum = 0.0f;
        for (long long i = first; i < end; ++i)
            sum += (element_at(elements + row * bytes, i) * scale) *
                   (element_at(other.elements + other_row * bytes, i) * other_scale);
        return sum;
    }
};

struct Forward : fc::Forward {
    using fc::Forward::Forward;
    TensorView x_scales = tensor("x_scales"), w_scales = tensor("w_scales");
};

template <class Factor>
__global__ void products(Factor x, Factor w, const float* b, float* y, long long n, long long k,
                         long long blocks) {
    const long long at = thread_in_grid();
    if (at >= n * k) return;
    float sum = b[at % k];
    for (long long block = 0; block < blocks; ++block) sum += x.product(at / k, w, at % k, block);
    y[at] = sum;
}

template <class Factor>
__global__ void products_of_warps(Factor x, Factor w, const float* b, float* y, long long n,
                                  long long k, long long blocks) {
    const long long at = thread_in_grid() / 32;
    if (at >= n * k) return;
    float sum = 0.0f;
    for (long long block = threadIdx.x % 32; block < blocks; block += 32)
        sum += x.product(at / k, w, at % k, block);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) y[at] = sum + b[at % k];
}

/// The data of a tensor, of bytes where `T` is one.
template <class T, class Stored>
const T* data_of(const TensorView& tensor) {
    return reinterpret_cast<const T*>(tensor.as<const Stored>());
}

template <class Element, class T, class Scale, class S, int length, bool by_warps>
void forward(const Forward& call) {
    const long long results = call.y.elements();
    if (results == 0) return;
    using Rows = Factor<T, S, length>;
    const Rows x{data_of<T, Element>(call.x), data_of<S, Scale>(call.x_scales), call.c};
    const Rows w{data_of<T, Element>(call.w), data_of<S, Scale>(call.w_scales), call.c};
    const auto kernel = by_warps ? products_of_warps<Rows> : products<Rows>;
    kernel<<<blocks_of(results * (by_warps ? 32 : 1), 128), 128, 0, call.launch.stream>>>(
        x, w, call.b.as<const float>(), call.y.as<float>(), call.n, call.k,
        divided_up(call.c, length));
}

void declare_factors(KernelDeclaration& kernel, const BlockFormat& format) {
    declare_elements_on_stream<float>(kernel);
    kernel.block_scaled("x", format).block_scaled("w", format);
}
void declare_mxfp8(KernelDeclaration& kernel) { declare_factors(kernel, mxfp8); }
void declare_mxfp8_e5m2(KernelDeclaration& kernel) { declare_factors(kernel, mxfp8_e5m2); }
void declare_mxfp4(KernelDeclaration& kernel) { declare_factors(kernel, mxfp4); }
void declare_nvfp4(KernelDeclaration& kernel) { declare_factors(kernel, nvfp4); }

}  // namespace

#define OF_FORMAT(FORMAT, ELEMENT, T, SCALE, S, LENGTH)                                          \
    GRADVERIFY_KERNEL(Forward, "naive_" #FORMAT, (forward<ELEMENT, T, SCALE, S, LENGTH, false>)) \
        .with(declare_##FORMAT);                                                                 \
    GRADVERIFY_KERNEL(Forward, "blocks_" #FORMAT, (forward<ELEMENT, T, SCALE, S, LENGTH, true>)) \
        .with(declare_##FORMAT)                                                                  \
        .costs({.threads_per_output = 32})
OF_FORMAT(mxfp8, __nv_fp8_e4m3, __nv_fp8_e4m3, __nv_fp8_e8m0, Byte, 32);
OF_FORMAT(mxfp8_e5m2, __nv_fp8_e5m2, __nv_fp8_e5m2, __nv_fp8_e8m0, Byte, 32);
OF_FORMAT(mxfp4, __nv_fp4x2_e2m1, Byte, __nv_fp8_e8m0, Byte, 32);
OF_FORMAT(nvfp4, __nv_fp4x2_e2m1, Byte, __nv_fp8_e4m3, __nv_fp8_e4m3, 16);
