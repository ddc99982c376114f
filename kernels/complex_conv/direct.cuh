// SPDX-License-Identifier: Apache-2.0
// Convolution of complex numbers in one, two and three dimensions, by its definition: a thread for
// each element of y and dx, a block for each of dw and db. Tensors are read and written as pairs,
// by their strides. Written for these kernels alone: the reference has its own geometry.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "harness/kernel.hpp"
#include "reference/complex_conv.hpp"

namespace gradverify::complex_conv {

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

/// A tensor of two axes and up to three spatial ones; an axis that it lacks has one element.
template <class Pair>
struct Pairs {
    Pair* data;
    long long first, second, axes[3];  ///< strides, in pairs

    __device__ Pair& at(long long i, long long j, const long long (&position)[3]) const {
        return data[i * first + j * second + position[0] * axes[0] + position[1] * axes[1] +
                    position[2] * axes[2]];
    }
};

template <class Pair>
Pairs<Pair> pairs(const TensorView& view) {
    Pairs<Pair> tensor{view.as_pairs<Pair>(), view.stride(0) / 2, view.stride(1) / 2, {}};
    for (int axis = 2; axis + 1 < view.rank; ++axis)
        tensor.axes[axis + 4 - view.rank] = view.stride(axis) / 2;
    return tensor;
}

struct DirectAxis {
    long long in = 1, out = 1, filter = 1, stride = 1, dilation = 1, padding = 0;

