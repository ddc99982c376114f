// SPDX-License-Identifier: Apache-2.0
// conv.grad_bias/one_launch: about as fast as dy can be read, where its planes are large. All
// blocks leave sums of some pixels for each channel; once the whole grid has, a warp for each
// channel adds them up, always in the same order.
#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include <cooperative_groups.h>

#include "kernels/conv/geometry.cuh"
#include "kernels/kernel.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;

constexpr int threads = 512, warps = threads / 32, most_blocks = 1024;
constexpr long long segment = 4096;  ///< most elements of a plane that one warp sums

/// `count` elements that are read at once.
template <class T, int count>
struct alignas(sizeof(T) * count) Pack {
    T of[count];
};
template <class T>
constexpr int most_in_pack = 16 / sizeof(T);

template <class A>
__device__ A sum_of_warp(A value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

/// Waits for the grid, then db = the sums of `parts`: channels, parts.
template <class T>
__device__ void add_parts(const Accumulator<T>* parts, long long count, T* db, long long channels) {
    cooperative_groups::this_grid().sync();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    for (long long k = thread_in_grid() / 32; k < channels; k += threads_in_grid() / 32) {
        Accumulator<T> sum = 0;
        for (long long part = lane; part < count; part += 32) sum += parts[k * count + part];
        sum = sum_of_warp(sum);
        if (lane == 0) db[k] = T(sum);
    }
}

/// dy: pixels, channels; parts: channels, blocks. **Grid** cooperative, of `threads`. Threads side
/// by side have packs of a pixel's channels, the others pixels below.
template <class T, int in_pack>
__global__ void sum_pixels(const T* dy, T* db, Accumulator<T>* parts, long long pixels,
                           long long channels, int across) {
    using A = Accumulator<T>;
    __shared__ A sums[threads * in_pack];
    const int column = static_cast<int>(threadIdx.x) % across;
    const int row = static_cast<int>(threadIdx.x) / across, rows = threads / across;
    const long long packs = channels / in_pack, apart = static_cast<long long>(gridDim.x) * rows;
    const auto* const all = reinterpret_cast<const Pack<T, in_pack>*>(dy);
    for (long long first = 0; first < packs; first += across) {
        const bool is_there = first + column < packs;
        A sum[in_pack] = {};
        const auto add = [&](const Pack<T, in_pack>& pack) {
#pragma unroll
            for (int i = 0; i < in_pack; ++i) sum[i] += static_cast<A>(pack.of[i]);
        };
        long long pixel = is_there ? static_cast<long long>(blockIdx.x) * rows + row : pixels;
        const auto* at = all + pixel * packs + first + column;
        constexpr int at_once = 4;
        for (; pixel + (at_once - 1) * apart < pixels;
             pixel += at_once * apart, at += at_once * apart * packs) {
            Pack<T, in_pack> some[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i) some[i] = at[i * apart * packs];
#pragma unroll
            for (int i = 0; i < at_once; ++i) add(some[i]);
        }
        for (; pixel < pixels; pixel += apart, at += apart * packs) add(*at);
#pragma unroll
        for (int i = 0; i < in_pack; ++i) sums[(row * in_pack + i) * across + column] = sum[i];
        __syncthreads();
        for (int j = static_cast<int>(threadIdx.x); j < across * in_pack; j += threads) {
            const long long channel = (first + j % across) * in_pack + j / across;
            if (channel >= channels) continue;
            A whole = 0;
            for (int below = 0; below < rows; ++below) whole += sums[below * across * in_pack + j];
            parts[channel * gridDim.x + blockIdx.x] = whole;
        }
        __syncthreads();
    }
    add_parts<T>(parts, gridDim.x, db, channels);
}

/// dy: images, channels, pixels; parts: channels, images, segments of a plane. **Grid** as above. A
/// warp has a segment.
template <class T, int in_pack>
__global__ void __launch_bounds__(threads, 2)
    sum_planes(const T* dy, T* db, Accumulator<T>* parts, long long images, long long channels,
               long long pixels) {
    using A = Accumulator<T>;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const long long segments = divided_up(pixels, segment);
    for (long long i = thread_in_grid() / 32; i < images * segments * channels;
         i += threads_in_grid() / 32) {
        const long long plane = i / segments, first = i % segments * segment;
        const auto* const packs =
            reinterpret_cast<const Pack<T, in_pack>*>(dy + plane * pixels + first);
        const int count = static_cast<int>(min(segment, pixels - first)) / in_pack;
        A sum = 0;
        constexpr int at_once = 8;  // the last ones, too, so that a warp does not wait for each
        for (int j = lane; j < count; j += at_once * 32) {
            Pack<T, in_pack> some[at_once] = {};
#pragma unroll
            for (int k = 0; k < at_once; ++k)
                if (j + k * 32 < count) some[k] = packs[j + k * 32];
#pragma unroll
            for (const Pack<T, in_pack>& pack : some)
#pragma unroll
                for (int e = 0; e < in_pack; ++e) sum += static_cast<A>(pack.of[e]);
        }
        sum = sum_of_warp(sum);
        if (lane == 0)
            parts[(plane % channels * images + plane / channels) * segments + i % segments] = sum;
    }
    add_parts<T>(parts, images * segments, db, channels);
}

/// Of as many blocks as are resident at once.
template <class... Parameters>
void launch_cooperative(void (*kernel)(Parameters...), long long blocks, cudaStream_t stream,
                        std::type_identity_t<Parameters>... parameters) {
    int device = 0, multiprocessors = 1, of_each = 1;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, kernel, threads, 0);
    const long long most = std::min(multiprocessors * of_each, most_blocks);
    void* arguments[] = {&parameters...};
    const cudaError_t error = cudaLaunchCooperativeKernel(
        reinterpret_cast<const void*>(kernel),
        static_cast<unsigned>(std::clamp(blocks, 1LL, std::max(most, 1LL))), threads, arguments, 0,
        stream);
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

long long pixels_of(const TensorView& dy) { return dy.size(2) * dy.size(3); }

/// Calls `launch` with how many elements a pack has, where rows of so many are whole packs.
template <class T, class Launcher>
void with_pack(long long row, Launcher launch) {
    if (row % most_in_pack<T> == 0)
        launch(std::integral_constant<int, most_in_pack<T>>());
    else
        launch(std::integral_constant<int, 1>());
}

template <class T>
void nchw(const GradBias& call) {
    with_pack<T>(pixels_of(call.dy), [&](auto in_pack) {
        const long long pixels = pixels_of(call.dy);
        const long long planes = call.problem.n * call.problem.k * divided_up(pixels, segment);
        launch_cooperative(sum_planes<T, in_pack()>, divided_up(planes, warps), call.launch.stream,
                           call.dy.as<const T>(), call.db.as<T>(),
                           static_cast<Accumulator<T>*>(call.launch.workspace), call.problem.n,
                           call.problem.k, pixels);
    });
}

template <class T>
void nhwc(const GradBias& call) {
    with_pack<T>(call.problem.k, [&](auto in_pack) {
        const long long pixels = call.problem.n * pixels_of(call.dy);
        int across = 1;
        while (across < threads && across * in_pack() < call.problem.k) across *= 2;
        launch_cooperative(sum_pixels<T, in_pack()>, divided_up(pixels, threads / across),
                           call.launch.stream, call.dy.as<const T>(), call.db.as<T>(),
                           static_cast<Accumulator<T>*>(call.launch.workspace), pixels,
                           call.problem.k, across);
    });
}

template <class T>
void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.spatial_axes(2, 2).aligned_to(16);
}
template <class T>
void declare_nchw(KernelDeclaration& kernel) {
    declare<T>(kernel);
    kernel.workspace([](const Problem& problem) -> std::int64_t {
        const Parameters p(problem);
        long long pixels = 1;
        for (const Axis& axis : p.spatial()) pixels *= positions_along(axis);
        return p.n * p.k * divided_up(pixels, segment) *
               static_cast<std::int64_t>(sizeof(Accumulator<T>));
    });
}
template <class T>
void declare_nhwc(KernelDeclaration& kernel) {
    declare<T>(kernel);
    kernel.layout("y", "nhwc");
    kernel.workspace([](const Problem& problem) {
        return most_blocks * Parameters(problem).k *
               static_cast<std::int64_t>(sizeof(Accumulator<T>));
    });
}

}  // namespace

GRADVERIFY_KERNEL_OF_EACH_TYPE(GradBias, "one_launch", nchw, declare_nchw);
GRADVERIFY_KERNEL_OF_EACH_TYPE(GradBias, "one_launch_nhwc", nhwc, declare_nhwc);
