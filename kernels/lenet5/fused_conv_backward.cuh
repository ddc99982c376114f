// SPDX-License-Identifier: Apache-2.0
// The gradients of both convolutions' parameters, an image at a time in shared memory, from the
// cotangents of pool2's outputs. A block takes every so many images and keeps its sums in registers
// all the while; at the end it writes them as one of the partial sums.
#pragma once

#include "kernels/lenet5/fused_copy.cuh"
#include "kernels/lenet5/fused_network.cuh"

namespace gradverify::lenet5::fused {

constexpr int conv_backward_threads = 256;
constexpr int conv_backward_blocks = 264;  ///< at most, and so the most partial sums

// A unit is some maps' gradients for a row of a filter, of one channel. Its sum is shared by the
// threads of so many parts of the convolution's rows; a block has room for so many units.
constexpr int parts1 = 24, units1 = 10, maps1 = 3;
constexpr int parts2 = 2, units2 = 128, maps2 = 4;
static_assert(parts1 * units1 <= conv_backward_threads);
static_assert(parts2 * units2 <= conv_backward_threads);
// conv2's inputs: some channels for a stretch of a row, of every so many maps.
constexpr int input_parts = 8, input_channels = 2, input_tile = 12;

/// Where things lie in a block's shared memory, in floats.
template <class Net>
struct ConvBackwardShared {
    Net net;

    GRADVERIFY_BOTH int dout1_row() const { return odd_quads(net.conv1_tiles() * tile); }
    GRADVERIFY_BOTH int dout2_row() const { return net.conv2_tiles() * tile; }
    GRADVERIFY_BOTH int dout2_map() const { return odd_quads(net.conv2_h() * dout2_row()); }
    /// With a spare row, which puts channels and rows of LeNet-5 into different banks.
    GRADVERIFY_BOTH int pool1_channel() const { return (net.pool1_h() + 1) * net.pool1_row(); }
    // conv2's filters as tap, map, channel.
    GRADVERIFY_BOTH int w2_map() const { return round_up(net.k1, input_channels); }
    GRADVERIFY_BOTH int w2_tap() const { return round_up(net.k2 * w2_map(), 32) + 2; }
    GRADVERIFY_BOTH int input_tiles() const { return ceil_div(net.pool1_w(), input_tile); }
    GRADVERIFY_BOTH int dpool1_row() const { return input_tiles() * input_tile; }
    GRADVERIFY_BOTH int dpool1_part() const {
        return odd_quads(net.k1 * net.pool1_h() * dpool1_row());
    }
    GRADVERIFY_BOTH int dpool1() const { return input_parts * dpool1_part(); }

    // What is copied of an image, twice: of the one that is computed and of the next.
    GRADVERIFY_BOTH int image_at() const { return 0; }
    GRADVERIFY_BOTH int pool1_at() const { return net.c * net.h * net.image_row(); }
    GRADVERIFY_BOTH int dpool2_at() const { return pool1_at() + net.k1 * pool1_channel(); }
    GRADVERIFY_BOTH int index1_at() const { return dpool2_at() + round_up(net.pool2(), 4); }
    GRADVERIFY_BOTH int index2_at() const { return index1_at() + net.index1_stride() / 2; }
    GRADVERIFY_BOTH int copied() const { return index2_at() + net.index2_stride() / 2; }

    GRADVERIFY_BOTH int dout2_at() const { return 2 * copied(); }
    GRADVERIFY_BOTH int dout1_at() const { return dout2_at() + net.k2 * dout2_map(); }
    GRADVERIFY_BOTH int w2_at() const { return dout1_at() + net.k1 * net.conv1_h() * dout1_row(); }
    GRADVERIFY_BOTH int dpool1_at() const { return round_up(w2_at() + net.filter() * w2_tap(), 4); }
    /// At the end the parts' sums lie where dpool1 did. One more than the parts, so that they
    /// begin in different banks.
    GRADVERIFY_BOTH int sums1() const { return maps1 * (taps + 1) * units1 * (parts1 + 1); }
    GRADVERIFY_BOTH int sums2() const { return maps2 * taps * units2; }
    GRADVERIFY_BOTH int total() const { return dpool1_at() + larger(dpool1(), sums1() + sums2()); }
};

struct ConvBackwardCall {
    int n, blocks;  ///< blocks of a round, each of which has its images
    const float *image, *conv2_w, *pool1, *dpool2;
    const WindowIndex *index1, *index2;
    float* sums;  ///< blocks, parameters: conv1_w, conv1_b, conv2_w, conv2_b
};

/// A unit, which may be behind the last: then `map` is too.
struct Unit {
    int map, channel, row, tap;  ///< the first map, the first tap

