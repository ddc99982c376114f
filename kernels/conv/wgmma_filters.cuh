// SPDX-License-Identifier: Apache-2.0
// The product of features by taps and channels, over pixels: dw, in parts of the pixels, each with
// sums of its own.
#pragma once

#include <type_traits>

#include "kernels/conv/wgmma.cuh"

namespace gradverify::conv::wgmma {

/// Over the pixels of y, in parts. Of floats (wgmma_lines.cuh) they are positions of a grid, where
/// pixels are axes[i].pixel_stride apart; a tap's line is that of its number modulo `tap_step`.
template <class Pieces>
struct FilterProduct {
    CUtensorMap features[Pieces::count], image[Pieces::count];  ///< of dy, and of x
    ProductAxis axes[2];                                        ///< of y's pixels in x; w, then h
    int chunks;                  ///< of 64 channels of x, for each tap
    int k, c;                    ///< features and channels
    int pixels, pixels_of_part;  ///< the latter is whole stages
    float* sums;                 ///< parts, k, taps, c

    __device__ int taps() const { return axes[0].taps * axes[1].taps; }
};

/// A tile's columns are boxes of 64 channels of one tap, numbered tap by tap.
template <class T, class Pieces, class Tile>
struct FilterFactors {
    using Element = T;
    static constexpr bool a_transposed = true, b_transposed = true;
    static constexpr int share =
        deep<T> / Tile::blocks;  ///< pixels that a block copies of a column
    static constexpr int copies_of_a = Tile::height / 64, copies = copies_of_a + Tile::width / 64;

    const FilterProduct<Pieces>& product;
    int pixel, begin, pieces = 0;     ///< which product of pieces is next
    int row_or_channel, right, down;  ///< of what this thread copies

    __device__ FilterFactors(const FilterProduct<Pieces>& of, int first_pixel, int row,
                             int first_box, int rank)
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
            hopper::load_tile(a + copy * box_bytes, product.features[Pieces::of_a(pieces)],
                              row_or_channel, pixel, filled);
        else
            load_windows<Tile::blocks>(
                b + (copy - copies_of_a) * box_bytes + begin * row_bytes,
                product.image[Pieces::of_b(pieces)], row_or_channel,
                Corner(product.axes, PixelPlace(product.axes, pixel + begin)), right, down, filled);
    }
    __device__ void advance() {
        if (++pieces < Pieces::products) return;
        pieces = 0, pixel += deep<T>;
    }
};

__host__ __device__ inline int floor_divided(int number, int by) {
    return (number - (number < 0 ? by - 1 : 0)) / by;
}

/// The same of floats: both factors are lines of pixels, one for each feature, phase and channel.
template <class Tile>
struct LineFactors {
    using Element = float;
    static constexpr bool a_transposed = false, b_transposed = false;
    static constexpr int share = 64 / Tile::blocks;  ///< channels that a block copies of a column
    static constexpr int copies_of_a = Tile::height / 64, copies = copies_of_a + Tile::width / 64;

    const FilterProduct<Pieces<1>>& product;
    int pixel, line, begin;  ///< of what this thread copies

    __device__ LineFactors(const FilterProduct<Pieces<1>>& of, int first_pixel, int row,
                           int first_box, int rank)
        : product(of), pixel(first_pixel), begin(rank * share) {
        const int copy = static_cast<int>(threadIdx.x) % 32;
        line = row + copy * 64;
        if (copy < copies_of_a) return;
        const int box = min(first_box + copy - copies_of_a, product.taps() * product.chunks - 1);
        const ProductAxis &w = product.axes[0], &h = product.axes[1];
        const int tap = box / product.chunks, x = tap % w.taps, y = tap / w.taps;
        line = (y % h.tap_step * w.tap_step + x % w.tap_step) * product.c +
               box % product.chunks * 64 + begin;
        pixel += shift(h, y) + shift(w, x);
    }

    __device__ static int shift(const ProductAxis& axis, int tap) {
        return floor_divided(axis.corner + tap * axis.offset_step, axis.stride) *
               static_cast<int>(axis.pixel_stride);
    }
    __device__ void load(int copy, unsigned char* a, unsigned char* b, hopper::Barrier& filled) {
        unsigned char* const to = b + (copy - copies_of_a) * box_bytes + begin * row_bytes;
        if (copy < copies_of_a)
            hopper::load_tile(a + copy * box_bytes, product.features[0], pixel, line, filled);
        else if constexpr (Tile::blocks == 1)
            hopper::load_tile(to, product.image[0], pixel, line, filled);
        else
            hopper::load_tile_for(Tile::all_blocks, to, product.image[0], pixel, line, filled);
    }
    __device__ void advance() { pixel += deep<float>; }
};

/// **Grid** x: tiles of columns, then of rows, those of a cluster one after the other; y: parts of
/// the pixels; `threads`.
template <class T, class Pieces, class Tile>
__global__ void __cluster_dims__(Tile::blocks, 1, 1) __launch_bounds__(threads, 1)
    multiply_filters(const __grid_constant__ FilterProduct<Pieces> product) {
    extern __shared__ __align__(1024) unsigned char shared[];
    using Factors = std::conditional_t<std::is_same_v<T, float>, LineFactors<Tile>,
                                       FilterFactors<T, Pieces, Tile>>;
    const Ring<Tile> ring{shared};
    constexpr int boxes = Tile::width / 64;
    const int all_boxes = product.taps() * product.chunks, across = (all_boxes + boxes - 1) / boxes;
    const int rank = static_cast<int>(hopper::rank_in_cluster());
    const int cluster = static_cast<int>(blockIdx.x) / Tile::blocks;
    const int row = (cluster / across * Tile::blocks + rank) * Tile::height;
    const int first_box = cluster % across * boxes;
    const int first = static_cast<int>(blockIdx.y) * product.pixels_of_part;
    const int pixels = min(product.pixels_of_part, product.pixels - first);
    const int steps = (pixels + deep<T> - 1) / deep<T> * Pieces::products;
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

}  // namespace gradverify::conv::wgmma
