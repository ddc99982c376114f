// SPDX-License-Identifier: Apache-2.0
// The product of pixels by channels: y, and dx in a part for each residue modulo the stride. Its
// result is halves or floats, with channels last.
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/fast/conv/wgmma.cuh"

namespace gradverify::conv::wgmma {

constexpr int most_parts = 4;  ///< of a result

/// Pixels of a result by its channels; w, then h.
struct PixelProduct {
    CUtensorMap image;
    ProductAxis axes[2];
    int pixels;                ///< of all images
    void* first;               ///< of the result
    long long image_stride;    ///< of the result, in elements
    unsigned clusters_before;  ///< tiles of clusters that are other parts'
};

/// The parts of a result: one of y, and of dx one for each residue.
struct PixelParts {
    PixelProduct of[most_parts];
    CUtensorMap filter;
    int count;
    unsigned clusters;  ///< tiles of clusters in all
    int chunks;         ///< of channels that are summed over, each a stage
    int channels;       ///< of the result
    const void* bias;   ///< one for each channel, or null

    __device__ int steps(const PixelProduct& part) const {
        return part.axes[0].taps * part.axes[1].taps * chunks;
    }
};

/// `by_features`: the result's channels are the filter's outermost axis, else its innermost.
template <class T, bool by_features, class Tile>
struct PixelFactors {
    using Element = T;
    static constexpr bool a_transposed = false, b_transposed = !by_features;
    /// What a block copies of the filter's tile for its cluster: columns, or terms of the sum.
    static constexpr int share = (by_features ? Tile::width : deep<T>) / Tile::blocks;
    static constexpr int copies = 1 + (by_features ? 1 : Tile::width / 64);

    const PixelParts& parts;
    const PixelProduct& part;
    Corner corner;
    int column, begin;
    int along = 0, x = 0, y = 0;  ///< along channels that are summed over; the tap

    __device__ PixelFactors(const PixelParts& all, const PixelProduct& of, int row,
                            int first_column, int rank)
        : parts(all),
          part(of),
          corner(of.axes, PixelPlace(of.axes, row)),
          column(first_column),
          begin(rank * share) {}