    __device__ bool is_first() const { return channel == 0 && row == 0 && tap == 0; }
};

/// Rows and channels first: neighbouring threads then read neighbouring rows.
template <int maps>
__device__ Unit unit_of(int unit, int channels, int filter_h, int chunks) {
    const int of_channels = unit / filter_h, of_chunks = of_channels / channels;
    return {of_chunks / chunks * maps, of_channels % channels, unit % filter_h,
            of_chunks % chunks * taps};
}

/// The map of conv2 whose bias a thread sums. The last threads have no unit of LeNet-5's.
__device__ inline int map_of_bias2(int round) {
    return (round + 1) * conv_backward_threads - 1 - static_cast<int>(threadIdx.x);
}

/// How many rounds of blocks it takes until each unit had its turn; one for LeNet-5.
template <class Net>
GRADVERIFY_BOTH int conv_backward_rounds(const Net& net) {
    const int all1 = ceil_div(net.k1, maps1) * net.c * net.filter_h * net.tap_chunks();
    const int all2 = ceil_div(net.k2, maps2) * net.k1 * net.filter_h * net.tap_chunks();
    return larger(larger(ceil_div(all1, units1), ceil_div(all2, units2)),
                  ceil_div(net.k2, conv_backward_threads));
}

/// The cotangents of a convolution's outputs in whole planes: a window's cotangent where its
/// maximum was, else zero. What is in no window was cleared once.
template <class Net>
__device__ void write_window(const Net& net, float* corner, int row, float cotangent, int index) {
#pragma unroll(Net::unrolled)
    for (int y = 0; y < net.window_h; ++y)
#pragma unroll(Net::unrolled)
        for (int z = 0; z < net.window_w; ++z)
            corner[y * row + z] = y * net.window_w + z == index ? cotangent : 0.0f;
}

/// The rows `part`, `part + parts`, ... of a convolution. `x` is the input under the first of all
/// rows, at the first tap; `dout` the first map; `maps` there are from that one on.
struct FilterRows {
    const float *x, *dout;
    int x_row, dout_row, dout_map, part, rows, tiles, maps;
};

/// Adds what they give to the filters' gradients, and to the bias's.
template <class Net, int parts, int maps, bool with_bias>
__device__ void add_filter_rows(const FilterRows& in, float (&dw)[maps][taps], float (&db)[maps]) {
    for (int row = in.part; row < in.rows; row += parts)
        for (int t0 = 0; t0 < in.tiles * tile; t0 += tile) {
            const Row<Net::are_constant, tile + taps - 1> x(in.x + row * in.x_row + t0);
#pragma unroll
            for (int m = 0; m < maps; ++m) {
                // A map that isn't there reads as the last; LeNet-5 has none.
                const int map = Net::are_constant ? m : min(m, in.maps - 1);
                const Row<Net::are_constant, tile> dout(in.dout + map * in.dout_map +
                                                        row * in.dout_row + t0);
#pragma unroll
                for (int t = 0; t < tile; ++t) {
#pragma unroll
                    for (int s = 0; s < taps; ++s) dw[m][s] += dout[t] * x[t + s];
                    if (with_bias) db[m] += dout[t];
                }
            }
        }
}

/// The cotangents of pool1's outputs, each part's maps by themselves.
template <class Net>
__device__ void grad_pool1(const ConvBackwardShared<Net>& at, float* shared) {
    const Net& net = at.net;
    const int groups = ceil_div(net.k1, input_channels), tiles = at.input_tiles();
    for (int item = threadIdx.x; item < input_parts * groups * tiles * net.pool1_h();
         item += blockDim.x) {
        const int part = item % input_parts, channel = item / input_parts % groups * input_channels,
                  column = item / (input_parts * groups) % tiles * input_tile,
                  y = item / (input_parts * groups * tiles);
        float sum[input_channels][input_tile] = {};
        for (int k = part; k < net.k2; k += input_parts)
            for (int r = larger(0, y - net.conv2_h() + 1); r <= min(y, net.filter_h - 1); ++r) {
                const Row<Net::are_constant, tile> dout(
                    shared + at.dout2_at() + k * at.dout2_map() + (y - r) * at.dout2_row());
#pragma unroll(Net::unrolled)
                for (int s = 0; s < net.filter_w; ++s) {
                    float weights[input_channels];
                    read_neighbours(shared + at.w2_at() + (r * net.filter_w + s) * at.w2_tap() +
                                        k * at.w2_map() + channel,
                                    weights);
#pragma unroll
                    for (int x = 0; x < input_tile; ++x) {
                        const int from = column + x - s;
                        if (from < 0 || from >= net.conv2_w()) continue;
#pragma unroll
                        for (int c = 0; c < input_channels; ++c)
                            sum[c][x] += dout[from] * weights[c];
                    }
                }
            }
#pragma unroll
        for (int c = 0; c < input_channels; ++c)
            if (channel + c < net.k1)
                write_quads(sum[c], shared + at.dpool1_at() + part * at.dpool1_part() +
                                        ((channel + c) * net.pool1_h() + y) * at.dpool1_row() +
                                        column);
    }
}

/// What lies in shared memory before the first image: zeros where nothing is written, and filters.
template <class Net>
__device__ void prepare_conv_backward(const ConvBackwardShared<Net>& at, float* shared,
                                      const float* conv2_w) {
    const Net& net = at.net;
    if (!Net::are_constant) {  // LeNet-5's windows and rows leave no gap that is read
        clear(shared, at.dpool1_at());
        __syncthreads();
    }
    for (int i = threadIdx.x; i < net.conv2_weights(); i += blockDim.x) {
        const int tap = i % net.filter(), channel = i / net.filter() % net.k1,
                  map = i / (net.filter() * net.k1);
        shared[at.w2_at() + tap * at.w2_tap() + map * at.w2_map() + channel] = conv2_w[i];
    }
}

template <class Net>
__device__ void copy_for_image(const ConvBackwardShared<Net>& at, float* to,
                               const ConvBackwardCall& call, int i) {
    const Net& net = at.net;
    constexpr int at_once = Net::copied_at_once;
    const auto image = static_cast<std::size_t>(i);
    const auto copy_indices = [](float* indices, const WindowIndex* from, int count) {
        copy_rows<4>(indices, 0, reinterpret_cast<const float*>(from), 1, count / 2);
    };
    copy_rows<at_once>(to + at.image_at(), net.image_row(), call.image + image * net.image(),
                       net.c * net.h, net.w);
    for (int k = 0; k < net.k1; ++k)
        copy_rows<at_once>(to + at.pool1_at() + k * at.pool1_channel(), net.pool1_row(),
                           call.pool1 + image * net.pool1() + k * net.pool1_h() * net.pool1_w(),
                           net.pool1_h(), net.pool1_w());
    copy_rows<at_once>(to + at.dpool2_at(), 0, call.dpool2 + image * net.pool2(), 1, net.pool2());
    copy_indices(to + at.index1_at(), call.index1 + image * net.index1_stride(),
                 net.index1_stride());
    copy_indices(to + at.index2_at(), call.index2 + image * net.index2_stride(),
                 net.index2_stride());
}

/// The cotangents of conv2's outputs, from pool2's.
template <class Net>
__device__ void expand_dpool2(const ConvBackwardShared<Net>& at, float* shared, const float* in) {
    const Net& net = at.net;
    for (int p = threadIdx.x; p < net.pool2(); p += blockDim.x) {
        const int column = p % net.pool2_w(), row = p / net.pool2_w() % net.pool2_h(),
                  map = p / (net.pool2_w() * net.pool2_h());
        write_window(net,
                     shared + at.dout2_at() + map * at.dout2_map() +
                         row * net.window_h * at.dout2_row() + column * net.window_w,
                     at.dout2_row(), in[at.dpool2_at() + p],
                     reinterpret_cast<const WindowIndex*>(in + at.index2_at())[p]);
    }
}

/// The cotangents of conv1's outputs, from the parts of pool1's.
template <class Net>
__device__ void expand_dpool1(const ConvBackwardShared<Net>& at, float* shared, const float* in) {
    const Net& net = at.net;
    for (int p = threadIdx.x; p < net.pool1(); p += blockDim.x) {
        const int column = p % net.pool1_w(), row = p / net.pool1_w() % net.pool1_h(),
                  map = p / (net.pool1_w() * net.pool1_h());
        const float* part = shared + at.dpool1_at() + p / net.pool1_w() * at.dpool1_row() + column;
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < input_parts; ++j) sum += part[j * at.dpool1_part()];
        const float pool1 =
            in[at.pool1_at() + map * at.pool1_channel() + row * net.pool1_row() + column];
        write_window(net,
                     shared + at.dout1_at() +
                         (map * net.conv1_h() + row * net.window_h) * at.dout1_row() +
                         column * net.window_w,
                     at.dout1_row(), pool1 > 0.0f ? sum : 0.0f,
                     reinterpret_cast<const WindowIndex*>(in + at.index1_at())[p]);
    }
}

