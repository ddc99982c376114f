// SPDX-License-Identifier: Apache-2.0
// What the products of a convolution share (wgmma_pixels.cuh, wgmma_filters.cuh, wgmma_lines.cuh),
// on the tensor cores of sm_90a, for images of two axes with channels last: tiles, the ring of
// stages that they come through, and an image's windows. One warp of a block has tiles of the
// factors copied through the ring, an image's as columns, one for each pixel of the result, which
// the copy itself makes (im2col); two warpgroups multiply them. So that they take little from the
// L2 cache, tiles are as large as the sums have registers for, and the blocks of a cluster, which
// have rows of their own and columns in common, copy a part of the common factor each, for all of
// them.
//
//   forward      y:  pixels of y by features, over taps and channels of x
//   grad_input   dx: pixels of dx by channels, over taps and features of dy; pixels of one residue
//                modulo the stride are reached by the same taps, and are a part of their own
//   grad_weight  dw: features by taps and channels, over pixels of y
//
// Floats are multiplied as tf32, where terms of the sum lie side by side in both factors; for
// grad_weight one of them comes from registers (wgmma_lines.cuh).
#pragma once

#include "kernels/fast/hopper.cuh"

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
        if (steps <= 0) {
            for (typename Tile::Sums& zeros : sums) zeros = {};
            return;
        }
        const int end = first_step + steps;
        const int a_at = Tile::first_row() / 64 * box_bytes;
        const int b_at = Tile::first_column() / 64 * box_bytes;
        for (int step = first_step; step < end; ++step) {
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
        release(end - 1);
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

/// Calls `use(half, row)` for each row that the thread has sums of.
template <class Tile, class Use>
__device__ void for_rows_of_sums(int row, Use use) {
#pragma unroll
    for (int half = 0; half < 2 * Tile::tall; ++half)
        use(half, row + Tile::first_row() + half / 2 * 64 + row_of_sums(half % 2));
}

// ---- windows of an image

/// One axis of a product's pixels, as copies and stores see it.
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

}  // namespace gradverify::conv::wgmma
