// SPDX-License-Identifier: Apache-2.0
// The run-time API in a launcher, and the device side of curand and CUB.
#include "harness/simt/tests/construct.hpp"

#include <cuComplex.h>
#include <curand_kernel.h>
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>

__global__ void add(float* data, const float* more, int count) {
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) data[i] += more[i];
}
CONSTRUCT(a_launcher_that_allocates_copies_and_frees) {
    const int count = 100;
    const std::size_t bytes = count * sizeof(float);
    float *host = nullptr, *a = nullptr, *b = nullptr;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_CUDA(cudaEventCreate(&start));
    CHECK_CUDA(cudaEventCreateWithFlags(&stop, cudaEventDefault));
    CHECK_CUDA(cudaMallocHost(&host, bytes));
    for (int i = 0; i < count; ++i) host[i] = float(i);
    CHECK_CUDA(cudaMalloc(&a, bytes));
    CHECK_CUDA(cudaMallocAsync(&b, bytes, stream));
    CHECK_CUDA(cudaMemsetAsync(a, 0, bytes, stream));
    CHECK_CUDA(cudaMemcpyAsync(b, host, bytes, cudaMemcpyHostToDevice, stream));
    CHECK_CUDA(cudaEventRecord(start, stream));
    for (int i = 0; i < 3; ++i) add<<<2, 64, 0, stream>>>(a, b, count);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaEventRecord(stop, stream));
    CHECK_CUDA(cudaStreamWaitEvent(0, stop, 0));
    add<<<2, 64>>>(a, b, count);
    CHECK_CUDA(cudaDeviceSynchronize());
    std::vector<float> got(count);
    CHECK_CUDA(cudaMemcpy(got.data(), a, bytes, cudaMemcpyDefault));
    report.equal("a", got, [](int i) { return 4.0f * float(i); });
    float milliseconds = -1;
    CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
    report.holds("time passes", milliseconds >= 0);
    CHECK_CUDA(cudaFreeAsync(b, stream));
    CHECK_CUDA(cudaStreamSynchronize(stream));
    CHECK_CUDA(cudaFree(a));
    CHECK_CUDA(cudaFreeHost(host));
    CHECK_CUDA(cudaEventDestroy(start));
    CHECK_CUDA(cudaEventDestroy(stop));
    CHECK_CUDA(cudaStreamDestroy(stream));
}

static void CUDART_CB count_up(void* data) { ++*static_cast<int*>(data); }
CONSTRUCT(memory_with_a_pitch_and_what_the_device_says) {
    char* rows = nullptr;
    std::size_t pitch = 0;
    CHECK_CUDA(cudaMallocPitch(&rows, &pitch, 10, 4));
    CHECK_CUDA(cudaMemset2D(rows, pitch, 7, 10, 4));
    std::vector<char> got(40, 0);
    CHECK_CUDA(cudaMemcpy2D(got.data(), 10, rows, pitch, 10, 4, cudaMemcpyDeviceToHost));
    report.equal("rows", got, std::vector<char>(40, 7));
    cudaPointerAttributes attributes;
    CHECK_CUDA(cudaPointerGetAttributes(&attributes, rows));
    report.holds("a device pointer is one", attributes.type == cudaMemoryTypeDevice);
    CHECK_CUDA(cudaFree(rows));
    cudaDeviceProp properties;
    CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
    int warp = 0, optin = 0, blocks = 0, grid = 0, block = 0;
    CHECK_CUDA(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
    CHECK_CUDA(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0));
    CHECK_CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 0));
    cudaFuncAttributes of_kernel;
    CHECK_CUDA(cudaFuncGetAttributes(&of_kernel, (const void*)add));
    report.holds("attributes", warp == properties.warpSize && optin >= 48 * 1024 && blocks > 0 &&
                                   grid > 0 && block % 32 == 0 &&
                                   of_kernel.maxThreadsPerBlock == 1024);
    int calls = 0;
    CHECK_CUDA(cudaLaunchHostFunc(nullptr, &count_up, &calls));
    CHECK_CUDA(cudaDeviceSynchronize());
    report.holds("a host function on a stream", calls == 1);
}

