// SPDX-License-Identifier: Apache-2.0
// Floats for the product of features by taps and channels, whose factors must lie along pixels: a
// line for each channel, over a grid of pixels that x and dy share. x has a line for each residue
// modulo the stride that taps read, so that a tap is a shift along the lines. Images lie side by
// side, as copies begin at multiples of 16 bytes, and a shift is of whole pixels of all of them.
// Behind the pixels of a row are as many zeros as a shift may go beyond.
#pragma once

#include <cstdint>

#include "kernels/conv/wgmma_fold.cuh"

namespace gradverify::conv::wgmma {

/// An axis of the grid, and of an image whose pixels lie on it.
struct LineAxis {
    int size;  ///< of the grid
    int in, stride, corner, dilation, phases;

    /// The pixel, which may be outside of the image.
    __device__ int pixel(int at, int phase) const {
        const int first = corner + phase * dilation;
        return at * stride + first - floor_divided(first, stride) * stride;
    }
};

struct LineGrid {
    LineAxis axes[2];   ///< w, then h
    int images, apart;  ///< and how many positions of them a pixel has, a multiple of 4
    int positions, channels;

    int phases() const { return axes[0].phases * axes[1].phases; }
    std::int64_t elements() const {
        return static_cast<std::int64_t>(positions) * channels * phases();
    }
};

/// What a block of `to_lines` moves at once. A thread reads four channels, and writes along lines.
struct LineTile {
    static constexpr int threads = 256, positions = 64, channels = 64;
    static constexpr int pitch = positions + 1, in_position = channels / 4;
    static constexpr int reads = positions * in_position / threads;  ///< of a thread
    static constexpr int writes = channels * positions / threads;
};

/// **Grid** x: any number of blocks of LineTile::threads; y: phases. `from`: images, height, width,
/// channels, a multiple of 4. `to`: phases, channels, positions.
template <class T>
__global__ void __launch_bounds__(LineTile::threads) to_lines(const T* from, LineGrid grid, T* to) {
    constexpr int apart_when_read = LineTile::positions / LineTile::reads;
    constexpr int apart = LineTile::channels / LineTile::writes;
    __shared__ T numbers[LineTile::channels * LineTile::pitch];
    __shared__ long long pixels[LineTile::positions];  // -1 outside of the image
    const int thread = static_cast<int>(threadIdx.x), phase = static_cast<int>(blockIdx.y);
    const LineAxis &w = grid.axes[0], &h = grid.axes[1];
    T* const lines = to + static_cast<long long>(phase) * grid.channels * grid.positions;
    const int tiles = (grid.positions - 1) / LineTile::positions + 1;
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles;
         tile += static_cast<int>(gridDim.x)) {
        const int first = tile * LineTile::positions;
        if (thread < LineTile::positions) {
            const int at = first + thread, image = at % grid.apart, place = at / grid.apart;
            const int x = w.pixel(place % w.size, phase % w.phases);
            const int y = h.pixel(place / w.size, phase / w.phases);
            pixels[thread] = image < grid.images && x < w.in && y < h.in
                                 ? (static_cast<long long>(image) * h.in + y) * w.in + x
                                 : -1;
        }
        __syncthreads();
        for (int channel = 0; channel < grid.channels; channel += LineTile::channels) {
            const int in_tile = thread % LineTile::in_position * 4;
            const bool is_there = channel + in_tile < grid.channels;
            float4 four[LineTile::reads];  // all of a thread's loads are under way at once
#pragma unroll
            for (int i = 0; i < LineTile::reads; ++i) {
                const long long pixel =
                    pixels[thread / LineTile::in_position + i * apart_when_read];
                const T* const at = from + pixel * grid.channels + channel + in_tile;
                four[i] = is_there && pixel >= 0 ? *reinterpret_cast<const float4*>(at) : float4{};
            }
#pragma unroll
            for (int i = 0; i < LineTile::reads; ++i) {
                T* const there = numbers + in_tile * LineTile::pitch +
                                 thread / LineTile::in_position + i * apart_when_read;
                there[0] = four[i].x, there[LineTile::pitch] = four[i].y;
                there[2 * LineTile::pitch] = four[i].z, there[3 * LineTile::pitch] = four[i].w;
            }
            __syncthreads();
            const int place = thread % LineTile::positions, c = thread / LineTile::positions;
            const T* of_line = numbers + c * LineTile::pitch + place;
            T* at = lines + static_cast<long long>(channel + c) * grid.positions + first + place;
#pragma unroll
            for (int i = 0; i < LineTile::writes; ++i) {
                if (first + place < grid.positions && channel + c + i * apart < grid.channels)
                    *at = *of_line;
                at += static_cast<long long>(apart) * grid.positions;
                of_line += apart * LineTile::pitch;
            }
            __syncthreads();
        }
    }
}