/// What a thread sums over all images of its block.
struct FilterSums {
    float dw1[maps1][taps] = {}, db1[maps1] = {}, dw2[maps2][taps] = {}, db2 = 0.0f;
};

/// The unit of conv1 or conv2 that is a block's `unit`th in a round.
template <class Net>
__device__ Unit unit_of_conv1(const Net& net, int round, int unit) {
    return unit_of<maps1>(round * units1 + unit, net.c, net.filter_h, net.tap_chunks());
}
template <class Net>
__device__ Unit unit_of_conv2(const Net& net, int round, int unit) {
    return unit_of<maps2>(round * units2 + unit, net.k1, net.filter_h, net.tap_chunks());
}

/// Adds the parts of a block's units up, and writes them as a partial sum of the parameters.
template <class Net>
__device__ void write_filter_sums(const ConvBackwardShared<Net>& at, float* shared, int round,
                                  const FilterSums& sums, float* to) {
    static_assert(parts2 == 2);
    const Net& net = at.net;
    const int thread = threadIdx.x;
    float* const of_conv1 = shared + at.dpool1_at();
    float* const of_conv2 = of_conv1 + at.sums1();
    if (thread < units1 * parts1) {
        float* const mine = of_conv1 + thread / parts1 * (parts1 + 1) + thread % parts1;
#pragma unroll
        for (int m = 0; m < maps1; ++m)
#pragma unroll
            for (int s = 0; s <= taps; ++s)
                mine[(m * (taps + 1) + s) * units1 * (parts1 + 1)] =
                    s < taps ? sums.dw1[m][s] : sums.db1[m];
    }
    if (thread >= units2)
#pragma unroll
        for (int m = 0; m < maps2; ++m)
#pragma unroll
            for (int s = 0; s < taps; ++s)
                of_conv2[(m * taps + s) * units2 + thread - units2] = sums.dw2[m][s];
    __syncthreads();

    for (int i = thread; i < maps1 * (taps + 1) * units1; i += blockDim.x) {
        const Unit unit = unit_of_conv1(net, round, i % units1);
        const int map = unit.map + i / units1 / (taps + 1), s = i / units1 % (taps + 1);
        if (map >= net.k1) continue;
        float sum = 0.0f;
#pragma unroll
        for (int part = 0; part < parts1; ++part) sum += of_conv1[i * (parts1 + 1) + part];
        if (s < taps && unit.tap + s < net.filter_w)
            to[(map * net.c + unit.channel) * net.filter() + unit.row * net.filter_w + unit.tap +
               s] = sum;
        if (s == taps && unit.is_first()) to[net.conv1_weights() + map] = sum;
    }
    to += net.conv1_weights() + net.k1;
    if (thread < units2) {
        const Unit unit = unit_of_conv2(net, round, thread);
#pragma unroll
        for (int m = 0; m < maps2; ++m)
#pragma unroll
            for (int s = 0; s < taps; ++s)
                if (unit.map + m < net.k2 && unit.tap + s < net.filter_w)
                    to[((unit.map + m) * net.k1 + unit.channel) * net.filter() +
                       unit.row * net.filter_w + unit.tap + s] =
                        sums.dw2[m][s] + of_conv2[(m * taps + s) * units2 + thread];
    }
    if (const int map = map_of_bias2(round); map < net.k2) to[net.conv2_weights() + map] = sums.db2;
}

