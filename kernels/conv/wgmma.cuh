// SPDX-License-Identifier: Apache-2.0
// The three products of a convolution on the tensor cores of sm_90a, for images of two axes with
// channels last. One warp of a block has tiles of the factors copied through a ring of stages, an
// image's as columns, one for each pixel of the result, which the copy itself makes (im2col); two
// warpgroups multiply them. So that they take little from the L2 cache, tiles are as large as the
// sums have registers for, and the blocks of a cluster, which have rows of their own and columns in
// common, copy a part of the common factor each, for all of them.
//
//   forward      y:  pixels of y by features, over taps and channels of x
//   grad_input   dx: pixels of dx by channels, over taps and features of dy; pixels of one residue
//                modulo the stride are reached by the same taps, and are a part of their own
//   grad_weight  dw: features by taps and channels, over pixels of y
//
// A factor may come in pieces, tensors that add up to it; then products of pieces are summed.
// Floats are multiplied as tf32, where terms of the sum lie side by side in both factors.
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/hopper.cuh"

namespace gradverify::conv::wgmma {

constexpr int row_bytes = 128, product_bytes = 32;  ///< of a row: in a stage, and in one product
template <class T>
constexpr int deep = row_bytes / sizeof(T);  ///< terms of the sum in a stage
constexpr int box_bytes = 64 * row_bytes;
constexpr int groups = 2, multiplying_warps = 4 * groups;
constexpr int staged_columns = 64;  ///< of halves, in rows of a warp that are stored
constexpr int staged_bytes = 16 * row_bytes;
// The copying warp is of a warpgroup, which leaves registers to those that hold sums.
constexpr int multiplying = 32 * multiplying_warps, threads = multiplying + 128;
constexpr int copying_registers = 40, multiplying_registers = 232;  ///< of a thread
constexpr CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;

/// Of how many pieces a factor is, and which products of one's pieces with the other's count: those
/// of three bfloat16 are left out that are less than 2^-24 of the factors' product.
template <int pieces_>
struct Pieces {
    static_assert(pieces_ == 1 || pieces_ == 3);
    static constexpr int count = pieces_, products = pieces_ == 1 ? 1 : 6;

    /// Pieces are numbered from the greatest on; two bits a product: 0 2, 1 1, 2 0, 0 1, 1 0, 0 0.
    __device__ static int of_a(int product) {
        return count == 1 ? 0 : (0x124 >> (2 * product)) & 3;
    }
    __device__ static int of_b(int product) {
        return count == 1 ? 0 : (0x046 >> (2 * product)) & 3;
    }
};

/// A block's part of the result. A warpgroup has `tall` times 64 rows, and all columns, the first
/// `used`, or, with `beside`, half of them.
template <int width_, int tall_, int blocks_, bool beside = false, int used = width_>
struct Tile {
    static constexpr int width = width_, tall = tall_;
    static constexpr bool are_beside = beside;
    static constexpr int height = 64 * tall * (beside ? 1 : groups);
    static constexpr int blocks = blocks_;  ///< of a cluster, one below the other
    static constexpr int columns = beside ? width / groups : used;  ///< of a warpgroup
    static constexpr int a_bytes = height * row_bytes, b_bytes = width * row_bytes;
    /// As many as fit in 200 of the 227 KiB that a block may have.
    static constexpr int stages = 200 * 1024 / (a_bytes + b_bytes);
    static constexpr unsigned all_blocks = (1u << blocks) - 1;
    using Sums = hopper::SumsOf<columns>;

    __device__ static int group() { return static_cast<int>(threadIdx.x) / 128; }
    __device__ static int first_row() { return beside ? 0 : group() * tall * 64; }
    __device__ static int first_column() { return beside ? group() * columns : 0; }
};

/// Shared memory, from a multiple of 1,024 bytes on: the stages, what rows go through that are
/// stored, then barriers. Steps are numbered through all tiles that a block works on.
template <class Tile>
struct Ring {
    static constexpr int stages = Tile::stages;
    static constexpr int staged_at = stages * (Tile::a_bytes + Tile::b_bytes);
    static constexpr int barriers_at = staged_at + multiplying_warps * staged_bytes;
    static constexpr int bytes = barriers_at + 2 * stages * sizeof(hopper::Barrier);

    unsigned char* first;

    __device__ unsigned char* a(int step) const {
        return first + step % stages * (Tile::a_bytes + Tile::b_bytes);
    }
    __device__ unsigned char* b(int step) const { return a(step) + Tile::a_bytes; }
    __device__ unsigned char* staged() const { return first + staged_at; }
    __device__ hopper::Barrier& filled(int step) const {
        return reinterpret_cast<hopper::Barrier*>(first + barriers_at)[step % stages];
    }
    __device__ hopper::Barrier& emptied(int step) const { return (&filled(step))[stages]; }

