// SPDX-License-Identifier: Apache-2.0
// quantize_mxfp8.forward/naive: a thread for each block of 32 numbers.
// quantize_mxfp8.forward/packs: eight threads for each block, with four numbers of a float4 each,
// and a maximum by shuffles. In float and bfloat16.
#include <cuda_fp8.h>

#include "kernels/kernel.cuh"
#include "kernels/rows.cuh"

namespace {

using gradverify::DType;
using gradverify::TensorView;

struct Forward : gradverify::Pass<"quantize_mxfp8", "forward"> {
    using Pass::Pass;
    TensorView x = tensor("x"), q = tensor("q"), scale = tensor("scale");
    std::int64_t rows = size("rows"), width = size("width");
};

constexpr int block = 32;

/// CUDA has a type for E8M0 since 12.8; here its numbers are bytes.
unsigned char* scale_of(const Forward& call) {
    return reinterpret_cast<unsigned char*>(call.scale.as<__nv_fp8_e8m0>());
}

/// The scale's bits for a block whose largest magnitude this is: its exponent less that of 448, no
/// less than -127. A float that is not normal has a smaller exponent still.
__device__ int scale_bits(float amax) {
    const int exponent_bits = static_cast<int>(__float_as_uint(amax) >> 23);
    return exponent_bits > 8 ? exponent_bits - 8 : 0;
}
/// 2^-e, where e is the exponent of a scale of these bits, at most 119.
__device__ float reciprocal_of_scale(int bits) {
    return __uint_as_float(static_cast<unsigned>(254 - bits) << 23);
}

template <class T>
__global__ void quantise_block(const T* x, __nv_fp8_e4m3* q, unsigned char* scale, long long rows,
                               long long width) {
    const long long across = divided_up(width, block), at = thread_in_grid();
    if (at >= rows * across) return;
    const long long row = at / across, first = at % across * block;
    const long long end = first + block < width ? first + block : width;
    float amax = 0.0f;
    for (long long i = first; i < end; ++i)
        amax = fmaxf(amax, fabsf(static_cast<float>(x[row * width + i])));
    const int bits = scale_bits(amax);
    scale[at] = static_cast<unsigned char>(bits);
    for (long long i = first; i < end; ++i)
        q[row * width + i] =
            __nv_fp8_e4m3(static_cast<float>(x[row * width + i]) * reciprocal_of_scale(bits));
}

template <class T>
void naive(const Forward& call) {
    const long long blocks = call.scale.elements();
    if (blocks == 0) return;
    quantise_block<<<blocks_of(blocks, 64), 64, 0, call.launch.stream>>>(
        call.x.as<const T>(), call.q.as<__nv_fp8_e4m3>(), scale_of(call), call.rows, call.width);
}

constexpr int count = 4, lanes = block / count;  ///< numbers of a thread, threads of a block

/// The width is a multiple of `count`. All threads of a warp reach the shuffles.
template <class T>
__global__ void quantise_packs(const T* x, __nv_fp8_e4m3* q, unsigned char* scale, long long rows,
                               long long width) {
    const long long across = divided_up(width, block), blocks = rows * across;
    const int lane = static_cast<int>(threadIdx.x % lanes);
    for (long long first = thread_in_grid() / 32 * (32 / lanes); first < blocks;
         first += threads_in_grid() / lanes) {
        const long long at = first + threadIdx.x % 32 / lanes;
        const long long column = at % across * block + lane * count;
        const bool is_inside = at < blocks && column < width;
        const long long element = at / across * width + column;
        Pack<T, count> pack = {};
        if (is_inside) pack = pack_at<count>(x + element);
        float amax = 0.0f;
        for (const T& number : pack.at) amax = fmaxf(amax, fabsf(static_cast<float>(number)));
        for (int distance = lanes / 2; distance > 0; distance /= 2)
            amax = fmaxf(amax, __shfl_xor_sync(0xffffffffu, amax, distance));
        const int bits = scale_bits(amax);
        if (at < blocks && lane == 0) scale[at] = static_cast<unsigned char>(bits);
        if (!is_inside) continue;
        const float factor = reciprocal_of_scale(bits);
        Pack<__nv_fp8_e4m3, count> rounded;
        for (int i = 0; i < count; ++i)
            rounded.at[i] = __nv_fp8_e4m3(static_cast<float>(pack.at[i]) * factor);
        pack_at<count>(q + element) = rounded;
    }
}

template <class T>
void packs(const Forward& call) {
    const long long threads = call.scale.elements() * lanes;
    if (threads == 0) return;
    const int size = call.launch.block_size;
    quantise_packs<<<blocks_of_loop(threads, size), size, 0, call.launch.stream>>>(
        call.x.as<const T>(), call.q.as<__nv_fp8_e4m3>(), scale_of(call), call.rows, call.width);
}

template <class T>
void declare(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.storage("q", DType::f8e4m3).storage("scale", DType::f8e8m0);
}
template <class T>
void declare_packs(gradverify::KernelDeclaration& kernel) {
    declare<T>(kernel);
    kernel.aligned_to(16).blocks_of({256, 64}).where("width", gradverify::multiple_of(count));
}

}  // namespace

GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Forward, "naive", naive, declare);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(Forward, "packs", packs, declare_packs);
