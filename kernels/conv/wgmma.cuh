// SPDX-License-Identifier: Apache-2.0
// The three products of a convolution on the tensor cores of sm_90a, for images of two axes with
// channels last. A block has 128 x `width` elements of the result. One warp has tiles of the
// factors copied through a ring of stages, an image's as columns, one for each pixel of the result,
// which the copy itself makes (im2col); two warpgroups multiply them, 64 rows each.
//
//   forward      y:  pixels of y by features, over taps and channels of x
//   grad_input   dx: pixels of dx by channels, over taps and features of dy; pixels of one residue
//                modulo the stride are reached by the same taps, and are a part of their own
//   grad_weight  dw: features by taps and channels, over pixels of y
#pragma once

#include "kernels/conv/geometry.cuh"
#include "kernels/element.cuh"
#include "kernels/hopper.cuh"
#include "kernels/tensor_maps.hpp"

namespace gradverify::conv::wgmma {

constexpr int height = 128;     ///< rows of a block's result
constexpr int deep = 64;        ///< terms of the sum in a stage: 128 bytes of a row
constexpr int depth = 16;       ///< terms of the sum in one product
constexpr int row_bytes = 128;  ///< of a box
constexpr int box_bytes = deep * row_bytes;
constexpr int groups = height / 64, multiplying_warps = 4 * groups;
constexpr int multiplying = 32 * multiplying_warps, threads = multiplying + 32;
constexpr CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;

/// Shared memory, from a multiple of 1,024 bytes on: the stages, then barriers.
template <int width>
struct Ring {
    /// Two blocks share a multiprocessor, but for the widest.
    static constexpr int stages = width == 128 ? 3 : 4;
    static constexpr int a_bytes = height * row_bytes, b_bytes = width * row_bytes;
    static constexpr int barriers_at = stages * (a_bytes + b_bytes);
    static constexpr int bytes = barriers_at + 2 * stages * sizeof(hopper::Barrier);

    unsigned char* first;

    __device__ unsigned char* a(int step) const {
        return first + step % stages * (a_bytes + b_bytes);
    }
    __device__ unsigned char* b(int step) const { return a(step) + a_bytes; }
    __device__ hopper::Barrier& filled(int step) const {
        return reinterpret_cast<hopper::Barrier*>(first + barriers_at)[step % stages];
    }
    __device__ hopper::Barrier& emptied(int step) const { return (&filled(step))[stages]; }

    __device__ void begin_barriers() const {
        if (threadIdx.x == 0) {
            for (int stage = 0; stage < stages; ++stage) {
                filled(stage).begin(1);
                emptied(stage).begin(multiplying_warps);
            }
            hopper::publish_barriers();
        }
        __syncthreads();
    }

    /// By one thread: has the stages filled, one after the other.
    template <class Factors>
    __device__ void copy(Factors factors, int steps) const {
        for (int step = 0; step < steps; ++step) {
            emptied(step).wait(step / stages % 2 ^ 1);
            filled(step).arrive_and_expect(a_bytes + b_bytes);
            factors.load(a(step), b(step), filled(step));
        }
    }