    __device__ void begin_barriers() const {
        if (threadIdx.x == 0) {
            for (int stage = 0; stage < stages; ++stage) {
                filled(stage).begin(1);
                emptied(stage).begin(Tile::blocks * multiplying_warps);
            }
            hopper::publish_barriers();
        }
        __syncthreads();
        hopper::meet_in_cluster();
    }
    /// Other blocks may still copy into this one's memory, and arrive at its barriers.
    __device__ void end() const {
        __syncwarp();
        hopper::meet_in_cluster();
    }

    /// By a warp: has a tile's stages filled, one after the other. Each thread issues one of the
    /// copies of a stage; one thread alone would take longer for their coordinates than the
    /// products take.
    template <class Factors>
    __device__ void copy(Factors factors, int first_step, int steps) const {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        for (int step = first_step; step < first_step + steps; ++step) {
            emptied(step).wait(step / stages % 2 ^ 1);
            if (lane == 0) filled(step).arrive_and_expect(Tile::a_bytes + Tile::b_bytes);
            if (lane < Factors::copies) factors.load(lane, a(step), b(step), filled(step));
            factors.advance();
        }
    }

    __device__ void release(int step) const {
        if (threadIdx.x % 32 == 0)
            for (unsigned block = 0; block < Tile::blocks; ++block)
                emptied(step).arrive_in_block(block);
    }

    /// By a warpgroup, for its part of a tile.
    template <class Factors>
    __device__ void multiply(typename Tile::Sums (&sums)[Tile::tall], int first_step,
                             int steps) const {
        constexpr bool a_transposed = Factors::a_transposed, b_transposed = Factors::b_transposed;
        constexpr int in_row = product_bytes;
        constexpr int in_rows = product_bytes / sizeof(typename Factors::Element) * row_bytes;
        const int a_at = Tile::first_row() / 64 * box_bytes;
        const int b_at = Tile::first_column() / 64 * box_bytes;
        if (steps <= 0) {
            for (typename Tile::Sums& zeros : sums) zeros = {};
            return;
        }
        for (int step = first_step; step < first_step + steps; ++step) {
            filled(step).wait(step / stages % 2);
            hopper::fence_sums();
#pragma unroll
            for (int i = 0; i < row_bytes / product_bytes; ++i)
#pragma unroll
                for (int row = 0; row < Tile::tall; ++row)
                    hopper::begin_product<typename Factors::Element, a_transposed, b_transposed>(
                        sums[row],
                        hopper::descriptor(a(step) + a_at + row * box_bytes +
                                           i * (a_transposed ? in_rows : in_row)),
                        hopper::descriptor(b(step) + b_at + i * (b_transposed ? in_rows : in_row),
                                           box_bytes),
                        step > first_step || i > 0);
            hopper::commit_products();
            // Only the products that were begun last may still read their stage.
            hopper::wait_for_products_but<1>();
            if (step > first_step) release(step - 1);
        }
        hopper::wait_for_products_but<0>();
        release(first_step + steps - 1);
    }
};

/// The thread's place in its warpgroup's sums, as hopper::SumsOf has them.
__device__ inline int row_of_sums(int half) {
    return static_cast<int>(threadIdx.x) % 128 / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4 +
           half * 8;
}
__device__ inline int column_of_sums(int pair) {
    return pair * 8 + static_cast<int>(threadIdx.x) % 4 * 2;
}

// ---- pixels by channels

/// One axis of such a product, as copies and stores see it.
struct ProductAxis {
    int pixels;          ///< of the result
    int corner, stride;  ///< of the first pixel's window in the image that is read, and to the next
    int taps, first_tap, tap_step;  ///< those that reach the pixels
    int first_offset, offset_step;  ///< where they lie in a window
    long long pixel_stride;         ///< of the result, in elements
};

struct PixelPlace {
    int image, y, x;

    /// `axes` are w and h.
    __device__ PixelPlace(const ProductAxis* axes, int pixel) {
        const int row = pixel / axes[0].pixels;
        x = pixel % axes[0].pixels, y = row % axes[1].pixels, image = row / axes[1].pixels;
    }
};

/// Where the window of a pixel of the result begins, in the image that is read.
struct Corner {
    int image, x, y;