template <class State>
__global__ void draw(unsigned* bits, unsigned long long seed) {
    State state;
    curand_init(seed, threadIdx.x, threadIdx.x % 3, &state);
    for (int i = 0; i < 6; ++i) bits[threadIdx.x * 6 + i] = curand(&state);
}
__global__ void draw_fours(unsigned* bits) {
    curandStatePhilox4_32_10_t state;
    curand_init(42ull, 7ull, 5ull, &state);
    const uint4 first = curand4(&state), second = curand4(&state);
    const unsigned all[] = {first.x,  first.y,  first.z,  first.w,
                            second.x, second.y, second.z, second.w};
    for (int i = 0; i < 8; ++i) bits[i] = all[i];
}
/// FNV-1a.
static unsigned hash(const std::vector<unsigned>& bits) {
    unsigned h = 2166136261u;
    for (const unsigned word : bits) h = (h ^ word) * 16777619u;
    return h;
}
template <class State>
__global__ void draw_real(double* out) {
    State state;
    curand_init(5, 3, 2, &state);
    out[0] = curand_uniform(&state);
    out[1] = curand_uniform_double(&state);
    for (int i = 2; i < 5; ++i) out[i] = curand_normal(&state);
}
template <class State>
static void check_real(construct::Report& report, const std::vector<double>& want) {
    Array<double> out(5);
    draw_real<State><<<1, 1>>>(out);
    const std::vector<double> got = out.host();
    report.equal("uniform", part(got, 2, 0), part(want, 2, 0));
    // On a GPU through __sincosf, whose error of 2^-21 is absolute, times a radius of a few.
    report.near("normal", got, want, 2e-6, 0x1p-19);
}
/// The first and the seventh number, and a hash of all that 8 threads drew.
template <class State>
static void check_bits(construct::Report& report, const std::vector<unsigned>& want) {
    Array<unsigned> all(48);
    draw<State><<<1, 8>>>(all, 0x123456789abcdefull);
    const std::vector<unsigned> bits = all.host();
    report.equal("bits", std::vector<unsigned>{bits[0], bits[6], hash(bits)}, want);
}
// The wanted numbers were drawn with curand's header of CUDA 13.0.
CONSTRUCT(curand_philox) {
    using State = curandStatePhilox4_32_10_t;
    check_bits<State>(report, {3092259374u, 1813021771u, 4138324985u});
    Array<unsigned> fours(8);
    draw_fours<<<1, 1>>>(fours);
    report.equal("fours", std::vector<unsigned>{fours.host()[0], hash(fours.host())},
                 {1611620758u, 3892966597u});
    check_real<State>(
        report, {0x1.37b0ap-1, 0x1.94633f28p-3, -0x1.26be24p+0, -0x1.e914f8p-1, -0x1.b285d6p+0});
}
CONSTRUCT(curand_xorwow) {
    check_bits<curandState>(report, {440680976u, 1133891295u, 1112106869u});
    check_real<curandState>(report, {0x1.a12094p-2, 0x1.85bf71dc8cdd3p-2, 0x1.305f92p-5,
                                     -0x1.41ff8ap+0, 0x1.013496p-2});
}

struct Largest {
    __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};
__global__ void blocks_of_cub(const float* from, float* out) {
    using Reduce = cub::BlockReduce<float, 64>;
    using Warp = cub::WarpReduce<float>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ typename Warp::TempStorage of_warp[2];
    const float value = from[threadIdx.x];
    const float sum = Reduce(storage).Sum(value);
    __syncthreads();
    const float largest = Reduce(storage).Reduce(value, Largest());
    const float warp = Warp(of_warp[threadIdx.x / 32]).Sum(value);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = warp;
    if (threadIdx.x == 0) {
        out[2] = sum;
        out[3] = largest;
    }
}
CONSTRUCT(cub_for_blocks_and_warps) {
    Array<float> from(numbers(64)), out(4);
    blocks_of_cub<<<1, 64>>>(from, out);
    report.equal("out", out.host(), {496, 1520, 2016, 63});
}

__global__ void complex_floats(const cuFloatComplex* z, cuFloatComplex* to) {
    const cuComplex a = z[0], b = z[1];
    to[0] = cuCaddf(a, b);
    to[1] = cuCsubf(a, b);
    to[2] = cuCmulf(a, b);
    to[3] = cuCdivf(a, b);
    to[4] = cuConjf(a);
    to[5] = cuCfmaf(a, b, make_cuComplex(1, -1));
    to[6] = make_cuFloatComplex(cuCabsf(a), cuCrealf(a) + 10 * cuCimagf(a));
    to[7] = cuComplexDoubleToFloat(make_cuDoubleComplex(0.5, -2));
    to[8] = cuCdivf(make_cuComplex(1e30f, 0), make_cuComplex(1e30f, 1e30f));
}
// The two are 3 + 4i and 1 - 2i. The functions of doubles are made by the same macro.
CONSTRUCT(complex_numbers_in_pairs) {
    Array<float2> from(std::vector<float2>{{3, 4}, {1, -2}}), to(9);
    complex_floats<<<1, 1>>>(from, to);
    const std::vector<float2> pairs = to.host();
    const auto got = table(18, [&](int i) { return i % 2 ? pairs[i / 2].y : pairs[i / 2].x; });
    report.near("to", got, {4, 2, 2, 6, 11, -2, -1, 2, 3, -4, 12, -3, 5, 43, 0.5f, -2, 0.5f, -0.5f},
                1e-6);
}
