// SPDX-License-Identifier: Apache-2.0
// The network's sizes as the fused kernels take them: numbers of a problem, or LeNet-5's own as
// constants, with which every loop unrolls and every row fits into registers. One source serves
// both. And how a network's numbers lie in shared memory: in rows of whole quads.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace gradverify::lenet5::fused {

#define GRADVERIFY_BOTH __host__ __device__ constexpr

/// The position of a maximum in its window, in row order.
using WindowIndex = std::uint16_t;

GRADVERIFY_BOTH int ceil_div(int x, int y) { return (x + y - 1) / y; }
GRADVERIFY_BOTH int round_up(int x, int multiple) { return ceil_div(x, multiple) * multiple; }
GRADVERIFY_BOTH int larger(int x, int y) { return x > y ? x : y; }
/// At least `x`, and an odd number of quads: eight threads that each read a quad of the next row
/// then meet no bank twice.
GRADVERIFY_BOTH int odd_quads(int x) {
    return ceil_div(x, 4) % 2 ? round_up(x, 4) : round_up(x, 4) + 4;
}

constexpr int tile = 8;  ///< neighbouring outputs of a convolution that a thread has in registers
constexpr int taps = 5;  ///< neighbouring taps of a filter whose gradients a thread has

/// The sizes of any network.
struct AnySizes {
    static constexpr bool are_constant = false;
    static constexpr int copied_at_once =
        1;  ///< floats; the rows that are copied have such lengths
    int c, h, w, k1, k2, hidden1, hidden2, classes, filter_h, filter_w, window_h, window_w;
};

/// LeNet-5's.
struct LeNet5Sizes {
    static constexpr bool are_constant = true;
    static constexpr int copied_at_once = 4;
    static constexpr int c = 1, h = 28, w = 28, k1 = 6, k2 = 16, hidden1 = 120, hidden2 = 84,
                         classes = 10, filter_h = 5, filter_w = 5, window_h = 2, window_w = 2;
};

/// What follows from the sizes. Rows of shared memory are padded, with zeros: a thread reads all
/// numbers under `tile` outputs and `taps` taps, also where fewer are there.
template <class Sizes>
struct Network : Sizes {
    using Sizes::are_constant, Sizes::copied_at_once, Sizes::c, Sizes::h, Sizes::w, Sizes::k1,
        Sizes::k2, Sizes::hidden1, Sizes::hidden2, Sizes::classes, Sizes::filter_h, Sizes::filter_w,
        Sizes::window_h, Sizes::window_w;

    /// How often a loop over a filter, a window or channels is unrolled.
    static constexpr int unrolled = are_constant ? 32 : 1;

    GRADVERIFY_BOTH int filter() const { return filter_h * filter_w; }
    GRADVERIFY_BOTH int conv1_h() const { return h - filter_h + 1; }
    GRADVERIFY_BOTH int conv1_w() const { return w - filter_w + 1; }
    GRADVERIFY_BOTH int pool1_h() const { return conv1_h() / window_h; }
    GRADVERIFY_BOTH int pool1_w() const { return conv1_w() / window_w; }
    GRADVERIFY_BOTH int conv2_h() const { return pool1_h() - filter_h + 1; }
    GRADVERIFY_BOTH int conv2_w() const { return pool1_w() - filter_w + 1; }
    GRADVERIFY_BOTH int pool2_h() const { return conv2_h() / window_h; }
    GRADVERIFY_BOTH int pool2_w() const { return conv2_w() / window_w; }