    __device__ void load(int copy, unsigned char* a, unsigned char* b, hopper::Barrier& filled) {
        const ProductAxis &w = part.axes[0], &h = part.axes[1];
        if (copy == 0) {
            load_windows<1>(a, part.image, along, corner, w.first_offset + x * w.offset_step,
                            h.first_offset + y * h.offset_step, filled);
            return;
        }
        const int tap_x = w.first_tap + x * w.tap_step, tap_y = h.first_tap + y * h.tap_step;
        if constexpr (by_features)
            hopper::load_box_for(Tile::all_blocks, b + begin * row_bytes, parts.filter, along,
                                 tap_x, tap_y, column + begin, filled);
        else
            hopper::load_box_for(Tile::all_blocks, b + (copy - 1) * box_bytes + begin * row_bytes,
                                 parts.filter, column + (copy - 1) * 64, tap_x, tap_y,
                                 along + begin, filled);
    }
    __device__ void advance() {
        if ((along += deep<T>) < parts.chunks * deep<T>) return;
        along = 0;
        if (++x < part.axes[0].taps) return;
        x = 0, ++y;
    }
};

/// Two numbers side by side.
template <class T>
__device__ float2 both_of(const T* from) {
    const unsigned word = *reinterpret_cast<const unsigned*>(from);
    T both[2];
    memcpy(both, &word, sizeof both);
    return make_float2(static_cast<float>(both[0]), static_cast<float>(both[1]));
}
template <class T>
__device__ unsigned packed(float first, float second) {
    const T both[] = {T(first), T(second)};
    static_assert(sizeof both == sizeof(unsigned));
    unsigned word;
    memcpy(&word, both, sizeof word);
    return word;
}

/// Rows of a result of halves, whose channels are a multiple of 8 and lie side by side, from a
/// warp's sums of 16 rows. They go through `staged`, 2 KiB of its own in shared memory, so that
/// threads that follow each other store what follows each other. `offset`: where the row `lane %
/// 16` begins in the result, or less than 0 if it is not there.
template <class T, class Tile>
__device__ void store_rows(const PixelParts& parts, const typename Tile::Sums& sums, T* to,
                           long long offset, int column, unsigned char* staged) {
    constexpr int columns = Tile::columns < staged_columns ? Tile::columns : staged_columns;
    constexpr int in_row = columns / 8, rows = 32 / in_row, times = 16 / rows;  // 16 bytes a thread
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto place = [&](int row, int eight) {
        return staged + row * row_bytes + ((eight ^ row % 8) % in_row) * 16;
    };
    long long offsets[times];
#pragma unroll
    for (int i = 0; i < times; ++i)
        offsets[i] = __shfl_sync(0xffffffffu, offset, i * rows + lane / in_row);
    const auto* const bias = static_cast<const T*>(parts.bias);
#pragma unroll
    for (int first = 0; first < Tile::columns; first += columns) {
#pragma unroll
        for (int eight = 0; eight < columns / 8; eight += 2) {
            unsigned words[4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const int pair = first / 8 + eight + i, at = column + column_of_sums(pair);
                const float* const four = sums.at + pair * 4;
                const bool has_bias = bias != nullptr && at < parts.channels;
                const float2 b = has_bias ? both_of(bias + at) : make_float2(0.0f, 0.0f);
                words[2 * i] = packed<T>(four[0] + b.x, four[1] + b.y);
                words[2 * i + 1] = packed<T>(four[2] + b.x, four[3] + b.y);
            }
            hopper::store_matrices(place(lane % 16, eight + lane / 16), words);
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < times; ++i) {
            const int row = i * rows + lane / in_row, at = column + first + lane % in_row * 8;
            if (offsets[i] >= 0 && at < parts.channels)
                *reinterpret_cast<uint4*>(to + offsets[i] + at) =
                    *reinterpret_cast<const uint4*>(place(row, lane % in_row));
        }
        __syncwarp();
    }
}

/// The same of floats, each thread's pairs as they are: of two rows, null where one is not there.
template <class Tile>
__device__ void store_pairs(const PixelParts& parts, const typename Tile::Sums& sums,
                            float* const (&rows)[2], int column) {
    const auto* const bias = static_cast<const float*>(parts.bias);
#pragma unroll
    for (int pair = 0; pair < Tile::columns / 8; ++pair) {
        const int at = column + column_of_sums(pair);
        const bool is_there = at < parts.channels;
        const float2 b = bias != nullptr && is_there
                             ? __ldg(reinterpret_cast<const float2*>(bias + at))
                             : make_float2(0.0f, 0.0f);
        const float* const four = sums.at + pair * 4;
#pragma unroll
        for (int half = 0; half < 2; ++half)
            if (is_there && rows[half] != nullptr)
                *reinterpret_cast<float2*>(rows[half] + at) =
                    make_float2(four[2 * half] + b.x, four[2 * half + 1] + b.y);
    }
}

template <class T, class Tile>
__device__ void store_pixels(const PixelParts& parts, const PixelProduct& part,
                             const typename Tile::Sums (&sums)[Tile::tall], int row, int column,
                             unsigned char* staged) {
    static_assert(!Tile::are_beside);
    const auto offset_of = [&](int r) {
        const PixelPlace place(part.axes, r);
        return place.image * part.image_stride + place.y * part.axes[1].pixel_stride +
               place.x * part.axes[0].pixel_stride;
    };
    auto* const to = static_cast<T*>(part.first);
    if constexpr (std::is_same_v<T, float>) {
#pragma unroll
        for (int i = 0; i < Tile::tall; ++i) {
            float* rows[2];
            for (int half = 0; half < 2; ++half) {
                const int r = row + Tile::first_row() + i * 64 + row_of_sums(half);
                rows[half] = r < part.pixels ? to + offset_of(r) : nullptr;
            }
            store_pairs<Tile>(parts, sums[i], rows, column);
        }
    } else {
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int of_lane =
            row + Tile::first_row() + warp % 4 * 16 + static_cast<int>(threadIdx.x) % 16;
#pragma unroll
        for (int i = 0; i < Tile::tall; ++i) {
            const int r = of_lane + i * 64;
            store_rows<T, Tile>(parts, sums[i], to, r < part.pixels ? offset_of(r) : -1, column,
                                staged + warp * staged_bytes);
        }
    }
}

/// Calls `use(part, row, column, steps)` for each tile of this block's.
template <class Tile, class Use>
__device__ void for_tiles_of_pixels(const PixelParts& parts, int rank, Use use) {
    const int across = (parts.channels + Tile::width - 1) / Tile::width;
    for (unsigned i = blockIdx.x / Tile::blocks; i < parts.clusters;
         i += gridDim.x / Tile::blocks) {
        int at = 0;
        while (at + 1 < parts.count && i >= parts.of[at + 1].clusters_before) ++at;
        const PixelProduct& part = parts.of[at];
        const int cluster = static_cast<int>(i - part.clusters_before);
        use(part, (cluster / across * Tile::blocks + rank) * Tile::height,
            cluster % across * Tile::width, parts.steps(part));
    }
}

/// **Grid** clusters, any number; `threads`. They go through all tiles, columns first.
template <class T, bool by_features, class Tile>
__global__ void __cluster_dims__(Tile::blocks, 1, 1) __launch_bounds__(threads, 1)
    multiply_pixels(const __grid_constant__ PixelParts parts) {
    extern __shared__ __align__(1024) unsigned char shared[];
    using Factors = PixelFactors<T, by_features, Tile>;
    const Ring<Tile> ring{shared};
    const int rank = static_cast<int>(hopper::rank_in_cluster());
    ring.begin_barriers();
    int first_step = 0;
    if (threadIdx.x >= multiplying) {
        hopper::keep_registers<copying_registers>();
        if (threadIdx.x < multiplying + 32)
            for_tiles_of_pixels<Tile>(
                parts, rank, [&](const PixelProduct& part, int row, int column, int steps) {
                    ring.copy(Factors(parts, part, row, column, rank), first_step, steps);
                    first_step += steps;
                });
    } else {
        hopper::take_registers<multiplying_registers>();
        for_tiles_of_pixels<Tile>(
            parts, rank, [&](const PixelProduct& part, int row, int column, int steps) {
                typename Tile::Sums sums[Tile::tall];
                ring.template multiply<Factors>(sums, first_step, steps);
                store_pixels<T, Tile>(parts, part, sums, row, column, ring.staged());
                first_step += steps;
            });
    }
    ring.end();
}

}  // namespace gradverify::conv::wgmma
