// SPDX-License-Identifier: Apache-2.0
// The kernels of conv/small_images, whose plans small_images.cu makes. Each thread keeps a tile of
// sums in registers, so that a number which it reads from shared memory is a factor of many
// products.
#pragma once

#include <type_traits>

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "kernels/grids.hpp"

namespace gradverify::conv::small_images {

constexpr int largest_filter = 7, count_of_tiles = 3;
constexpr long long most_bytes = 48 * 1024;  ///< of shared memory, which any GPU gives a block

struct Images {
    int channels, rows, columns;
    __host__ __device__ long long elements() const {
        return static_cast<long long>(channels) * rows * columns;
    }
};
/// A problem of stride 1: x and y, or, for the image's gradient, dy and dx with w turned round.
struct Sizes {
    Images from, to;
    int filter, above, before;  ///< zeros around `from`; where negative, what is cut off
    bool is_turned;
};

constexpr int in_pack = 4;  ///< numbers side by side that a thread takes at once
template <int count>
struct alignas(sizeof(float) * count) Pack {
    float of[count];
};

/// Reads numbers from a multiple of 16 bytes on, in whole packs as far as there are any.
template <int count>
__device__ void read(const float* from, float (&to)[count]) {
    constexpr int in_packs = count / in_pack * in_pack;
#pragma unroll
    for (int i = 0; i < in_packs; i += in_pack) {
        const auto pack = *reinterpret_cast<const Pack<in_pack>*>(from + i);
#pragma unroll
        for (int j = 0; j < in_pack; ++j) to[i + j] = pack.of[j];
    }
#pragma unroll
    for (int i = in_packs; i < count; ++i) to[i] = from[i];
}

/// Calls `move` with how many numbers can be moved at once from places that are multiples of
/// `apart`.
template <class Move>
__device__ void at_once(int apart, Move move) {
    if (apart % 4 == 0)
        move(std::integral_constant<int, 4>());
    else if (apart % 2 == 0)
        move(std::integral_constant<int, 2>());
    else
        move(std::integral_constant<int, 1>());
}

/// Writes the first `count` numbers of a pack to a place in rows that are `apart`.
__device__ inline void write(float* to, const float (&numbers)[in_pack], int count, int apart) {
    at_once(apart, [&](auto together) {
#pragma unroll
        for (int i = 0; i < in_pack; i += together()) {
            Pack<together()> some;
#pragma unroll
            for (int j = 0; j < together(); ++j) some.of[j] = numbers[i + j];
            if (i < count) *reinterpret_cast<Pack<together()>*>(to + i) = some;
        }
    });
}

/// Rows in shared memory, with a gap of `skew` floats behind each `together` of them.
template <int together>
struct Rows {
    float* first;
    int pitch, skew;
    __device__ int offset(int row) const { return row * pitch + row / together * skew; }
};

/// Begins to copy rows, each behind `before` zeros, or without its first numbers where that is
/// negative, and with zeros up to `extent`. All threads of the block call.
template <int together>
__device__ void copy_rows(const float* from, int rows, int columns, const Rows<together>& to,
                          int before, int extent) {
    at_once(columns | before, [&](auto count) {
        using Some = Pack<count()>;
        int across = 32;  // threads side by side
        while (across / 2 * count() >= extent) across /= 2;
        const int first = static_cast<int>(threadIdx.x) / across;
        const int below = static_cast<int>(blockDim.x) / across;
        for (int i = static_cast<int>(threadIdx.x) % across * count(); i < extent;
             i += across * count()) {
            const auto there = [&](int y) {
                return reinterpret_cast<Some*>(to.first + to.offset(y) + i);
            };
            const int x = i - before;
            if (x >= 0 && x < columns)
                for (int y = first; y < rows; y += below)
                    __pipeline_memcpy_async(there(y), from + y * columns + x, sizeof(Some));
            else
                for (int y = first; y < rows; y += below) *there(y) = {};
        }
    });
}
__device__ inline void finish_copies() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
}

// ---- forward and grad_input

/// Sums that a thread has at once: `rows` by `in_pack` pixels of so many channels.
struct Tile {
    int rows, channels;
};
constexpr Tile tiles[count_of_tiles] = {{1, 4}, {2, 3}, {4, 1}};
constexpr int most_warps = 8, wanted_warps = 4;  ///< of a block
constexpr long long most_blocks = 512;           ///< a few for each multiprocessor

