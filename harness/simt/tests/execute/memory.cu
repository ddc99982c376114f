// SPDX-License-Identifier: Apache-2.0
// Shared, constant and global memory; vectors; atomics.
#include "harness/simt/tests/construct.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Pair {
    float value;
    int index;
};
template <class T, int tile>
__global__ void transpose_tiles(const T* from, T* to, int n) {
    __shared__ T staged[tile][tile + 1];
    __shared__ Pair corner;
    __shared__ __align__(128) float padding[4], *pointer;
    int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
    staged[threadIdx.y][threadIdx.x] = from[y * n + x];
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        corner = {1.5f, 7};
        const bool is_aligned = reinterpret_cast<unsigned long long>(padding) % 128 == 0;
        padding[0] = padding[3] = is_aligned ? 0.5f : 100.0f;
        pointer = padding;
    }
    __syncthreads();
    x = blockIdx.y * tile + threadIdx.x;
    y = blockIdx.x * tile + threadIdx.y;
    to[y * n + x] = staged[threadIdx.x][threadIdx.y] +
                    T(corner.value + float(corner.index) + pointer[0] + padding[3]);
}
CONSTRUCT(static_shared_memory) {
    Array<float> from(numbers(256)), to(256);
    transpose_tiles<float, 8><<<dim3(2, 2), dim3(8, 8)>>>(from, to, 16);
    report.equal("to", to.host(), [](int i) { return float(i % 16 * 16 + i / 16) + 9.5f; });
}