/// By block `block` of all rounds' blocks.
template <class Net>
__device__ void conv_backward(const Net& net, const ConvBackwardCall& call, int block,
                              float* shared) {
    const ConvBackwardShared<Net> at{net};
    const int thread = threadIdx.x, round = block / call.blocks, first = block % call.blocks;
    const Unit unit1 = unit_of_conv1(net, round, thread / parts1),
               unit2 = unit_of_conv2(net, round, thread % units2);
    const bool has_unit1 = thread < units1 * parts1 && unit1.map < net.k1,
               has_unit2 = unit2.map < net.k2;
    const int bias2 = map_of_bias2(round), pixels2 = net.pool2_h() * net.pool2_w();
    FilterSums sums;

    prepare_conv_backward(at, shared, call.conv2_w);
    copy_for_image(at, shared, call, first);
    int buffer = 0;
    for (int i = first; i < call.n; i += call.blocks, buffer ^= 1) {
        const float* const in = shared + buffer * at.copied();
        wait_for_copies();
        __syncthreads();
        if (i + call.blocks < call.n)
            copy_for_image(at, shared + (buffer ^ 1) * at.copied(), call, i + call.blocks);
        expand_dpool2(at, shared, in);
        __syncthreads();
        if (has_unit2) {
            float no_bias[maps2];
            add_filter_rows<Net, parts2, maps2, false>(
                {in + at.pool1_at() + unit2.channel * at.pool1_channel() +
                     unit2.row * net.pool1_row() + unit2.tap,
                 shared + at.dout2_at() + unit2.map * at.dout2_map(), net.pool1_row(),
                 at.dout2_row(), at.dout2_map(), thread / units2, net.conv2_h(), net.conv2_tiles(),
                 net.k2 - unit2.map},
                sums.dw2, no_bias);
        }
        if (bias2 < net.k2)  // each map from another pixel on, in another bank
            for (int p = 0; p < pixels2; ++p)
                sums.db2 += in[at.dpool2_at() + bias2 * pixels2 + (p + bias2) % pixels2];
        grad_pool1(at, shared);
        __syncthreads();
        expand_dpool1(at, shared, in);
        __syncthreads();
        if (has_unit1)
            add_filter_rows<Net, parts1, maps1, true>(
                {in + at.image_at() + (unit1.channel * net.h + unit1.row) * net.image_row() +
                     unit1.tap,
                 shared + at.dout1_at() + unit1.map * net.conv1_h() * at.dout1_row(),
                 net.image_row(), at.dout1_row(), net.conv1_h() * at.dout1_row(), thread % parts1,
                 net.conv1_h(), net.conv1_tiles(), net.k1 - unit1.map},
                sums.dw1, sums.db1);
    }
    write_filter_sums(at, shared, round, sums,
                      call.sums + static_cast<std::size_t>(first) * net.conv_parameters());
}

}  // namespace gradverify::lenet5::fused