/// How sums of products are formed. A group has the tile's channels of an image, and a task has
/// tiles of a group for a warp; where tasks are few, warps share the channels that one sums over.
struct Correlation : Sizes {
    int which, across;  ///< tile; packs of a row that is written
    int pitch, skew;    ///< of the rows that are read
    int groups, warps_of_group, tasks, shares;
    long long weights_at, bytes;  ///< in shared memory
};

/// Floats between a filter's rows for a tile's channels.
constexpr int pitch_of_weights(int filter, int channels) {
    return static_cast<int>(divided_up(channels * filter, in_pack)) * in_pack;
}

/// Begins to copy. biases: groups, the tile's channels; weights: groups, channels that are summed
/// over, rows, the tile's channels, columns. No bias where it is null.
template <int filter, int channels>
__device__ void copy_filter(const float* w, float* weights, const float* bias, float* biases,
                            const Correlation& g) {
    for (int i = static_cast<int>(threadIdx.x); i < g.groups * channels;
         i += static_cast<int>(blockDim.x))
        if (bias && i < g.to.channels)
            __pipeline_memcpy_async(biases + i, bias + i, sizeof *bias);
        else
            biases[i] = 0.0f;
    const int from = g.from.channels, rows = g.groups * channels * from * filter;
    for (int i = static_cast<int>(threadIdx.x); i < rows; i += static_cast<int>(blockDim.x)) {
        const int y = i % filter, c = i / filter % from, k = i / filter / from;
        const int present = min(k, g.to.channels - 1);  // the last group may have fewer
        const int plane = g.is_turned ? c * g.to.channels + present : present * from + c;
        const float* const row = w + (plane * filter + (g.is_turned ? filter - 1 - y : y)) * filter;
        float* const to =
            weights +
            ((k / channels * from + c) * filter + y) * pitch_of_weights(filter, channels) +
            k % channels * filter;
#pragma unroll
        for (int x = 0; x < filter; ++x)
            __pipeline_memcpy_async(to + x, row + (g.is_turned ? filter - 1 - x : x), sizeof *to);
    }
}

/// Adds what a tile's windows take from the channels of a share.
template <int filter, int rows, int channels>
__device__ void add_products(const Rows<rows>& image, int column, const float* weights,
                             int first_row, int share, const Correlation& g,
                             float (&sums)[channels][rows][in_pack]) {
    constexpr int weight_pitch = pitch_of_weights(filter, channels), reach = rows + filter - 1;
    int at[reach], step[reach];  // of the rows that are read, from a channel to the next
#pragma unroll
    for (int i = 0; i < reach; ++i) {
        const int y = first_row + i - g.above;
        const bool is_inside = y >= 0 && y < g.from.rows;
        at[i] = image.offset(is_inside ? share * g.from.rows + y : -1) + column;
        step[i] = is_inside ? image.offset(g.shares * g.from.rows) : 0;
    }
#pragma unroll 1
    for (int c = share; c < g.from.channels; c += g.shares) {
        float pixels[reach][in_pack + filter - 1];
#pragma unroll
        for (int i = 0; i < reach; ++i) {
            read(image.first + at[i], pixels[i]);
            at[i] += step[i];
        }
#pragma unroll
        for (int y = 0; y < filter; ++y) {
            float factors[channels * filter];
            read(weights + (c * filter + y) * weight_pitch, factors);
#pragma unroll
            for (int x = 0; x < filter; ++x)
#pragma unroll
                for (int k = 0; k < channels; ++k)
#pragma unroll
                    for (int i = 0; i < rows * in_pack; ++i)
                        sums[k][i / in_pack][i % in_pack] +=
                            pixels[i / in_pack + y][i % in_pack + x] * factors[k * filter + x];
        }
    }
}

/// Floats that a thread's sums take in shared memory; threads side by side then use other banks.
constexpr int pitch_of_sums(const Tile& tile) { return (tile.channels * tile.rows + 1) * in_pack; }