    GRADVERIFY_BOTH int image() const { return c * h * w; }
    GRADVERIFY_BOTH int pool1() const { return k1 * pool1_h() * pool1_w(); }
    GRADVERIFY_BOTH int pool2() const { return k2 * pool2_h() * pool2_w(); }
    GRADVERIFY_BOTH int conv1_weights() const { return k1 * c * filter(); }
    GRADVERIFY_BOTH int conv2_weights() const { return k2 * k1 * filter(); }
    GRADVERIFY_BOTH int conv_parameters() const {
        return conv1_weights() + k1 + conv2_weights() + k2;
    }
    GRADVERIFY_BOTH int fc_parameters() const {
        return hidden1 * (pool2() + 1) + hidden2 * (hidden1 + 1) + classes * (hidden2 + 1);
    }

    GRADVERIFY_BOTH int conv1_tiles() const { return ceil_div(conv1_w(), tile); }
    GRADVERIFY_BOTH int conv2_tiles() const { return ceil_div(conv2_w(), tile); }
    /// Chunks of a filter's row.
    GRADVERIFY_BOTH int tap_chunks() const { return ceil_div(filter_w, taps); }
    GRADVERIFY_BOTH int image_row() const { return row_under(w, conv1_tiles()); }
    GRADVERIFY_BOTH int pool1_row() const { return row_under(pool1_w(), conv2_tiles()); }

    /// Images of the workspace begin at whole quads.
    GRADVERIFY_BOTH int index1_stride() const { return round_up(pool1(), 8); }
    GRADVERIFY_BOTH int index2_stride() const { return round_up(pool2(), 8); }

  private:
    GRADVERIFY_BOTH int row_under(int width, int tiles) const {
        return round_up(larger(width, tiles * tile + tap_chunks() * taps - 1), 4);
    }
};

using AnyNetwork = Network<AnySizes>;
using LeNet5 = Network<LeNet5Sizes>;
static_assert(LeNet5().image_row() == 28 && LeNet5().pool1_row() == 12);

/// `length` numbers of shared memory: in registers, read as quads, where the network's sizes are
/// constants; there `numbers` must lie at a whole quad.
template <bool in_registers, int length>
struct Row {
    __device__ explicit Row(const float* numbers) : numbers_(numbers) {}
    __device__ float operator[](int i) const { return numbers_[i]; }

  private:
    const float* numbers_;
};

template <int length>
struct Row<true, length> {
    __device__ explicit Row(const float* numbers) {
#pragma unroll
        for (int i = 0; i < round_up(length, 4); i += 4) {
            const float4 quad = *reinterpret_cast<const float4*>(numbers + i);
            numbers_[i] = quad.x, numbers_[i + 1] = quad.y, numbers_[i + 2] = quad.z,
            numbers_[i + 3] = quad.w;
        }
    }
    __device__ float operator[](int i) const { return numbers_[i]; }

  private:
    float numbers_[round_up(length, 4)];
};

/// Reads 2 or 4 neighbours at once; they lie at a multiple of so many.
__device__ inline void read_neighbours(const float* from, float (&to)[2]) {
    const float2 pair = *reinterpret_cast<const float2*>(from);
    to[0] = pair.x, to[1] = pair.y;
}
__device__ inline void read_neighbours(const float* from, float (&to)[4]) {
    const float4 quad = *reinterpret_cast<const float4*>(from);
    to[0] = quad.x, to[1] = quad.y, to[2] = quad.z, to[3] = quad.w;
}
__device__ inline void read_neighbours(const float* from, float (&to)[1]) { to[0] = *from; }

/// Writes a multiple of 4 neighbours, to whole quads.
template <int count>
__device__ void write_quads(const float (&from)[count], float* to) {
#pragma unroll
    for (int i = 0; i < count; i += 4)
        *reinterpret_cast<float4*>(to + i) =
            make_float4(from[i], from[i + 1], from[i + 2], from[i + 3]);
}

/// Not a number stays one.
__device__ inline float rectified(float x) { return x < 0.0f ? 0.0f : x; }

/// By all threads of a block.
__device__ inline void clear(float* numbers, int count) {
    for (int i = threadIdx.x; i < count; i += blockDim.x) numbers[i] = 0.0f;
}

}  // namespace gradverify::lenet5::fused
