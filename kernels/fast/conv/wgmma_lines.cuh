// SPDX-License-Identifier: Apache-2.0
// The filter's gradient of floats, as tf32: taps and channels by features, over pixels. Tensor
// cores take floats whose terms lie side by side, so dy is transposed to lines of pixels first. x
// is taken as it lies: threads read columns of its windows from shared memory, as the left factor.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/fast/conv/wgmma_launch.cuh"

namespace gradverify::conv::wgmma {

/// Matrices to transpose, and how far their rows are from each other, and the first elements.
struct Transposition {
    static constexpr int side = 32;  ///< of a tile
    int outer, rows, columns;
    long long from_outer, from_row, to_row;

    __host__ __device__ int down() const { return (rows + side - 1) / side; }
    __host__ __device__ int across() const { return (columns + side - 1) / side; }
    __host__ __device__ int tiles() const { return outer * down() * across(); }
};

/// `to`: outer, columns, rows. **Grid** a block of `side` times any number of threads for each
/// tile, and loops.
static __global__ void transpose(const float* from, float* to, Transposition t) {
    constexpr int side = Transposition::side;
    __shared__ float tile[side][side + 1];
    const int x = static_cast<int>(threadIdx.x), first = static_cast<int>(threadIdx.y);
    const int step = static_cast<int>(blockDim.y);
    for (int i = static_cast<int>(blockIdx.x); i < t.tiles(); i += static_cast<int>(gridDim.x)) {
        const int column = i % t.across() * side, row = i / t.across() % t.down() * side;
        const int matrix = i / t.across() / t.down();
        for (int y = first; y < side; y += step)
            if (row + y < t.rows && column + x < t.columns)
                tile[y][x] = from[matrix * t.from_outer + (row + y) * t.from_row + column + x];
        __syncthreads();
        for (int y = first; y < side; y += step)
            if (column + y < t.columns && row + x < t.rows)
                to[(static_cast<long long>(matrix) * t.columns + column + y) * t.to_row + row + x] =
                    tile[x][y];
        __syncthreads();
    }
}

constexpr int pixels_of_step = deep<float>, box_channels = row_bytes / int{sizeof(float)};
constexpr int window_bytes =
    pixels_of_step * row_bytes;  ///< of so many channels of a step's pixels

/// A tile's rows are boxes of 32 channels of one tap, numbered tap by tap.
template <class Tile>
struct LineFactors {
    static constexpr int boxes = Tile::height / box_channels, copies = 1 + boxes;
    static constexpr int share = Tile::width / Tile::blocks;  ///< lines that a block copies

    const FilterProduct& product;
    int pixel, line;
    int channel, right, down;  ///< of what this thread copies

    __device__ LineFactors(const FilterProduct& of, int first_pixel, int first_box, int column,
                           int rank)
        : product(of), pixel(first_pixel), line(column + rank * share) {
        const int copy = static_cast<int>(threadIdx.x) % 32;
        // Behind the last box it is copied again, so that the product reads what was written.
        const int box = min(first_box + max(copy - 1, 0), of.taps() * of.chunks - 1);
        const ProductAxis &w = of.axes[0], &h = of.axes[1];
        const int tap = box / of.chunks;
        channel = box % of.chunks * box_channels;
        right = w.first_offset + tap % w.taps * w.offset_step;
        down = h.first_offset + tap / w.taps * h.offset_step;
    }