    __device__ Corner(const ProductAxis* axes, const PixelPlace& place)
        : image(place.image),
          x(axes[0].corner + place.x * axes[0].stride),
          y(axes[1].corner + place.y * axes[1].stride) {}
};

/// Columns of an image, from a window on, for so many blocks: a cluster, or this alone.
template <int blocks>
__device__ void load_windows(void* to, const CUtensorMap& image, int channel, const Corner& corner,
                             int right, int down, hopper::Barrier& filled) {
    if constexpr (blocks == 1)
        hopper::load_columns(to, image, channel, corner.x, corner.y, corner.image, right, down,
                             filled);
    else
        hopper::load_columns_for((1u << blocks) - 1, to, image, channel, corner.x, corner.y,
                                 corner.image, right, down, filled);
}

constexpr int most_parts = 4;  ///< of a result

/// Pixels of a result by its channels; w, then h.
template <class Pieces>
struct PixelProduct {
    CUtensorMap image[Pieces::count];
    ProductAxis axes[2];
    int pixels;                ///< of all images
    void* first;               ///< of the result
    long long image_stride;    ///< of the result, in elements
    unsigned clusters_before;  ///< tiles of clusters that are other parts'
};

/// The parts of a result: one of y, and of dx one for each residue.
template <class Pieces_>
struct PixelParts {
    using Pieces = Pieces_;
    PixelProduct<Pieces> of[most_parts];
    CUtensorMap filter[Pieces::count];
    int count;
    unsigned clusters;         ///< tiles of clusters in all
    int chunks;                ///< of channels that are summed over, each a stage
    int channels;              ///< of the result
    long long channel_stride;  ///< of the result, in elements
    const void* bias;          ///< one for each channel, or null

    __device__ int steps(const PixelProduct<Pieces>& part) const {
        return part.axes[0].taps * part.axes[1].taps * chunks * Pieces::products;
    }
};

/// `by_features`: the result's channels are the filter's outermost axis, else its innermost.
template <class T, class Pieces, bool by_features, class Tile>
struct PixelFactors {
    using Element = T;
    static constexpr bool a_transposed = false, b_transposed = !by_features;
    /// What a block copies of the filter's tile for its cluster: columns, or terms of the sum.
    static constexpr int share = (by_features ? Tile::width : deep<T>) / Tile::blocks;
    static constexpr int copies = 1 + (by_features ? 1 : Tile::width / 64);

    const PixelParts<Pieces>& parts;
    const PixelProduct<Pieces>& part;
    Corner corner;
    int column, begin;
    int product = 0, along = 0, x = 0, y = 0;  ///< along channels that are summed over; the tap

    __device__ PixelFactors(const PixelParts<Pieces>& all, const PixelProduct<Pieces>& of, int row,
                            int first_column, int rank)
        : parts(all),
          part(of),
          corner(of.axes, PixelPlace(of.axes, row)),
          column(first_column),
          begin(rank * share) {}

