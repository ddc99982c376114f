// SPDX-License-Identifier: Apache-2.0
// Both convolutions with their ReLUs and maxima, an image at a time in shared memory; of it all
// only the maxima leave the block, and where they were. A thread has `tile` neighbouring outputs of
// a few maps in registers. The second convolution is summed by channels: a thread takes one.
#pragma once

#include "kernels/lenet5/fused_copy.cuh"
#include "kernels/lenet5/fused_network.cuh"

namespace gradverify::lenet5::fused {

constexpr int conv_forward_threads = 224;
constexpr int conv_forward_blocks_per_processor = 4;

/// Where things lie in a block's shared memory, in floats.
template <class Net>
struct ConvForwardShared {
    static constexpr int maps1 = 2, maps2 = 4;  ///< of a thread, in either convolution
    Net net;

    // Filters as (channel, tap), map.
    GRADVERIFY_BOTH int w1_row() const { return round_up(net.k1, maps1); }
    GRADVERIFY_BOTH int w2_row() const { return odd_quads(net.k2); }
    GRADVERIFY_BOTH int out1_row() const { return net.conv1_tiles() * tile; }
    GRADVERIFY_BOTH int out2_row() const { return net.conv2_tiles() * tile; }
    GRADVERIFY_BOTH int image() const { return net.c * net.h * net.image_row(); }
    GRADVERIFY_BOTH int pool1() const { return net.k1 * net.pool1_h() * net.pool1_row(); }
    GRADVERIFY_BOTH int out1() const { return net.k1 * net.conv1_h() * out1_row(); }
    GRADVERIFY_BOTH int out2() const { return net.k2 * net.conv2_h() * out2_row(); }