/// Adds the sums of all shares to those of the first, if each warp has one task.
template <int rows, int channels>
__device__ void add_shares(float* shared, int share, int shares,
                           float (&sums)[channels][rows][in_pack]) {
    const int thread = static_cast<int>(threadIdx.x);
    const int in_share = thread / 32 / shares * 32 + thread % 32;
    const int of_share = static_cast<int>(blockDim.x) / shares * pitch_of_sums({rows, channels});
    shared += in_share * pitch_of_sums({rows, channels});
    __syncthreads();  // the image was read
#pragma unroll
    for (int i = 0; i < channels * rows; ++i)
        if (share > 0)
            write(shared + (share - 1) * of_share + i * in_pack, sums[i / rows][i % rows], in_pack,
                  in_pack);
    __syncthreads();
    if (share > 0) return;
    for (int other = 0; other < shares - 1; ++other)
#pragma unroll
        for (int i = 0; i < channels * rows; ++i) {
            float more[in_pack];
            read(shared + other * of_share + i * in_pack, more);
#pragma unroll
            for (int j = 0; j < in_pack; ++j) sums[i / rows][i % rows][j] += more[j];
        }
}

/// **Grid** any number of blocks, each of which takes one image after the other. Shared memory: a
/// row of zeros, which stands for rows outside, the image's rows, or sums of shares, the filter.
template <int filter, int which>
__global__ void __launch_bounds__(32 * most_warps, 2)
    correlate(const float* __restrict__ from, const float* __restrict__ w,
              const float* __restrict__ bias, float* __restrict__ to, long long images,
              Correlation g) {
    constexpr Tile tile = tiles[which];
    const int weights_of_group = g.from.channels * filter * pitch_of_weights(filter, tile.channels);
    extern __shared__ float4 memory[];
    float* const first = reinterpret_cast<float*>(memory);
    const Rows<tile.rows> image{first + g.pitch + g.skew, g.pitch, g.skew};
    float* const weights = first + g.weights_at;
    float* const biases = weights + g.groups * weights_of_group;
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int extent = g.across * in_pack + filter - 1, share = thread / 32 % g.shares;
    const int positions = g.across * ((g.to.rows + tile.rows - 1) / tile.rows);
    for (int i = thread; i < extent; i += threads) image.first[image.offset(-1) + i] = 0.0f;
    copy_filter<filter, tile.channels>(w, weights, bias, biases, g);
    for (long long n = blockIdx.x; n < images; n += gridDim.x) {
        copy_rows(from + n * g.from.elements(), g.from.channels * g.from.rows, g.from.columns,
                  image, g.before, extent);
        finish_copies();
        for (int task = thread / 32 / g.shares; task < g.tasks; task += threads / 32 / g.shares) {
            const int group = task / g.warps_of_group;
            const int position = task % g.warps_of_group * 32 + thread % 32;
            const int at = min(position, positions - 1);
            const int row = at / g.across * tile.rows, column = at % g.across * in_pack;
            float sums[tile.channels][tile.rows][in_pack];
#pragma unroll
            for (int i = 0; i < tile.channels * tile.rows * in_pack; ++i)
                sums[i / in_pack / tile.rows][i / in_pack % tile.rows][i % in_pack] =
                    share == 0 ? biases[group * tile.channels + i / in_pack / tile.rows] : 0.0f;
            add_products<filter>(image, column, weights + group * weights_of_group, row, share, g,
                                 sums);
            if (g.shares > 1) add_shares(image.first, share, g.shares, sums);
            if (share > 0 || position >= positions) continue;
#pragma unroll
            for (int i = 0; i < tile.channels * tile.rows; ++i) {
                const int k = group * tile.channels + i / tile.rows, y = row + i % tile.rows;
                if (k >= g.to.channels || y >= g.to.rows) continue;
                float* const there =
                    to + n * g.to.elements() + (k * g.to.rows + y) * g.to.columns + column;
                write(there, sums[i / tile.rows][i % tile.rows], g.to.columns - column,
                      g.to.columns);
            }
        }
        __syncthreads();  // before the image is written over
    }
}

// ---- grad_weight

/// Features whose taps a thread sums at once.
constexpr int feature_tiles[count_of_tiles] = {1, 4, 6};
constexpr int most_warps_of_sums = 16;
constexpr long long most_parts = 128;  ///< a block each: about as many as multiprocessors

/// dw from images that a block has in shared memory. A thread sums one row of a filter's taps, for
/// one channel and a group of features, over a slice of the rows of dy.
struct FilterSums : Sizes {
    int which, across;  ///< tile; packs of a row of dy
    int x_pitch, dy_pitch;
    int at_once, slices;  ///< images in shared memory; threads that share a sum
    int groups, warps_of_group;
    int sums;  ///< elements of dw
    long long bytes;
};