    /// By a warpgroup, for its rows.
    template <class Factors>
    __device__ void multiply(hopper::SumsOf<width>& sums, int steps) const {
        constexpr bool a_transposed = Factors::a_transposed, b_transposed = Factors::b_transposed;
        constexpr int in_row = depth * 2, in_rows = depth * row_bytes;
        const int group = static_cast<int>(threadIdx.x) / 128;
        for (int step = 0; step < steps; ++step) {
            filled(step).wait(step / stages % 2);
            hopper::fence_sums();
            const unsigned char* const rows = a(step) + group * box_bytes;
            for (int i = 0; i < deep / depth; ++i)
                hopper::begin_product<typename Factors::Element, a_transposed, b_transposed>(
                    sums, hopper::descriptor(rows + i * (a_transposed ? in_rows : in_row)),
                    hopper::descriptor(b(step) + i * (b_transposed ? in_rows : in_row), box_bytes));
            hopper::commit_products();
            // Only the products that were begun last may still read their stage.
            hopper::wait_for_products_but<1>();
            if (step > 0 && threadIdx.x % 32 == 0) emptied(step - 1).arrive();
        }
        hopper::wait_for_products_but<0>();
    }
};

/// The thread's place in its warpgroup's sums, as hopper::SumsOf has them.
__device__ inline int row_of_sums(int half) {
    return static_cast<int>(threadIdx.x) / 32 * 16 + static_cast<int>(threadIdx.x) % 32 / 4 +
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

/// Columns of an image, from the window of a pixel on.
__device__ inline void load_windows(void* to, const CUtensorMap& image, int channel,
                                    const ProductAxis* axes, const PixelPlace& place, int tap_x,
                                    int tap_y, hopper::Barrier& filled) {
    hopper::load_columns(to, image, channel, axes[0].corner + place.x * axes[0].stride,
                         axes[1].corner + place.y * axes[1].stride, place.image,
                         axes[0].first_offset + tap_x * axes[0].offset_step,
                         axes[1].first_offset + tap_y * axes[1].offset_step, filled);
}

/// Pixels of a result by its channels; w, then h.
struct PixelProduct {
    CUtensorMap image, filter;
    ProductAxis axes[2];
    int pixels;              ///< of all images
    int chunks;              ///< of 64 channels that are summed over
    void* first;             ///< of the result
    long long image_stride;  ///< of the result, in elements
    unsigned blocks_before;  ///< those of other parts

    __device__ int steps() const { return axes[0].taps * axes[1].taps * chunks; }
};

/// `by_features`: the result's channels are the filter's outermost axis, else its innermost.
template <class T, bool by_features, int width>
struct PixelFactors {
    using Element = T;
    static constexpr bool a_transposed = false, b_transposed = !by_features;

    const PixelProduct& part;
    PixelPlace place;
    int column;
    int chunk = 0, x = 0, y = 0;

    __device__ PixelFactors(const PixelProduct& of, int row, int first_column)
        : part(of), place(of.axes, row), column(first_column) {}

    __device__ void load(unsigned char* a, unsigned char* b, hopper::Barrier& filled) {
        const ProductAxis &w = part.axes[0], &h = part.axes[1];
        load_windows(a, part.image, chunk * deep, part.axes, place, x, y, filled);
        const int tap_x = w.first_tap + x * w.tap_step, tap_y = h.first_tap + y * h.tap_step;
        if constexpr (by_features)
            hopper::load_box(b, part.filter, chunk * deep, tap_x, tap_y, column, filled);
        else
            for (int i = 0; i < width / deep; ++i)
                hopper::load_box(b + i * box_bytes, part.filter, column + i * deep, tap_x, tap_y,
                                 chunk * deep, filled);
        if (++chunk < part.chunks) return;
        chunk = 0;
        if (++x < w.taps) return;
        x = 0, ++y;
    }
};

/// The parts of a result: one of y, and of dx one for each residue.
struct PixelParts {
    static constexpr int most = 4;
    PixelProduct of[most];
    int count;
    int channels;      ///< of the result, a multiple of 8
    const void* bias;  ///< one for each channel, or null
};

/// Sums go through shared memory, so that neighbouring threads write what lies side by side.
template <class T, int width>
__device__ void store_pixels(const PixelParts& parts, const PixelProduct& part,
                             unsigned char* memory, const hopper::SumsOf<width>& sums, int row,
                             int column) {
    constexpr int staged = width + 8;  // its rows begin in other banks
    constexpr int vector = 16 / sizeof(T), vectors = width / vector;
    T* const rows = reinterpret_cast<T*>(memory);
    const auto* const bias = static_cast<const T*>(parts.bias);
    for (int pair = 0; pair < width / 8; ++pair) {
        const int at = column_of_sums(pair);
        const bool has_bias = bias != nullptr && column + at < parts.channels;
        for (int half = 0; half < 2; ++half)
            for (int i = 0; i < 2; ++i)
                rows[row_of_sums(half) * staged + at + i] =
                    T(sums.at[pair * 4 + half * 2 + i] +
                      (has_bias ? static_cast<float>(bias[column + at + i]) : 0.0f));
    }
    // A warp writes its own 16 rows.
    __syncwarp();
    const int lane = static_cast<int>(threadIdx.x) % 32, first = row_of_sums(0) - lane / 4;
    for (int i = lane; i < 16 * vectors; i += 32) {
        const int r = first + i / vectors, at = i % vectors * vector;
        if (row + r >= part.pixels || column + at >= parts.channels) continue;
        const PixelPlace place(part.axes, row + r);
        T* const to = static_cast<T*>(part.first) + place.image * part.image_stride +
                      place.y * part.axes[1].pixel_stride + place.x * part.axes[0].pixel_stride;
        *reinterpret_cast<int4*>(to + column + at) =
            *reinterpret_cast<const int4*>(rows + r * staged + at);
    }
}

/// **Grid** a block for each tile of each part's result, columns first; `threads`.
template <class T, bool by_features, int width>
__global__ void __launch_bounds__(threads, width == 256 ? 1 : 2)
    multiply_pixels(const __grid_constant__ PixelParts parts) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const Ring<width> ring{shared};
    int at = 0;
    while (at + 1 < parts.count && blockIdx.x >= parts.of[at + 1].blocks_before) ++at;
    const PixelProduct& part = parts.of[at];
    const int block = static_cast<int>(blockIdx.x - part.blocks_before);
    const int across = (parts.channels + width - 1) / width;
    const int row = block / across * height, column = block % across * width;
    const int steps = part.steps();
    ring.begin_barriers();
    if (threadIdx.x == multiplying)
        ring.copy(PixelFactors<T, by_features, width>(part, row, column), steps);
    if (threadIdx.x >= multiplying) return;
    hopper::SumsOf<width> sums{};
    ring.template multiply<PixelFactors<T, by_features, width>>(sums, steps);
    // The stages are read no more once all have come here.
    asm volatile("bar.sync 1, %0;" ::"n"(multiplying) : "memory");
    store_pixels<T, width>(parts, part, shared, sums, row, column);
}

// ---- features by taps and channels

/// Over the pixels of y, in parts.
struct FilterProduct {
    CUtensorMap features, image;  ///< dy, as pixels by features, and x
    ProductAxis axes[2];          ///< of y's pixels in x; w, then h
    int chunks;                   ///< of 64 channels of x, for each tap
    int k, c;                     ///< features and channels
    int pixels, pixels_of_part;   ///< the latter a multiple of 64
    float* sums;                  ///< parts, k, taps, c