    __device__ void load(int copy, unsigned char* a, unsigned char* b, hopper::Barrier& filled) {
        unsigned char* const to = b + line % Tile::width * row_bytes;
        if (copy > 0)
            load_windows<1>(a + (copy - 1) * window_bytes, product.image, channel,
                            Corner(product.axes, PixelPlace(product.axes, pixel)), right, down,
                            filled);
        else if constexpr (Tile::blocks == 1)
            hopper::load_tile(to, product.features, pixel, line, filled);
        else
            hopper::load_tile_for(Tile::all_blocks, to, product.features, pixel, line, filled);
    }
    __device__ void advance() { pixel += pixels_of_step; }
};

/// The thread's row of 64, as a channel of two boxes. Rows are dealt out so that the threads of a
/// warp, which read four pixels, find them in different banks.
__device__ inline int box_of_row() { return static_cast<int>(threadIdx.x) % 128 / 64; }
__device__ inline int channel_of_row(int half) {
    const int warp = static_cast<int>(threadIdx.x) / 32,
              row = static_cast<int>(threadIdx.x) % 32 / 4;
    return (warp % 2 * 2 + half + row / 4 * 4) * 4 + row % 4;
}

/// By a warpgroup, for its part of a tile.
template <class Tile>
__device__ void multiply_lines(const Ring<Tile>& ring, typename Tile::Sums (&sums)[Tile::tall],
                               int steps) {
    constexpr int terms = product_bytes / sizeof(float);
#pragma unroll
    for (typename Tile::Sums& zeros : sums) zeros = {};
    const int lane = static_cast<int>(threadIdx.x) % 32;
    int at[2][2];  // of the thread's channels, in the first product's pixels
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int channel = channel_of_row(i % 2), pixel = lane % 4 + i / 2 * 4;
        at[i / 2][i % 2] = (Tile::first_row() / box_channels + box_of_row()) * window_bytes +
                           pixel * row_bytes + (channel / 4 ^ pixel) * 16 + channel % 4 * 4;
    }
    for (int step = 0; step < steps; ++step) {
        ring.filled(step).wait(step / Tile::stages % 2);
        hopper::Rows a[Tile::tall][pixels_of_step / terms];
#pragma unroll
        for (int row = 0; row < Tile::tall; ++row)
#pragma unroll
            for (int i = 0; i < pixels_of_step / terms; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    a[row][i].pair[j] = *reinterpret_cast<const unsigned*>(
                        ring.a(step) + at[j / 2][j % 2] + row * 2 * window_bytes +
                        i * terms * row_bytes);
        hopper::fence_sums();
        const auto b = hopper::descriptor(ring.b(step));
#pragma unroll
        for (int i = 0; i < pixels_of_step / terms; ++i)
#pragma unroll
            for (int row = 0; row < Tile::tall; ++row)
                hopper::begin_product<float, false>(sums[row], a[row][i],
                                                    hopper::further(b, i * product_bytes));
        hopper::commit_products();
        hopper::wait_for_products_but<0>();
        __syncwarp();  // all of the warp have read the stage
        ring.release(step);
    }
}

/// **Grid** x: tiles of features, then of rows, those of a cluster one after the other; y: parts of
/// the pixels; `threads`.
template <class Tile>
__global__ void __cluster_dims__(Tile::blocks, 1, 1) __launch_bounds__(threads, 1)
    sum_lines(const __grid_constant__ FilterProduct product) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const Ring<Tile> ring{shared};
    const int rank = static_cast<int>(hopper::rank_in_cluster());
    const int across = (product.k + Tile::width - 1) / Tile::width;
    const int cluster = static_cast<int>(blockIdx.x) / Tile::blocks;
    constexpr int boxes = Tile::height / box_channels;
    const int first_box = (cluster / across * Tile::blocks + rank) * boxes;
    const int column = cluster % across * Tile::width;
    const int first = static_cast<int>(blockIdx.y) * product.pixels_of_part;
    const int pixels = min(product.pixels_of_part, product.pixels - first);
    const int steps = (pixels + pixels_of_step - 1) / pixels_of_step;
    ring.begin_barriers();
    if (threadIdx.x >= multiplying) {
        hopper::keep_registers<copying_registers>();
        if (threadIdx.x < multiplying + 32)
            ring.copy(LineFactors<Tile>(product, first, first_box, column, rank), 0, steps);
    } else {
        hopper::take_registers<multiplying_registers>();
        typename Tile::Sums sums[Tile::tall];
        multiply_lines<Tile>(ring, sums, steps);
        const long long in_feature = static_cast<long long>(product.taps()) * product.c;
#pragma unroll
        for (int half = 0; half < 2 * Tile::tall; ++half) {
            const int box =
                first_box + Tile::first_row() / box_channels + half / 2 * 2 + box_of_row();
            const int channel = box % product.chunks * box_channels + channel_of_row(half % 2);
            if (box >= product.taps() * product.chunks || channel >= product.c) continue;
            const int feature = column + column_of_sums(0);
            float* const to =
                product.sums +
                (static_cast<long long>(blockIdx.y) * product.k + feature) * in_feature +
                box / product.chunks * product.c + channel;
#pragma unroll
            for (int pair = 0; pair < Tile::columns / 8; ++pair)
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    if (feature + pair * 8 + i < product.k)
                        to[(pair * 8 + i) * in_feature] =
                            sums[half / 2].at[pair * 4 + half % 2 * 2 + i];
        }
    }
    ring.end();
}