template <class T>
__global__ void reversed(T* data) {
    extern __shared__ __align__(16) unsigned char bytes[];
    T* own = reinterpret_cast<T*>(bytes);
    int* places = reinterpret_cast<int*>(own + blockDim.x);
    own[threadIdx.x] = data[threadIdx.x];
    places[threadIdx.x] = int(blockDim.x - 1 - threadIdx.x);
    __syncthreads();
    data[threadIdx.x] = own[places[threadIdx.x]];
}
extern __shared__ double file_scope[];
__global__ void rotated(double* data) {
    file_scope[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = file_scope[(threadIdx.x + 1) % blockDim.x];
}
CONSTRUCT(dynamic_shared_memory) {
    Array<float> floats(numbers(96));
    Array<double> doubles(table(64, [](int i) { return double(i); }));
    reversed<<<1, 96, 96 * (sizeof(float) + sizeof(int))>>>((float*)floats);
    rotated<<<1, 64, 64 * sizeof(double)>>>(doubles);
    const std::size_t large = 64 * 1024;
    CHECK_CUDA(cudaFuncSetAttribute(reversed<double>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    int(large)));
    reversed<double><<<1, 64, large>>>(doubles);
    report.equal("floats", floats.host(), [](int i) { return float(95 - i); });
    report.equal("doubles", doubles.host(), [](int i) { return double((64 - i) % 64); });
}

struct Settings {
    float scale[2];
    int offset;
};
__constant__ Settings settings;
__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ float results[8];
__global__ void use_symbols() {
    results[threadIdx.x] =
        settings.scale[threadIdx.x % 2] * coefficients[threadIdx.x % 4] + float(settings.offset);
    atomicAdd(&counter, 2);
}
CONSTRUCT(constant_memory_and_symbols) {
    const Settings host = {{0.5f, 2.0f}, 10};
    const float third = 30;
    const int five = 5;
    CHECK_CUDA(cudaMemcpyToSymbol(settings, &host, sizeof host));
    CHECK_CUDA(cudaMemcpyToSymbol(coefficients, &third, sizeof third, 2 * sizeof(float)));
    CHECK_CUDA(cudaMemcpyToSymbol(counter, &five, sizeof five));
    use_symbols<<<1, 8>>>();
    int count = 0;
    CHECK_CUDA(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    std::vector<float> got(8);
    void* address = nullptr;
    CHECK_CUDA(cudaGetSymbolAddress(&address, results));
    CHECK_CUDA(cudaMemcpy(got.data(), address, 8 * sizeof(float), cudaMemcpyDeviceToHost));
    std::size_t bytes = 0;
    CHECK_CUDA(cudaGetSymbolSize(&bytes, results));
    report.holds("a symbol's size", bytes == 32);
    report.holds("a device variable counts", count == 21);
    report.equal("results", got, {10.5f, 14, 25, 18, 10.5f, 14, 25, 18});
}

__device__ float4 operator+(const float4& a, const float4& b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__global__ void vectors(const float* from, float* to, int* sizes) {
    const unsigned i = threadIdx.x;
    const float4 four = reinterpret_cast<const float4*>(from)[i];
    const float2 two = *reinterpret_cast<const float2*>(&from[4 * i + 2]);
    reinterpret_cast<float4*>(to)[i] = four + make_float4(two.x, two.y, 0, 1);
    const uchar4 bytes = make_uchar4(1, 2, 3, 255);
    const int3 three = make_int3(1, 2, 3);
    const longlong2 wide = make_longlong2(1, -2);
    if (i == 0) {
        sizes[0] = sizeof(float3) * 100 + alignof(float3);
        sizes[1] = sizeof(double2) * 100 + alignof(double2);
        sizes[2] = sizeof(char4) * 100 + alignof(char4);
        sizes[3] = sizeof(ushort2) * 100 + alignof(ushort2);
        sizes[4] = bytes.w + three.z + int(wide.y);
        sizes[5] = int(dim3(3, 2).z);
    }
}
CONSTRUCT(vector_types) {
    Array<float> from(numbers(32)), to(32);
    Array<int> sizes(6);
    vectors<<<1, 8>>>(from, to, sizes);
    report.equal("to", to.host(), [](int i) {
        return float(i) + (i % 4 < 2 ? float(i + 2) : i % 4 == 2 ? 0.0f : 1.0f);
    });
    report.equal("sizes", sizes.host(), {1204, 1616, 404, 404, 256, 1});
}

__global__ void cached(const float* __restrict__ from, float* to) {
    const unsigned i = threadIdx.x;
    const float4 four = __ldg(reinterpret_cast<const float4*>(from) + i);
    __stcs(&to[2 * i], __ldcs(&from[4 * i]) + __ldcg(&from[4 * i + 1]));
    __stcg(&to[2 * i + 1], four.z + __ldca(&from[4 * i + 3]));
    __threadfence_block();
    __threadfence();
    __threadfence_system();
}
CONSTRUCT(caching_loads_and_fences) {
    Array<float> from(numbers(32)), to(16);
    cached<<<1, 8>>>(from, to);
    report.equal("to", to.host(), [](int i) { return float(4 * i + 1); });
}

__device__ double add_by_cas(double* address, double value) {
    auto* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
struct Cells {
    int sum, low, high, exchanged, both, any, odd, swapped, subtracted, of_block[3];
    unsigned wrapped, down, unsigned_high;
    unsigned long long wide, wide_high;
    float real;
    double real_double, by_cas;
    __half half;
    __half2 halves;
    __nv_bfloat16 bfloat;
};
__global__ void atomics(Cells* cells) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&cells->sum, i);
    atomicMin(&cells->low, -i);
    atomicMax(&cells->high, i);
    atomicExch(&cells->exchanged, 77);
    atomicAnd(&cells->both, ~(1 << i % 8));
    atomicOr(&cells->any, 1 << i % 16);
    atomicXor(&cells->odd, 1 << i % 5);
    atomicCAS(&cells->swapped, 0, 9);
    atomicSub(&cells->subtracted, 1);
    atomicInc(&cells->wrapped, 9);
    atomicDec(&cells->down, 6);
    atomicMax(&cells->unsigned_high, unsigned(i));
    atomicAdd(&cells->wide, 1ull << 33);
    atomicMax(&cells->wide_high, (unsigned long long)(i) << 40);
    atomicAdd(&cells->real, 0.5f);
    atomicAdd(&cells->real_double, 0.25);
    add_by_cas(&cells->by_cas, 2.0);
    atomicAdd(&cells->half, __float2half(1.0f));
    atomicAdd(&cells->halves, __floats2half2_rn(1.0f, 0.5f));
    atomicAdd(&cells->bfloat, __float2bfloat16(1.0f));
    atomicAdd_block(&cells->of_block[blockIdx.x], 1);
}
CONSTRUCT(atomics_of_every_type) {
    const int threads = 96;
    Cells start = {};
    start.both = 0xff;
    Array<Cells> device(std::vector<Cells>{start});
    atomics<<<3, 32>>>(device);
    const Cells got = device.host()[0];
    report.equal("integers",
                 std::vector<int>{got.sum, got.low, got.high, got.exchanged, got.both, got.any,
                                  got.odd, got.swapped, got.subtracted},
                 {threads * 95 / 2, -95, 95, 77, 0, 0xffff, 0b11110, 9, -threads});
    report.equal("of blocks", std::vector<int>(got.of_block, got.of_block + 3), {32, 32, 32});
    // 0 1 ... 9 0; and 0 6 5 ... 1 0.
    report.equal("unsigned", std::vector<unsigned>{got.wrapped, got.down, got.unsigned_high},
                 {threads % 10, (7 - threads % 7) % 7, 95});
    report.equal("wide", std::vector<unsigned long long>{got.wide, got.wide_high},
                 {96ull << 33, 95ull << 40});
    report.equal("real", std::vector<double>{got.real, got.real_double, got.by_cas}, {48, 24, 192});
    report.equal("narrow",
                 std::vector<float>{__half2float(got.half), __low2float(got.halves),
                                    __high2float(got.halves), __bfloat162float(got.bfloat)},
                 {96, 96, 48, 96});
}