    __device__ int taps() const { return axes[0].taps * axes[1].taps; }
};

/// A tile's columns are boxes of 64 channels of one tap, numbered tap by tap.
template <class T, int width>
struct FilterFactors {
    using Element = T;
    static constexpr bool a_transposed = true, b_transposed = true;

    const FilterProduct& product;
    int pixel, row, first_box;

    __device__ void load(unsigned char* a, unsigned char* b, hopper::Barrier& filled) {
        for (int i = 0; i < groups; ++i)
            hopper::load_tile(a + i * box_bytes, product.features, row + i * 64, pixel, filled);
        const PixelPlace place(product.axes, pixel);
        for (int i = 0; i < width / deep; ++i) {
            // Behind the last box it is copied again, so that the product reads what was written.
            const int box = min(first_box + i, product.taps() * product.chunks - 1);
            const int tap = box / product.chunks;
            load_windows(b + i * box_bytes, product.image, box % product.chunks * deep,
                         product.axes, place, tap % product.axes[0].taps,
                         tap / product.axes[0].taps, filled);
        }
        pixel += deep;
    }
};

/// **Grid** x: tiles of columns, then of rows; y: parts of the pixels; `threads`.
template <class T, int width>
__global__ void __launch_bounds__(threads, width == 256 ? 1 : 2)
    multiply_filters(const __grid_constant__ FilterProduct product) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const Ring<width> ring{shared};
    constexpr int boxes = width / deep;
    const int all_boxes = product.taps() * product.chunks, across = (all_boxes + boxes - 1) / boxes;
    const int row = static_cast<int>(blockIdx.x) / across * height;
    const int first_box = static_cast<int>(blockIdx.x) % across * boxes;
    const int first = static_cast<int>(blockIdx.y) * product.pixels_of_part;
    const int end = min(first + product.pixels_of_part, product.pixels);
    const int steps = (end - first + deep - 1) / deep;
    ring.begin_barriers();
    if (threadIdx.x == multiplying)
        ring.copy(FilterFactors<T, width>{product, first, row, first_box}, steps);
    if (threadIdx.x >= multiplying) return;
    hopper::SumsOf<width> sums{};
    ring.template multiply<FilterFactors<T, width>>(sums, steps);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int r = row + row_of_sums(half);
        if (r >= product.k) continue;
        float* const to = product.sums + (static_cast<long long>(blockIdx.y) * product.k + r) *
                                             product.taps() * product.c;
        for (int pair = 0; pair < width / 8; ++pair) {
            const int at = column_of_sums(pair), box = first_box + at / deep;
            const int channel = box % product.chunks * deep + at % deep;
            if (box >= all_boxes || channel >= product.c) continue;
            *reinterpret_cast<float2*>(to + box / product.chunks * product.c + channel) =
                make_float2(sums.at[pair * 4 + half * 2], sums.at[pair * 4 + half * 2 + 1]);
        }
    }
}

/// dw = the parts' sums, in their order.
template <class T>
__global__ void add_parts(const float* sums, T* dw, long long elements, int parts) {
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        float sum = 0.0f;
        for (int part = 0; part < parts; ++part) sum += sums[part * elements + i];
        dw[i] = T(sum);
    }
}

}  // namespace gradverify::conv::wgmma