    GRADVERIFY_BOTH int image_at(int buffer) const { return buffer * image(); }
    GRADVERIFY_BOTH int pool1_at() const { return 2 * image(); }
    GRADVERIFY_BOTH int w2_at() const { return pool1_at() + pool1(); }
    GRADVERIFY_BOTH int w1_at() const { return w2_at() + net.k1 * net.filter() * w2_row(); }
    GRADVERIFY_BOTH int b1_at() const { return w1_at() + net.c * net.filter() * w1_row(); }
    GRADVERIFY_BOTH int b2_at() const { return b1_at() + net.k1; }
    /// First conv1's outputs, then conv2's of each channel.
    GRADVERIFY_BOTH int out_at() const { return round_up(b2_at() + net.k2, 4); }
    GRADVERIFY_BOTH int total() const { return out_at() + larger(out1(), net.k1 * out2()); }
};

struct ConvForwardCall {
    int n;
    const float *image, *conv1_w, *conv1_b, *conv2_w, *conv2_b;
    float *pool1, *pool2;
    WindowIndex *index1, *index2;
};

/// Filters `maps, (channel, tap)` to rows of maps; what has no map is zero.
__device__ inline void load_filters(float* to, int to_row, const float* from, int maps, int each) {
    for (int i = threadIdx.x; i < to_row * each; i += blockDim.x) {
        const int map = i / each, weight = i % each;
        to[weight * to_row + map] = map < maps ? from[i] : 0.0f;
    }
}

/// Adds what one channel gives to `tile` outputs of `maps` maps. `x` is the first number under the
/// first output, `w` the channel's first tap of the first map.
template <class Net, int maps>
__device__ void add_channel(const Net& net, const float* x, int x_row, const float* w, int w_row,
                            float (&sum)[maps][tile]) {
#pragma unroll(Net::unrolled)
    for (int r = 0; r < net.filter_h; ++r) {
        const Row<Net::are_constant, tile + taps - 1> numbers(x + r * x_row);
#pragma unroll(Net::unrolled)
        for (int s = 0; s < net.filter_w; ++s) {
            float weights[maps];
            read_neighbours(w + (r * net.filter_w + s) * w_row, weights);
#pragma unroll
            for (int map = 0; map < maps; ++map)
#pragma unroll
                for (int t = 0; t < tile; ++t) sum[map][t] += numbers[t + s] * weights[map];
        }
    }
}

/// The largest of each window, the first of several: `maps, h, w` from rows of `x_row`. `take` gets
/// the window's position in the result, its map and row, its column, the maximum and its index.
template <class Net, class Take>
__device__ void for_each_maximum(const Net& net, const float* x, int x_h, int x_row, int maps,
                                 int h, int w, Take&& take) {
    for (int i = threadIdx.x; i < maps * h * w; i += blockDim.x) {
        const int column = i % w, row = i / w % h, map = i / (w * h);
        const float* corner = x + (map * x_h + row * net.window_h) * x_row + column * net.window_w;
        float largest = corner[0];
        int index = 0;
#pragma unroll(Net::unrolled)
        for (int y = 0; y < net.window_h; ++y)
#pragma unroll(Net::unrolled)
            for (int z = 0; z < net.window_w; ++z)
                if (corner[y * x_row + z] > largest) {
                    largest = corner[y * x_row + z];
                    index = y * net.window_w + z;
                }
        take(i, i / w, column, largest, index);
    }
}

/// conv1's outputs behind the ReLU.
template <class Net>
__device__ void convolve_first(const ConvForwardShared<Net>& at, float* shared,
                               const float* image) {
    constexpr int maps = ConvForwardShared<Net>::maps1;
    const Net& net = at.net;
    const int tiles = net.conv1_tiles(), rows = net.conv1_h();
    for (int item = threadIdx.x; item < tiles * rows * ceil_div(net.k1, maps); item += blockDim.x) {
        const int column = item % tiles * tile, row = item / tiles % rows,
                  map = item / (tiles * rows) * maps;
        float sum[maps][tile] = {};
        for (int c = 0; c < net.c; ++c)
            add_channel(net, image + (c * net.h + row) * net.image_row() + column, net.image_row(),
                        shared + at.w1_at() + c * net.filter() * at.w1_row() + map, at.w1_row(),
                        sum);
#pragma unroll
        for (int m = 0; m < maps; ++m) {
            if (map + m >= net.k1) break;
            const float bias = shared[at.b1_at() + map + m];
#pragma unroll
            for (int t = 0; t < tile; ++t) sum[m][t] = rectified(sum[m][t] + bias);
            write_quads(sum[m],
                        shared + at.out_at() + ((map + m) * rows + row) * at.out1_row() + column);
        }
    }
}

/// conv2's outputs, of each channel by itself.
template <class Net>
__device__ void convolve_second(const ConvForwardShared<Net>& at, float* shared) {
    constexpr int maps = ConvForwardShared<Net>::maps2;
    const Net& net = at.net;
    const int tiles = net.conv2_tiles(), rows = net.conv2_h(), groups = ceil_div(net.k2, maps);
    for (int item = threadIdx.x; item < rows * tiles * groups * net.k1; item += blockDim.x) {
        const int row = item % rows, column = item / rows % tiles * tile,
                  map = item / (rows * tiles) % groups * maps, c = item / (rows * tiles * groups);
        float sum[maps][tile] = {};
        add_channel(net,
                    shared + at.pool1_at() + (c * net.pool1_h() + row) * net.pool1_row() + column,
                    net.pool1_row(), shared + at.w2_at() + c * net.filter() * at.w2_row() + map,
                    at.w2_row(), sum);
#pragma unroll
        for (int m = 0; m < maps; ++m) {
            if (map + m >= net.k2) break;
            write_quads(sum[m], shared + at.out_at() + c * at.out2() +
                                    ((map + m) * rows + row) * at.out2_row() + column);
        }
    }
}

/// Adds the channels up in the place of the first, the bias too, and rectifies.
template <class Net>
__device__ void sum_channels(const ConvForwardShared<Net>& at, float* shared) {
    float* const out = shared + at.out_at();
    for (int i = threadIdx.x; i < at.out2(); i += blockDim.x) {
        float sum = shared[at.b2_at() + i / (at.net.conv2_h() * at.out2_row())];
#pragma unroll(Net::unrolled)
        for (int c = 0; c < at.net.k1; ++c) sum += out[c * at.out2() + i];
        out[i] = rectified(sum);
    }
}

/// A block takes every so many images; while it computes one, the next is copied.
template <class Net>
__global__ void __launch_bounds__(conv_forward_threads, conv_forward_blocks_per_processor)
    conv_forward(Net net, ConvForwardCall call) {
    extern __shared__ __align__(16) float shared[];
    const ConvForwardShared<Net> at{net};
    const auto copy_image = [&](int i, int buffer) {
        copy_rows<Net::copied_at_once>(shared + at.image_at(buffer), net.image_row(),
                                       call.image + static_cast<std::size_t>(i) * net.image(),
                                       net.c * net.h, net.w);
    };
    if (net.image_row() != net.w || net.pool1_row() != net.pool1_w()) {
        clear(shared, at.w2_at());
        __syncthreads();
    }
    copy_image(blockIdx.x, 0);
    load_filters(shared + at.w1_at(), at.w1_row(), call.conv1_w, net.k1, net.c * net.filter());
    load_filters(shared + at.w2_at(), at.w2_row(), call.conv2_w, net.k2, net.k1 * net.filter());
    for (int k = threadIdx.x; k < net.k1; k += blockDim.x) shared[at.b1_at() + k] = call.conv1_b[k];
    for (int k = threadIdx.x; k < net.k2; k += blockDim.x) shared[at.b2_at() + k] = call.conv2_b[k];

    int buffer = 0;
    for (int i = blockIdx.x; i < call.n; i += gridDim.x, buffer ^= 1) {
        const auto image = static_cast<std::size_t>(i);
        wait_for_copies();
        __syncthreads();
        if (i + gridDim.x < call.n) copy_image(i + gridDim.x, buffer ^ 1);
        convolve_first(at, shared, shared + at.image_at(buffer));
        __syncthreads();
        for_each_maximum(net, shared + at.out_at(), net.conv1_h(), at.out1_row(), net.k1,
                         net.pool1_h(), net.pool1_w(),
                         [&](int position, int row, int column, float largest, int index) {
                             shared[at.pool1_at() + row * net.pool1_row() + column] = largest;
                             call.pool1[image * net.pool1() + position] = largest;
                             call.index1[image * net.index1_stride() + position] =
                                 static_cast<WindowIndex>(index);
                         });
        __syncthreads();
        convolve_second(at, shared);
        __syncthreads();
        sum_channels(at, shared);
        __syncthreads();
        for_each_maximum(net, shared + at.out_at(), net.conv2_h(), at.out2_row(), net.k2,
                         net.pool2_h(), net.pool2_w(),
                         [&](int position, int, int, float largest, int index) {
                             call.pool2[image * net.pool2() + position] = largest;
                             call.index2[image * net.index2_stride() + position] =
                                 static_cast<WindowIndex>(index);
                         });
    }
}

}  // namespace gradverify::lenet5::fused