/// Adds products of `packs` of a row of dy of each feature with those of a row of x.
template <int features, int filter>
__device__ void add_taps(const float* dy, int pitch, const float* x, int packs,
                         float (&sums)[features][filter]) {
    for (int pack = 0; pack < packs; ++pack, dy += in_pack, x += in_pack) {
        float pixels[in_pack + filter - 1];
        read(x, pixels);
#pragma unroll
        for (int k = 0; k < features; ++k) {
            float factors[in_pack];
            read(dy + k * pitch, factors);
#pragma unroll
            for (int i = 0; i < in_pack; ++i)
#pragma unroll
                for (int j = 0; j < filter; ++j) sums[k][j] += factors[i] * pixels[i + j];
        }
    }
}

/// parts: blocks along x, elements of dw. **Grid** x: any number of blocks; y: enough for the warps
/// of all groups. Shared memory: images of x, then of dy; sums of slices.
template <int filter, int which>
__global__ void __launch_bounds__(32 * most_warps_of_sums, 1)
    sum_filter(const float* __restrict__ dy, const float* __restrict__ x, float* parts,
               long long images, FilterSums g) {
    constexpr int features = feature_tiles[which];
    extern __shared__ float4 memory[];
    float* const x_rows = reinterpret_cast<float*>(memory);
    float* const dy_rows = x_rows + g.at_once * g.from.channels * g.from.rows * g.x_pitch;
    const Rows<1> rows_of_x{x_rows, g.x_pitch, 0}, rows_of_dy{dy_rows, g.dy_pitch, 0};
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const int warp = static_cast<int>(blockIdx.y) * (threads / 32) + thread / 32;
    const int group = warp / g.warps_of_group, rows_of_taps = g.from.channels * filter;
    const int item = warp % g.warps_of_group * 32 + thread % 32;
    const int slice = item / rows_of_taps, taps = item % rows_of_taps;
    const int c = taps / filter, tap = taps % filter, first_k = group * features;
    const bool has_sums = group < g.groups && slice < g.slices;
    float sums[features][filter] = {};
    for (long long first = static_cast<long long>(blockIdx.x) * g.at_once; first < images;
         first += static_cast<long long>(gridDim.x) * g.at_once) {
        const int count = static_cast<int>(min(images - first, static_cast<long long>(g.at_once)));
        copy_rows(x + first * g.from.elements(), count * g.from.channels * g.from.rows,
                  g.from.columns, rows_of_x, g.before, g.across * in_pack + filter - 1);
        copy_rows(dy + first * g.to.elements(), count * g.to.channels * g.to.rows, g.to.columns,
                  rows_of_dy, 0, g.across * in_pack);
        finish_copies();
        for (int n = 0, row = slice; has_sums; row += g.slices) {
            for (; row >= g.to.rows; row -= g.to.rows) ++n;
            if (n >= count) break;
            const int y = row + tap - g.above;
            if (y < 0 || y >= g.from.rows) continue;
            const float* of_x =
                x_rows + rows_of_x.offset((n * g.from.channels + c) * g.from.rows + y);
            const float* of_dy =
                dy_rows + rows_of_dy.offset((n * g.to.channels + first_k) * g.to.rows + row);
            add_taps(of_dy, g.to.rows * g.dy_pitch, of_x, g.across, sums);
        }
        __syncthreads();  // before the images are written over
    }
    parts += static_cast<long long>(blockIdx.x) * g.sums;
    float* const slices = g.slices > 1 ? x_rows + slice * g.sums : parts;
#pragma unroll
    for (int i = 0; i < features * filter && has_sums; ++i)
        slices[((first_k + i / filter) * rows_of_taps + taps) * filter + i % filter] =
            sums[i / filter][i % filter];
    if (g.slices == 1) return;
    __syncthreads();
    for (int i = thread; i < g.sums; i += threads) {
        float sum = 0.0f;
#pragma unroll 8
        for (int of_slice = 0; of_slice < g.slices; ++of_slice)
            sum += x_rows[of_slice * g.sums + i];
        parts[i] = sum;
    }
}

}  // namespace gradverify::conv::small_images