    __device__ void load(int copy, unsigned char* a, unsigned char* b, hopper::Barrier& filled) {
        const ProductAxis &w = part.axes[0], &h = part.axes[1];
        if (copy == 0) {
            load_windows<1>(a, part.image[Pieces::of_a(product)], along, corner,
                            w.first_offset + x * w.offset_step, h.first_offset + y * h.offset_step,
                            filled);
            return;
        }
        const int tap_x = w.first_tap + x * w.tap_step, tap_y = h.first_tap + y * h.tap_step;
        const CUtensorMap& filter = parts.filter[Pieces::of_b(product)];
        if constexpr (by_features)
            hopper::load_box_for(Tile::all_blocks, b + begin * row_bytes, filter, along, tap_x,
                                 tap_y, column + begin, filled);
        else
            hopper::load_box_for(Tile::all_blocks, b + (copy - 1) * box_bytes + begin * row_bytes,
                                 filter, column + (copy - 1) * 64, tap_x, tap_y, along + begin,
                                 filled);
    }
    __device__ void advance() {
        if (++product < Pieces::products) return;
        product = 0, along += deep<T>;
        if (along < parts.chunks * deep<T>) return;
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

/// Calls `use(half, row)` for each row that the thread has sums of.
template <class Tile, class Use>
__device__ void for_rows_of_sums(int row, Use use) {
#pragma unroll
    for (int half = 0; half < 2 * Tile::tall; ++half)
        use(half, row + Tile::first_row() + half / 2 * 64 + row_of_sums(half % 2));
}

/// Rows of a result of halves, whose channels are a multiple of 8 and lie side by side, from a
/// warp's sums of 16 rows. They go through `staged`, 2 KiB of its own in shared memory, so that
/// threads that follow each other store what follows each other. `offset`: where the row `lane %
/// 16` begins in the result, or less than 0 if it is not there.
template <class T, class Tile, class Parts>
__device__ void store_rows(const Parts& parts, const typename Tile::Sums& sums, T* to,
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
template <class Tile, class Parts>
__device__ void store_pairs(const Parts& parts, const typename Tile::Sums& sums,
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

/// A result of floats, wherever its channels lie. Eight threads of a warp have pixels that follow
/// each other.
template <class Tile, class Parts>
__device__ void store_row_of_floats(const Parts& parts, const typename Tile::Sums& sums, int half,
                                    float* to, bool is_there, int column) {
    const auto* const bias = static_cast<const float*>(parts.bias);
    if (!is_there) return;
#pragma unroll
    for (int pair = 0; pair < Tile::columns / 8; ++pair)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int at = column + column_of_sums(pair) + i;
            if (at >= parts.channels) continue;
            const float sum = sums.at[pair * 4 + half % 2 * 2 + i];
            to[at * parts.channel_stride] = bias != nullptr ? sum + bias[at] : sum;
        }
}

template <class T, class Result, class Tile, class Parts>
__device__ void store_pixels(const Parts& parts, const PixelProduct<typename Parts::Pieces>& part,
                             const typename Tile::Sums (&sums)[Tile::tall], int row, int column,
                             unsigned char* staged) {
    static_assert(!Tile::are_beside);
    const auto offset_of = [&](int r) {
        const PixelPlace place(part.axes, r);
        return place.image * part.image_stride + place.y * part.axes[1].pixel_stride +
               place.x * part.axes[0].pixel_stride;
    };
    auto* const to = static_cast<Result*>(part.first);
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
    } else if constexpr (std::is_same_v<Result, float>) {
        for_rows_of_sums<Tile>(row, [&](int half, int r) {
            store_row_of_floats<Tile>(parts, sums[half / 2], half, to + offset_of(r),
                                      r < part.pixels, column);
        });
    } else {
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int of_lane =
            row + Tile::first_row() + warp % 4 * 16 + static_cast<int>(threadIdx.x) % 16;
#pragma unroll
        for (int i = 0; i < Tile::tall; ++i) {
            const int r = of_lane + i * 64;
            store_rows<Result, Tile>(parts, sums[i], to, r < part.pixels ? offset_of(r) : -1,
                                     column, staged + warp * staged_bytes);
        }
    }
}

/// Calls `use(part, row, column, steps)` for each tile of this block's.
template <class Tile, class Parts, class Use>
__device__ void for_tiles_of_pixels(const Parts& parts, int rank, Use use) {
    const int across = (parts.channels + Tile::width - 1) / Tile::width;
    for (unsigned i = blockIdx.x / Tile::blocks; i < parts.clusters;
         i += gridDim.x / Tile::blocks) {
        int at = 0;
        while (at + 1 < parts.count && i >= parts.of[at + 1].clusters_before) ++at;
        const auto& part = parts.of[at];
        const int cluster = static_cast<int>(i - part.clusters_before);
        use(part, (cluster / across * Tile::blocks + rank) * Tile::height,
            cluster % across * Tile::width, parts.steps(part));
    }
}

/// **Grid** clusters, any number; `threads`. They go through all tiles, columns first.
template <class T, class Result, class Pieces, bool by_features, class Tile>
__global__ void __cluster_dims__(Tile::blocks, 1, 1) __launch_bounds__(threads, 1)
    multiply_pixels(const __grid_constant__ PixelParts<Pieces> parts) {
    extern __shared__ __align__(1024) unsigned char shared[];
    using Factors = PixelFactors<T, Pieces, by_features, Tile>;
    using Part = PixelProduct<Pieces>;
    const Ring<Tile> ring{shared};
    const int rank = static_cast<int>(hopper::rank_in_cluster());
    ring.begin_barriers();
    int first_step = 0;
    if (threadIdx.x >= multiplying) {
        hopper::keep_registers<copying_registers>();
        if (threadIdx.x < multiplying + 32)
            for_tiles_of_pixels<Tile>(
                parts, rank, [&](const Part& part, int row, int column, int steps) {
                    ring.copy(Factors(parts, part, row, column, rank), first_step, steps);
                    first_step += steps;
                });
    } else {
        hopper::take_registers<multiplying_registers>();
        for_tiles_of_pixels<Tile>(
            parts, rank, [&](const Part& part, int row, int column, int steps) {
                typename Tile::Sums sums[Tile::tall];
                ring.template multiply<Factors>(sums, first_step, steps);
                store_pixels<T, Result, Tile>(parts, part, sums, row, column, ring.staged());
                first_step += steps;
            });
    }
    ring.end();
}

// ---- features by taps and channels

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
