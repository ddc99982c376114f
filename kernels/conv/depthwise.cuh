// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution: each channel of x is a group. A block stays within one plane of a result,
// so that its threads share a few taps, in shared memory; or it sums up one element of dw.
#pragma once

#include "kernels/conv/direct.cuh"
#include "kernels/grids.cuh"

namespace gradverify::conv {

/// Taps that lie in shared memory at once: a filter of 7x7, or of 31x31 in parts.
constexpr int depthwise_taps = 64;

/// A tap of a channel of y, and its weight.
template <class Sum>
struct DepthwiseTap {
    Sum weight;
    long long channel, at[3];
};

/// Loads taps from `first` on, of the channels of y from `k` on; all threads of a block call.
template <class T>
__device__ int load_taps(DepthwiseTap<Accumulator<T>>* taps, const Strided<const T>& w,
                         const DirectGeometry& g, long long k, long long first, long long count) {
    const int here =
        count - first < depthwise_taps ? static_cast<int>(count - first) : depthwise_taps;
    __syncthreads();  // those before may still be read
    for (int i = threadIdx.x; i < here; i += blockDim.x) {
        DepthwiseTap<Accumulator<T>> tap;
        tap.channel =
            k + split(first + i, g.axes[0].filter, g.axes[1].filter, g.axes[2].filter, tap.at);
        tap.weight = static_cast<Accumulator<T>>(w.at(tap.channel, 0, tap.at));
        taps[i] = tap;
    }
    __syncthreads();
    return here;
}

/// The plane and the place in it of a thread whose block has a share of one plane.
struct DepthwisePlace {
    long long n, channel, position[3];
    bool is_inside;

    __device__ DepthwisePlace(long long block, long long channels, long long size0, long long size1,
                              long long size2) {
        const long long positions = size0 * size1 * size2;
        const long long shares = (positions + blockDim.x - 1) / blockDim.x;
        const long long flat = block % shares * blockDim.x + threadIdx.x;
        n = block / shares / channels;
        channel = block / shares % channels;
        is_inside = flat < positions;
        split(flat, size0, size1, size2, position);
    }
};

/// y[n,k,o] = b[k] + sum over taps of x[n, c of k, ...] * w[k,0,tap].
template <class T>
__global__ void depthwise_to_features(Strided<const T> x, Strided<const T> w, const T* b,
                                      Strided<T> y, DirectGeometry g, long long first_block) {
    using Sum = Accumulator<T>;
    __shared__ DepthwiseTap<Sum> taps[depthwise_taps];
    const DepthwisePlace to(first_block + blockIdx.x, g.features, g.axes[0].features,
                            g.axes[1].features, g.axes[2].features);
    const long long count = g.axes[0].filter * g.axes[1].filter * g.axes[2].filter;
    Sum sum = static_cast<Sum>(b[to.channel]);
    for (long long first = 0; first < count; first += depthwise_taps) {
        const int here = load_taps(taps, w, g, to.channel, first, count);
        for (int i = 0; to.is_inside && i < here; ++i) {
            long long in[3];
            bool is_inside = true;
            for (int axis = 0; axis < 3; ++axis) {
                in[axis] = g.axes[axis].pixel(to.position[axis], taps[i].at[axis]);
                is_inside = is_inside && in[axis] >= 0;
            }
            if (is_inside)
                sum += static_cast<Sum>(x.at(to.n, to.channel / g.group_features, in)) *
                       taps[i].weight;
        }
    }
    if (to.is_inside) y.at(to.n, to.channel, to.position) = static_cast<T>(sum);
}

/// dx[n,c,i] = sum over the channels k of c and taps of dy[n,k,...] * w[k,0,tap].
template <class T>
__global__ void depthwise_to_image(Strided<const T> dy, Strided<const T> w, Strided<T> dx,
                                   DirectGeometry g, long long first_block) {
    using Sum = Accumulator<T>;
    __shared__ DepthwiseTap<Sum> taps[depthwise_taps];
    const DepthwisePlace to(first_block + blockIdx.x, g.image_channels, g.axes[0].image,
                            g.axes[1].image, g.axes[2].image);
    const long long count =
        g.group_features * g.axes[0].filter * g.axes[1].filter * g.axes[2].filter;
    Sum sum = 0;
    for (long long first = 0; first < count; first += depthwise_taps) {
        const int here = load_taps(taps, w, g, to.channel * g.group_features, first, count);
        for (int i = 0; to.is_inside && i < here; ++i) {
            long long out[3];
            bool is_inside = true;
            for (int axis = 0; axis < 3 && is_inside; ++axis) {
                out[axis] = g.axes[axis].feature(to.position[axis], taps[i].at[axis]);
                is_inside = out[axis] >= 0;
            }
            if (is_inside)
                sum += static_cast<Sum>(dy.at(to.n, taps[i].channel, out)) * taps[i].weight;
        }
    }
    if (to.is_inside) dx.at(to.n, to.channel, to.position) = static_cast<T>(sum);
}

/// The sum over a block of whole warps, in thread 0. Called once.
template <class Sum>
__device__ Sum sum_of_warps(Sum value) {
    __shared__ Sum of_warp[32];
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    for (int warp = 1; threadIdx.x == 0 && warp < blockDim.x / 32; ++warp) value += of_warp[warp];
    return value;
}

/// dw[k,0,tap] = sum over n and positions of dy * x. A block for each element.
template <class T>
__global__ void depthwise_to_filter(Strided<const T> dy, Strided<const T> x, Strided<T> dw,
                                    DirectGeometry g, long long first_element) {
    using Sum = Accumulator<T>;
    const DirectAxis(&axes)[3] = g.axes;
    long long tap[3];
    const long long k =
        split(first_element + blockIdx.x, axes[0].filter, axes[1].filter, axes[2].filter, tap);
    const long long terms = g.n * axes[0].features * axes[1].features * axes[2].features;
    Sum sum = 0;
    for (long long i = threadIdx.x; i < terms; i += blockDim.x) {
        long long out[3], in[3];
        const long long n = split(i, axes[0].features, axes[1].features, axes[2].features, out);
        bool is_inside = true;
        for (int axis = 0; axis < 3; ++axis) {
            in[axis] = axes[axis].pixel(out[axis], tap[axis]);
            is_inside = is_inside && in[axis] >= 0;
        }
        if (is_inside)
            sum += static_cast<Sum>(dy.at(n, k, out)) *
                   static_cast<Sum>(x.at(n, k / g.group_features, in));
    }
    sum = sum_of_warps(sum);
    if (threadIdx.x == 0) dw.at(k, 0, tap) = static_cast<T>(sum);
}

/// Blocks for shares of each plane of a tensor; a small plane needs few warps.
struct PlaneBlocks {
    long long count;
    int threads;