// ---- on the host

/// The grids of x and dy, of a problem of reads_windows_of_image. That of dy may have fewer rows.
struct Lines {
    LineGrid image, features;

    explicit Lines(const Parameters& p) : image(grid_of(p, p.c)), features(grid_of(p, p.k)) {
        const Axis axes[] = {p.w(), p.h()};
        for (int i = 0; i < 2; ++i) {
            const int pixels = forward_axis(axes[i]).pixels;
            features.axes[i] = {i == 0 ? image.axes[0].size : pixels, pixels, 1, 0, 0, 1};
        }
        if (are_few())
            features.positions = features.axes[1].size * image.axes[0].size * image.apart;
    }
    /// Whether an int counts positions, and those that a tile or a shift goes beyond.
    bool are_few() const { return image.positions > 0; }

  private:
    static LineGrid grid_of(const Parameters& p, std::int64_t channels) {
        LineGrid grid{{axis_of(p.w()), axis_of(p.h())}, static_cast<int>(p.n), 0, 0, 0};
        std::int64_t positions = divided_up(p.n, 4) * 4;
        constexpr std::int64_t most = 1 << 30;
        if (positions <= most) grid.apart = static_cast<int>(positions);
        for (const LineAxis& axis : grid.axes)
            positions = positions <= most ? positions * axis.size : positions;
        if (positions <= most) grid.positions = static_cast<int>(positions);
        grid.channels = static_cast<int>(channels);
        return grid;
    }
    static LineAxis axis_of(const Axis& axis) {
        const ProductAxis windows = forward_axis(axis);
        const int in = static_cast<int>(axis.in), dilation = windows.offset_step;
        const int phases =
            std::min(windows.taps, windows.stride / std::gcd(windows.stride, dilation));
        int size = windows.pixels;
        for (int tap = 0; tap < windows.taps; ++tap) {
            const int first = windows.corner + tap * dilation;
            const int shift = floor_divided(first, windows.stride);
            const int residue = first - shift * windows.stride;
            const int pixels = divided_up_to_int(std::max(in - residue, 0), windows.stride);
            size = std::max(size, shift < 0 ? pixels - shift : windows.pixels + shift);
        }
        return {size, in, windows.stride, windows.corner, dilation, phases};
    }
};

/// A matrix whose rows are lines.
template <class T>
tensor_maps::Tensor<T, 2> matrix_of(const LineGrid& grid, const T* first) {
    return {first, {grid.positions, grid.channels * grid.phases()}, {0, grid.positions}};
}

template <class T>
void launch_to_lines(const TensorView& from, const LineGrid& grid, T* to, cudaStream_t stream) {
    const dim3 blocks(blocks_of_loop(grid.positions, LineTile::positions),
                      static_cast<unsigned>(grid.phases()));
    to_lines<<<blocks, LineTile::threads, 0, stream>>>(from.as<const T>(), grid, to);
}

/// Leaves sums as launch_sums_of_filter does, of lines.
template <class T>
int launch_sums_of_lines(const Parameters& p, const Lines& lines, const T* dy, const T* x,
                         float* sums, const Launch& on) {
    FilterProduct<Pieces<1>> product{};
    const Axis axes[] = {p.w(), p.h()};
    for (int i = 0; i < 2; ++i) {
        product.axes[i] = forward_axis(axes[i]);
        product.axes[i].tap_step = lines.image.axes[i].phases;
    }
    product.axes[0].pixel_stride = lines.image.apart;
    product.axes[1].pixel_stride = product.axes[0].pixel_stride * lines.image.axes[0].size;
    product.pixels = lines.features.positions;
    product.sums = sums;
    product.features[0] =
        tensor_maps::in_boxes<T, 2>(matrix_of(lines.features, dy), {deep<T>, 64}, swizzle);
    return launch_filters<T>(p, product, on, [&](int share) {
        product.image[0] =
            tensor_maps::in_boxes<T, 2>(matrix_of(lines.image, x), {deep<T>, share}, swizzle);
    });
}

}  // namespace gradverify::conv::wgmma
