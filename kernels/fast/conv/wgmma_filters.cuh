// SPDX-License-Identifier: Apache-2.0
// The product of features by taps and channels, over pixels: dw, in parts of the pixels, each with
// sums of its own.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels/fast/conv/wgmma.cuh"
#include "kernels/grids.cuh"

namespace gradverify::conv::wgmma {

/// Over the pixels of y, in parts.
struct FilterProduct {
    CUtensorMap features, image;  ///< of dy, and of x
    ProductAxis axes[2];          ///< of y's pixels in x; w, then h
    int chunks;                   ///< boxes of channels of x, for each tap
    int k, c;                     ///< features and channels
    int pixels, pixels_of_part;   ///< the latter is whole stages
    float* sums;                  ///< parts, k, taps, c

    __device__ int taps() const { return axes[0].taps * axes[1].taps; }
};

/// A tile's columns are boxes of 64 channels of one tap, numbered tap by tap.
template <class T, class Tile>
struct FilterFactors {
    using Element = T;
    static constexpr bool a_transposed = true, b_transposed = true;
    static constexpr int share =
        deep<T> / Tile::blocks;  ///< pixels that a block copies of a column
    static constexpr int copies_of_a = Tile::height / 64, copies = copies_of_a + Tile::width / 64;

    const FilterProduct& product;
    int pixel, begin;
    int row_or_channel, right, down;  ///< of what this thread copies

    __device__ FilterFactors(const FilterProduct& of, int first_pixel, int row, int first_box,
                             int rank)
        : product(of), pixel(first_pixel), begin(rank * share) {
        const int copy = static_cast<int>(threadIdx.x) % 32;
        // Behind the last box it is copied again, so that the product reads what was written.
        const int box =
            min(first_box + max(copy - copies_of_a, 0), product.taps() * product.chunks - 1);
        const ProductAxis &w = product.axes[0], &h = product.axes[1];
        const int tap = box / product.chunks;
        row_or_channel = copy < copies_of_a ? row + copy * 64 : box % product.chunks * 64;
        right = w.first_offset + tap % w.taps * w.offset_step;
        down = h.first_offset + tap / w.taps * h.offset_step;
    }

    __device__ void load(int copy, unsigned char* a, unsigned char* b, hopper::Barrier& filled) {
        if (copy < copies_of_a)
            hopper::load_tile(a + copy * box_bytes, product.features, row_or_channel, pixel,
                              filled);
        else
            load_windows<Tile::blocks>(
                b + (copy - copies_of_a) * box_bytes + begin * row_bytes, product.image,
                row_or_channel, Corner(product.axes, PixelPlace(product.axes, pixel + begin)),
                right, down, filled);
    }
    __device__ void advance() { pixel += deep<T>; }
};

/// **Grid** x: tiles of columns, then of rows, those of a cluster one after the other; y: parts of
/// the pixels; `threads`.
template <class T, class Tile>
__global__ void __cluster_dims__(Tile::blocks, 1, 1) __launch_bounds__(threads, 1)
    multiply_filters(const __grid_constant__ FilterProduct product) {
    extern __shared__ __align__(1024) unsigned char shared[];
    using Factors = FilterFactors<T, Tile>;
    const Ring<Tile> ring{shared};
    constexpr int boxes = Tile::width / 64;
    const int all_boxes = product.taps() * product.chunks, across = (all_boxes + boxes - 1) / boxes;
    const int rank = static_cast<int>(hopper::rank_in_cluster());
    const int cluster = static_cast<int>(blockIdx.x) / Tile::blocks;
    const int row = (cluster / across * Tile::blocks + rank) * Tile::height;
    const int first_box = cluster % across * boxes;
    const int first = static_cast<int>(blockIdx.y) * product.pixels_of_part;
    const int pixels = min(product.pixels_of_part, product.pixels - first);
    const int steps = (pixels + deep<T> - 1) / deep<T>;
    ring.begin_barriers();
    if (threadIdx.x >= multiplying) {
        hopper::keep_registers<copying_registers>();
        if (threadIdx.x < multiplying + 32)
            ring.copy(Factors(product, first, row, first_box, rank), 0, steps);
    } else {
        hopper::take_registers<multiplying_registers>();
        typename Tile::Sums sums[Tile::tall];
        ring.template multiply<Factors>(sums, 0, steps);
        constexpr int boxes_of_group = Tile::columns / 64;
        int at[boxes_of_group],
            channel[boxes_of_group];  // of the thread's first column in each box
#pragma unroll
        for (int i = 0; i < boxes_of_group; ++i) {
            const int box = first_box + Tile::first_column() / 64 + i;
            channel[i] =
                box < all_boxes ? box % product.chunks * 64 + column_of_sums(0) : product.c;
            at[i] = box / product.chunks * product.c + channel[i];
        }
        for_rows_of_sums<Tile>(row, [&](int half, int r) {
            if (r >= product.k) return;
            float* const to = product.sums + (static_cast<long long>(blockIdx.y) * product.k + r) *
                                                 product.taps() * product.c;
#pragma unroll
            for (int i = 0; i < boxes_of_group; ++i) {
                float* const first = to + at[i];
#pragma unroll
                for (int column = 0; column < 64; column += 8) {
                    const float* const two =
                        sums[half / 2].at + (i * 64 + column) / 2 + half % 2 * 2;
                    if (channel[i] + column < product.c)
                        *reinterpret_cast<float2*>(first + column) = make_float2(two[0], two[1]);
                }
            }
        });
    }
    ring.end();
}

constexpr unsigned most_sharing = 16;  ///< threads of a sum

/// The threads of a column share a sum's parts, where these are many. There are never more threads
/// than 32 columns of most_sharing.
inline dim3 block_of_parts(int parts) {
    const unsigned sharing =
        parts < 32 ? 1 : std::min(std::bit_floor(static_cast<unsigned>(parts)) / 8, most_sharing);
    return {std::max(256 / sharing, 32U), sharing};
}

/// Adds a product's parts, in one order, to the `count` elements of dw. **Grid** a column of
/// block_of_parts for each, and loops.
template <class T>
__global__ void add_parts(const float* sums, int parts, long long count, T* dw) {
    __shared__ float shared[32 * most_sharing];
    const int column = static_cast<int>(threadIdx.x), columns = static_cast<int>(blockDim.x);
    const int row = static_cast<int>(threadIdx.y), rows = static_cast<int>(blockDim.y);
    const long long step = rows * count;
    for (long long first = static_cast<long long>(blockIdx.x) * columns; first < count;
         first += threads_in_grid()) {
        const long long i = first + column;
        const float* from = sums + row * count + i;
        float sum = 0.0f;
        constexpr int at_once = 8;
        for (int part = row; i < count && part < parts; part += at_once * rows) {
            float some[at_once];
#pragma unroll
            for (int j = 0; j < at_once; ++j, from += step)
                some[j] = part + j * rows < parts ? *from : 0.0f;
#pragma unroll
            for (const float number : some) sum += number;
        }
        if (rows > 1) {
            __syncthreads();  // the sums before were read
            shared[row * columns + column] = sum;
            __syncthreads();
            if (row == 0)
                for (int other = 1; other < rows; ++other) sum += shared[other * columns + column];
        }
        if (row == 0 && i < count) dw[i] = T(sum);
    }
}

}  // namespace gradverify::conv::wgmma