    /// The pixel that an output reads through a tap, or -1.
    __device__ long long pixel(long long output, long long tap) const {
        const long long at = output * stride + tap * dilation - padding;
        return at < in ? at : -1;
    }
    /// The output that reads a pixel through a tap, or -1.
    __device__ long long output(long long pixel, long long tap) const {
        const long long shifted = pixel + padding - tap * dilation;
        if (shifted < 0 || shifted % stride != 0) return -1;
        return shifted / stride < out ? shifted / stride : -1;
    }
};

struct DirectGeometry {
    long long n, c, k, group_c, group_k;
    DirectAxis axes[3];
};

/// `y` is y or dy.
inline DirectGeometry direct_geometry(const conv::Parameters& p, const TensorView& y) {
    DirectGeometry g{p.n, p.c, p.k, p.c / p.groups, p.k / p.groups, {}};
    for (int axis = 0; axis < p.rank; ++axis) {
        const conv::Axis& of = p.axes[static_cast<std::size_t>(axis)];
        g.axes[axis + 3 - p.rank] = {of.in,     y.size(2 + axis), of.filter,
                                     of.stride, of.dilation,      of.padding_left};
    }
    return g;
}

/// Splits a flat index into positions on three axes of these sizes, the last one innermost; what
/// is left counts what lies outside of them.
__device__ inline long long split(long long index, long long size0, long long size1,
                                  long long size2, long long (&position)[3]) {
    position[2] = index % size2;
    position[1] = index / size2 % size1;
    position[0] = index / (size2 * size1) % size0;
    return index / (size2 * size1 * size0);
}

template <class Multiply, class Pair>
__global__ void forward(Pairs<const Pair> x, Pairs<const Pair> w, const Pair* b, Pairs<Pair> y,
                        DirectGeometry g, long long elements) {
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements;
         i += step) {
        long long out[3], in[3], tap[3];
        const long long channels = split(i, d.out, h.out, v.out, out);
        const long long n = channels / g.k, k = channels % g.k;
        const long long first = k / g.group_k * g.group_c;
        Pair sum = b[k];
        for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
            if ((in[0] = d.pixel(out[0], tap[0])) < 0) continue;
            for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                if ((in[1] = h.pixel(out[1], tap[1])) < 0) continue;
                for (tap[2] = 0; tap[2] < v.filter; ++tap[2]) {
                    if ((in[2] = v.pixel(out[2], tap[2])) < 0) continue;
                    for (long long c = 0; c < g.group_c; ++c)
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
        const long long channels = split(i, d.in, h.in, v.in, in);
        const long long n = channels / g.c, c = channels % g.c;
        const long long first = c / g.group_c * g.group_k;
        Pair sum{};
        for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
            if ((out[0] = d.output(in[0], tap[0])) < 0) continue;
            for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                if ((out[1] = h.output(in[1], tap[1])) < 0) continue;
                for (tap[2] = 0; tap[2] < v.filter; ++tap[2]) {
                    if ((out[2] = v.output(in[2], tap[2])) < 0) continue;
                    for (long long k = first; k < first + g.group_k; ++k)
                        Multiply().add(sum, dy.at(n, k, out), w.at(k, c % g.group_c, tap));
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
    const long long outputs = g.n * d.out * h.out * v.out;
    for (long long i = blockIdx.x; i < elements; i += gridDim.x) {
        long long tap[3], in[3], out[3];
        const long long channels = split(i, d.filter, h.filter, v.filter, tap);
        const long long k = channels / g.group_c, c = channels % g.group_c;
        const long long channel = k / g.group_k * g.group_c + c;
        Pair sum{};
        for (long long o = threadIdx.x; o < outputs; o += blockDim.x) {
            const long long n = split(o, d.out, h.out, v.out, out);
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
    const long long outputs = g.n * g.axes[0].out * g.axes[1].out * g.axes[2].out;
    for (long long k = blockIdx.x; k < g.k; k += gridDim.x) {
        Pair sum{};
        for (long long o = threadIdx.x; o < outputs; o += blockDim.x) {
            long long out[3];
            const long long n = split(o, g.axes[0].out, g.axes[1].out, g.axes[2].out, out);
            const Pair term = dy.at(n, k, out);
            sum.x += term.x;
            sum.y += term.y;
        }
        sum = sum_of_block(sum);
        if (threadIdx.x == 0) db[k] = sum;
    }
}

/// As many blocks as there is work for, but no more than a grid-stride loop needs to fill a GPU.
inline unsigned direct_blocks(long long blocks) {
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}
inline unsigned direct_blocks(long long elements, int block_size) {
    return direct_blocks((elements + block_size - 1) / block_size);
}

template <class Pair, class Multiply = Product>
void launch_forward(const Forward& call) {
    const long long elements = call.y.elements() / 2;
    const int threads = call.launch.block_size;
    if (elements == 0) return;
    forward<Multiply, Pair><<<direct_blocks(elements, threads), threads, 0, call.launch.stream>>>(
        pairs<const Pair>(call.x), pairs<const Pair>(call.w), call.b.as_pairs<const Pair>(),
        pairs<Pair>(call.y), direct_geometry(call.problem, call.y), elements);
}

/// Of GradInput and Backward.
template <class Call, class Pair, class Multiply = ConjugateProduct>
void launch_grad_input(const Call& call) {
    const long long elements = call.dx.elements() / 2;
    const int threads = call.launch.block_size;
    if (elements == 0) return;
    grad_input<Multiply, Pair>
        <<<direct_blocks(elements, threads), threads, 0, call.launch.stream>>>(
            pairs<const Pair>(call.dy), pairs<const Pair>(call.w), pairs<Pair>(call.dx),
            direct_geometry(call.problem, call.dy), elements);
}

/// Of GradWeight and Backward.
template <class Call, class Pair, class Multiply = ConjugateProduct>
void launch_grad_weight(const Call& call) {
    const long long elements = call.dw.elements() / 2;
    grad_weight<Multiply, Pair>
        <<<direct_blocks(elements), call.launch.block_size, 0, call.launch.stream>>>(
            pairs<const Pair>(call.dy), pairs<const Pair>(call.x), pairs<Pair>(call.dw),
            direct_geometry(call.problem, call.dy), elements);
}

/// Of GradBias and Backward.
template <class Call, class Pair>
void launch_grad_bias(const Call& call) {
    grad_bias<Pair>
        <<<direct_blocks(call.db.elements() / 2), call.launch.block_size, 0, call.launch.stream>>>(
            pairs<const Pair>(call.dy), call.db.template as_pairs<Pair>(),
            direct_geometry(call.problem, call.dy));
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
