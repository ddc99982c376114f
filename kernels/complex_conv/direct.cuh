// SPDX-License-Identifier: Apache-2.0
// Convolution of complex numbers in one, two and three dimensions, by its definition: a thread for
// each element of y and dx, a block for each of dw and db. Tensors are read and written as pairs,
// by their strides. The geometry is that of the kernels of real numbers.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "harness/kernel.hpp"
#include "kernels/conv/direct.cuh"
#include "reference/complex_conv.hpp"

namespace gradverify::complex_conv {

using conv::direct_geometry;
using conv::DirectAxis;
using conv::DirectGeometry;
using conv::split;
/// Of pairs, and strides in pairs.
template <class Pair>
using Pairs = conv::Strided<Pair>;

inline constexpr int most_threads = 128;

/// sum += a * b.
struct Product {
    template <class Pair>
    __device__ void add(Pair& sum, Pair a, Pair b) const {
        sum.x += a.x * b.x - a.y * b.y;
        sum.y += a.x * b.y + a.y * b.x;
    }
};
/// sum += a * the conjugate of b.
struct ConjugateProduct {
    template <class Pair>
    __device__ void add(Pair& sum, Pair a, Pair b) const {
        sum.x += a.x * b.x + a.y * b.y;
        sum.y += a.y * b.x - a.x * b.y;
    }
};

template <class Pair>
Pairs<Pair> pairs(const TensorView& view) {
    Pairs<Pair> tensor{view.as_pairs<Pair>(), view.stride(0) / 2, view.stride(1) / 2, {}};
    for (int axis = 2; axis + 1 < view.rank; ++axis)
        tensor.axes[axis + 4 - view.rank] = view.stride(axis) / 2;
    return tensor;
}

template <class Multiply, class Pair>
__global__ void forward(Pairs<const Pair> x, Pairs<const Pair> w, const Pair* b, Pairs<Pair> y,
                        DirectGeometry g, long long elements) {
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements;
         i += step) {
        long long out[3], in[3], tap[3];
        const long long channels = split(i, d.features, h.features, v.features, out);
        const long long n = channels / g.features, k = channels % g.features;
        const long long first = k / g.group_features * g.group_image;
        Pair sum = b[k];
        for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
            if ((in[0] = d.pixel(out[0], tap[0])) < 0) continue;
            for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                if ((in[1] = h.pixel(out[1], tap[1])) < 0) continue;
                for (tap[2] = 0; tap[2] < v.filter; ++tap[2]) {
                    if ((in[2] = v.pixel(out[2], tap[2])) < 0) continue;
                    for (long long c = 0; c < g.group_image; ++c)
                        Multiply().add(sum, x.at(n, first + c, in), w.at(k, c, tap));
                }
            }
        }
        y.at(n, k, out) = sum;
    }
}

template <class Multiply, class Pair>
__global__ void grad_input(Pairs<const Pair> dy, Pairs<const Pair> w, Pairs<Pair> dx,
                           DirectGeometry g, long long elements) {
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements;
         i += step) {
        long long in[3], out[3], tap[3];
        const long long channels = split(i, d.image, h.image, v.image, in);
        const long long n = channels / g.image_channels, c = channels % g.image_channels;
        const long long first = c / g.group_image * g.group_features;
        Pair sum{};
        for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
            if ((out[0] = d.feature(in[0], tap[0])) < 0) continue;
            for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                if ((out[1] = h.feature(in[1], tap[1])) < 0) continue;
                for (tap[2] = 0; tap[2] < v.filter; ++tap[2]) {
                    if ((out[2] = v.feature(in[2], tap[2])) < 0) continue;
                    for (long long k = first; k < first + g.group_features; ++k)
                        Multiply().add(sum, dy.at(n, k, out), w.at(k, c % g.group_image, tap));
                }
            }
        }
        dx.at(n, c, in) = sum;
    }
}

/// The sum over the threads of a block, in its first thread; all of them call.
template <class Pair>
__device__ Pair sum_of_block(Pair value) {
    __shared__ Pair share[most_threads];
    __syncthreads();  // the sum before may still be read
    share[threadIdx.x] = value;
    __syncthreads();
    for (unsigned left = blockDim.x, half; left > 1; left = half) {
        half = (left + 1) / 2;
        if (threadIdx.x + half < left) {
            share[threadIdx.x].x += share[threadIdx.x + half].x;
            share[threadIdx.x].y += share[threadIdx.x + half].y;
        }
        __syncthreads();
    }
    return share[0];
}