    PlaneBlocks(const TensorView& view, int block_size) {
        const long long planes = view.size(0) * view.size(1);
        const long long positions = view.elements() / planes;
        const long long whole_warps = (positions + 31) / 32 * 32;
        threads = whole_warps < block_size ? static_cast<int>(whole_warps) : block_size;
        count = planes * ((positions + threads - 1) / threads);
    }
};

template <class T, class Parameters>
void launch_depthwise_to_features(const Parameters& p, const TensorView& x, const TensorView& w,
                                  const TensorView& b, const TensorView& y, const Launch& launch) {
    if (y.elements() == 0) return;
    const PlaneBlocks blocks(y, launch.block_size);
    in_grids(blocks.count, [&](long long first, unsigned count) {
        depthwise_to_features<T><<<count, blocks.threads, 0, launch.stream>>>(
            strided<const T>(x), strided<const T>(w), b.as<const T>(), strided<T>(y),
            direct_geometry(p, x, y), first);
    });
}

template <class T, class Parameters>
void launch_depthwise_to_image(const Parameters& p, const TensorView& dy, const TensorView& w,
                               const TensorView& dx, const Launch& launch) {
    if (dx.elements() == 0) return;
    const PlaneBlocks blocks(dx, launch.block_size);
    in_grids(blocks.count, [&](long long first, unsigned count) {
        depthwise_to_image<T><<<count, blocks.threads, 0, launch.stream>>>(
            strided<const T>(dy), strided<const T>(w), strided<T>(dx), direct_geometry(p, dx, dy),
            first);
    });
}

template <class T, class Parameters>
void launch_depthwise_to_filter(const Parameters& p, const TensorView& dy, const TensorView& x,
                                const TensorView& dw, const Launch& launch) {
    in_grids(dw.elements(), [&](long long first, unsigned count) {
        depthwise_to_filter<T><<<count, launch.block_size, 0, launch.stream>>>(
            strided<const T>(dy), strided<const T>(x), strided<T>(dw), direct_geometry(p, x, dy),
            first);
    });
}

/// What all of them support and promise.
template <class T>
void declare_depthwise(KernelDeclaration& kernel) {
    declare_direct_product<T>(kernel);
    kernel.where("groups", same_as("c"))
        .blocks_of({128, 32})
        .costs({.threads_per_output = 16, .barriers_per_thread = 4});
}

}  // namespace gradverify::conv