// ---- on the host

inline void launch_transpose(const float* from, float* to, const Transposition& t,
                             cudaStream_t stream) {
    transpose<<<blocks_of_loop(t.tiles(), 1), dim3(t.side, 8), 0, stream>>>(from, to, t);
}

/// A filter whose features lie one after the other, as taps, channels, features.
inline Images<float> transposed(const Images<float>& w, float* to, cudaStream_t stream) {
    const auto [c, width, height, k] = w.sizes;
    const long long taps = width * height, tap = c * k;
    launch_transpose(w.data, to,
                     {.outer = static_cast<int>(taps),
                      .rows = static_cast<int>(k),
                      .columns = static_cast<int>(c),
                      .from_outer = c,
                      .from_row = c * taps,
                      .to_row = k},
                     stream);
    return {to, {k, width, height, c}, {0, tap, tap * width, k}};
}

/// Tiles as wide as there are features.
template <class Launcher>
void with_line_tile(int block_size, std::int64_t features, Launcher launch) {
    const std::int64_t width = block_size == suitable ? features : block_size;
    if (width > 128) return launch(Tile<256, 1, 2>{});
    if (width > 64) return launch(Tile<128, 2, 2>{});
    launch(Tile<64, 2, 1>{});
}

/// How the sum over pixels is split, and what it needs of a workspace: dy's lines, and sums of all
/// parts, whatever the block size.
struct LineSpace {
    long long pitch;  ///< of a line
    float *dy, *sums;

    LineSpace(const Parameters& p, void* workspace)
        : pitch(pitch_of(p)), dy(static_cast<float*>(workspace)), sums(dy + p.k * pitch) {}
    static std::int64_t bytes_of(const Parameters& p) {
        std::int64_t parts = 1;
        for (const int block_size : {64, 128, 256})
            with_line_tile(block_size, p.k, [&](auto tile) {
                parts = std::max<std::int64_t>(parts, split_of(p, tile).parts);
            });
        const std::int64_t of_feature = pitch_of(p) + parts * taps_of_channels(p);
        return p.k * of_feature * static_cast<std::int64_t>(sizeof(float));
    }
    static std::int64_t pitch_of(const Parameters& p) {
        return divided_up(pixels_of_features(p), 8) * 8;  // whole 16 bytes
    }
    static std::int64_t boxes_of(const Parameters& p) {
        return p.h().filter * p.w().filter * divided_up(p.c, box_channels);
    }
    template <class Tile>
    static Split split_of(const Parameters& p, Tile) {
        const int rows = divided_up_to_int(boxes_of(p) * box_channels, Tile::height * Tile::blocks);
        return Split(rows * Tile::blocks * divided_up_to_int(p.k, Tile::width),
                     pixels_of_features(p), pixels_of_step);
    }
};

/// Leaves sums as launch_sums_of_filter does. `dy`: pixels of features.
/// **Returns** how many parts there are.
inline int launch_sums_of_lines(const Parameters& p, const LineSpace& in, const TensorView& dy,
                                const Images<float>& x, const Launch& on) {
    auto product = filter_product(p, box_channels, in.sums);
    launch_transpose(dy.as<const float>(), in.dy,
                     {.outer = 1,
                      .rows = product.pixels,
                      .columns = product.k,
                      .from_outer = 0,
                      .from_row = p.k,
                      .to_row = in.pitch},
                     on.stream);
    product.image = columns_of<float>(x, product.axes, pixels_of_step);
    int parts = 0;
    with_line_tile(on.block_size, p.k, [&](auto tile) {
        using Tile = decltype(tile);
        const Split split = LineSpace::split_of(p, tile);
        product.pixels_of_part = split.pixels_of_part;
        product.features =
            tensor_maps::in_boxes<float, 2>({in.dy, {product.pixels, p.k}, {0, in.pitch}},
                                            {pixels_of_step, LineFactors<Tile>::share}, swizzle);
        launch_ring(sum_lines<Tile>, dim3(split.tiles, split.parts), Ring<Tile>::bytes, product,
                    on.stream);
        parts = split.parts;
    });
    return parts;
}

}  // namespace gradverify::conv::wgmma