template <class Multiply, class Pair>
__global__ void grad_weight(Pairs<const Pair> dy, Pairs<const Pair> x, Pairs<Pair> dw,
                            DirectGeometry g, long long elements) {
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long outputs = g.n * d.features * h.features * v.features;
    for (long long i = blockIdx.x; i < elements; i += gridDim.x) {
        long long tap[3], in[3], out[3];
        const long long channels = split(i, d.filter, h.filter, v.filter, tap);
        const long long k = channels / g.group_image, c = channels % g.group_image;
        const long long channel = k / g.group_features * g.group_image + c;
        Pair sum{};
        for (long long o = threadIdx.x; o < outputs; o += blockDim.x) {
            const long long n = split(o, d.features, h.features, v.features, out);
            for (int axis = 0; axis < 3; ++axis)
                in[axis] = g.axes[axis].pixel(out[axis], tap[axis]);
            if (in[0] >= 0 && in[1] >= 0 && in[2] >= 0)
                Multiply().add(sum, dy.at(n, k, out), x.at(n, channel, in));
        }
        sum = sum_of_block(sum);
        if (threadIdx.x == 0) dw.at(k, c, tap) = sum;
    }
}

template <class Pair>
__global__ void grad_bias(Pairs<const Pair> dy, Pair* db, DirectGeometry g) {
    const long long outputs = g.n * g.axes[0].features * g.axes[1].features * g.axes[2].features;
    for (long long k = blockIdx.x; k < g.features; k += gridDim.x) {
        Pair sum{};
        for (long long o = threadIdx.x; o < outputs; o += blockDim.x) {
            long long out[3];
            const long long n =
                split(o, g.axes[0].features, g.axes[1].features, g.axes[2].features, out);
            const Pair term = dy.at(n, k, out);
            sum.x += term.x;
            sum.y += term.y;
        }
        sum = sum_of_block(sum);
        if (threadIdx.x == 0) db[k] = sum;
    }
}

template <class Pair, class Multiply = Product>
void launch_forward(const Forward& call) {
    const long long elements = call.y.elements() / 2;
    const int threads = call.launch.block_size;
    if (elements == 0) return;
    forward<Multiply, Pair>
        <<<conv::direct_blocks(elements, threads), threads, 0, call.launch.stream>>>(
            pairs<const Pair>(call.x), pairs<const Pair>(call.w), call.b.as_pairs<const Pair>(),
            pairs<Pair>(call.y), direct_geometry(call.problem, call.x, call.y), elements);
}

/// Of GradInput and Backward.
template <class Call, class Pair, class Multiply = ConjugateProduct>
void launch_grad_input(const Call& call) {
    const long long elements = call.dx.elements() / 2;
    const int threads = call.launch.block_size;
    if (elements == 0) return;
    grad_input<Multiply, Pair>
        <<<conv::direct_blocks(elements, threads), threads, 0, call.launch.stream>>>(
            pairs<const Pair>(call.dy), pairs<const Pair>(call.w), pairs<Pair>(call.dx),
            direct_geometry(call.problem, call.dx, call.dy), elements);
}

/// Of GradWeight and Backward.
template <class Call, class Pair, class Multiply = ConjugateProduct>
void launch_grad_weight(const Call& call) {
    const long long elements = call.dw.elements() / 2;
    grad_weight<Multiply, Pair>
        <<<conv::direct_blocks(elements, 1), call.launch.block_size, 0, call.launch.stream>>>(
            pairs<const Pair>(call.dy), pairs<const Pair>(call.x), pairs<Pair>(call.dw),
            direct_geometry(call.problem, call.x, call.dy), elements);
}

/// Of GradBias and Backward.
template <class Call, class Pair>
void launch_grad_bias(const Call& call) {
    grad_bias<Pair><<<conv::direct_blocks(call.db.elements() / 2, 1), call.launch.block_size, 0,
                      call.launch.stream>>>(pairs<const Pair>(call.dy),
                                            call.db.template as_pairs<Pair>(),
                                            direct_geometry(call.problem, call.dy, call.dy));
}

/// What they support and promise.
template <class Call, class Pair>
void declare_direct(KernelDeclaration& kernel) {
    constexpr DType dtype = DTypeOf<decltype(Pair::x)>::value;
    kernel.spatial_axes(1, 3)
        .supports("asymmetric_padding")
        .layout_of("y", {"nchw", "nhwc"})
        .blocks_of({64, most_threads, 37})
        .aligned_to(sizeof(Pair))
        .on_given_stream()
        .with_empty_problems();
    if constexpr (dtype != DType::f32) kernel.storage(dtype);
    if constexpr (!std::is_same_v<Call, GradBias>)
        kernel.layout_of("x", {"nchw", "nhwc"}).layout_of("w", {"oihw", "ohwi", "hwio"});
    // A block of 64 for two numbers; of backward those of dx have none.
    constexpr bool is_reduction =
        std::is_same_v<Call, GradWeight> || std::is_same_v<Call, GradBias>;
    if constexpr (is_reduction || std::is_same_v<Call, Backward>)
        kernel.costs({.threads_per_output = is_reduction ? 32 : 16, .barriers_per_thread = 8});
}

}  // namespace gradverify::complex_conv
