// SPDX-License-Identifier: Apache-2.0
// What a host works out for the products of wgmma.cuh, and their launches.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <numeric>
#include <stdexcept>

#include "kernels/conv/geometry.cuh"
#include "kernels/fast/conv/wgmma_filters.cuh"
#include "kernels/fast/conv/wgmma_pixels.cuh"
#include "kernels/fast/tensor_maps.hpp"
#include "kernels/kernel.cuh"
#include "reference/conv.hpp"

namespace gradverify::conv::wgmma {

/// The pixels of y along an axis, as windows of x.
inline ProductAxis forward_axis(const Axis& axis) {
    const auto to_int = [](std::int64_t number) { return static_cast<int>(number); };
    return {.pixels = to_int(positions_along(axis)),
            .corner = to_int(-axis.padding_left),
            .stride = to_int(axis.stride),
            .taps = to_int(axis.filter),
            .first_tap = 0,
            .tap_step = 1,
            .first_offset = 0,
            .offset_step = to_int(axis.dilation),
            .pixel_stride = 0};
}

/// The pixels of dx of one residue modulo the stride, as windows of dy: a tap t reaches pixel i
/// from feature (i + padding - t * dilation) / stride, where that is whole.
inline ProductAxis phase_axis(const Axis& axis, int residue) {
    const int stride = static_cast<int>(axis.stride), dilation = static_cast<int>(axis.dilation);
    const int common = std::gcd(stride, dilation), filter = static_cast<int>(axis.filter);
    ProductAxis phase{};
    phase.pixels = static_cast<int>((axis.in - residue - 1) / axis.stride + 1);
    phase.stride = 1, phase.tap_step = stride / common;
    phase.offset_step = -(dilation / common);
    for (int tap = 0; tap < std::min(phase.tap_step, filter); ++tap) {
        const int shifted = residue + static_cast<int>(axis.padding_left) - tap * dilation;
        if (shifted % stride != 0) continue;
        phase.first_tap = tap;
        phase.taps = (filter - tap - 1) / phase.tap_step + 1;
        // The window's corner is what the last tap reads.
        phase.first_offset = -(phase.taps - 1) * phase.offset_step;
        phase.corner = shifted / stride - phase.first_offset;
        break;
    }
    return phase;
}

/// Whether a map of columns can hold the windows of an axis of this size.
inline bool is_in_reach(const ProductAxis& axis, std::int64_t size) {
    const std::int64_t last =
        axis.corner + (axis.pixels - 1) * std::int64_t{axis.stride} - (size - 1);
    const int span = (axis.taps - 1) * std::abs(axis.offset_step);
    return axis.corner >= -128 && axis.corner <= 127 && last >= -128 && last <= 127 &&
           axis.stride <= 8 && span <= 255;
}

/// Whether no tensor is empty, and an int counts the pixels of all tiles, and the taps of a feature
/// or a channel.
inline bool has_pixels(const Parameters& p) {
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1024;
    constexpr std::int64_t most_of_filter = 1 << 30;
    if (p.n < 1 || p.c < 1 || p.k < 1 || p.n > most) return false;
    std::int64_t in = p.n, out = p.n, filter = std::max(p.c, p.k);
    if (filter > most_of_filter) return false;
    for (const Axis& axis : p.spatial()) {
        constexpr std::int64_t most_of_axis = 1 << 24;
        const auto sizes = {axis.in, axis.stride, axis.dilation, axis.padding_left,
                            axis.padding_right};
        if (std::max(sizes) > most_of_axis || axis.filter < 1 || axis.filter > 256) return false;
        const int pixels = forward_axis(axis).pixels;
        if (axis.in < 1 || pixels < 1) return false;
        in *= axis.in, out *= pixels, filter *= axis.filter;
        if (std::max(in, out) > most || filter > most_of_filter) return false;
    }
    return true;
}

inline bool reads_windows_of_image(const Parameters& p) {
    return p.groups == 1 && has_pixels(p) && std::ranges::all_of(p.spatial(), [](const Axis& axis) {
               return is_in_reach(forward_axis(axis), axis.in);
           });
}
inline bool reads_windows_of_features(const Parameters& p) {
    if (p.groups != 1 || !has_pixels(p)) return false;
    std::int64_t parts = 1;
    for (const Axis& axis : p.spatial()) {
        const int residues = static_cast<int>(std::min(axis.stride, axis.in));
        parts *= residues;
        if (parts > most_parts) return false;
        for (int residue = 0; residue < residues; ++residue)
            if (const ProductAxis phase = phase_axis(axis, residue);
                phase.taps > 0 && !is_in_reach(phase, forward_axis(axis).pixels))
                return false;
    }
    return true;
}
constexpr const char* reach_of_image =
    "windows lie within 128 pixels of an image, its taps within 256, strides are at most 8";
constexpr const char* reach_of_features =
    "windows lie within 128 pixels, taps within 256, and there are at most four residues modulo "
    "the strides";

/// Images of channels last, or a filter of such images, one for each feature. Sizes go from the
/// channels outwards.
template <class T>
using Images = tensor_maps::Tensor<T, 4>;

template <class T>
Images<T> images_of(const TensorView& view) {
    return {view.as<const T>(), {view.size(1), view.size(3), view.size(2), view.size(0)}};
}

template <class T>
CUtensorMap columns_of(const Images<T>& image, const ProductAxis (&axes)[2], int pixels) {
    // Where no tap reaches, nothing is read, and the map is any that holds.
    const auto count = [&](int i) {
        return axes[i].taps > 0 ? axes[i].pixels
                                : static_cast<int>(image.sizes[static_cast<std::size_t>(i + 1)]);
    };
    return tensor_maps::in_columns<T>(
        image,
        {{axes[0].corner, axes[1].corner}, {count(0), count(1)}, {axes[0].stride, axes[1].stride}},
        deep<T>, pixels, swizzle);
}

inline int divided_up_to_int(std::int64_t number, int by) {
    return static_cast<int>(divided_up(number, by));
}

template <class Kernel, class Parameter>
void launch_ring(Kernel kernel, dim3 grid, int bytes, const Parameter& parameter,
                 cudaStream_t stream) {
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) !=
        cudaSuccess)
        throw std::runtime_error("no block has as much shared memory");
    kernel<<<grid, threads, bytes, stream>>>(parameter);
}

// Block sizes: the tile (of few channels the products are narrower than it) and the number of
// blocks that suit the problem, or a width of tiles, by so few blocks that small problems, too,
// have several tiles for each.
constexpr int suitable = 1;
constexpr int multiprocessors = 132, few_clusters = 2;

template <class Launcher>
void with_pixel_tile(int block_size, int channels, Launcher launch) {
    const int width = block_size == suitable ? channels : block_size;
    if (width > 128) return launch(Tile<256, 1, 2>{});
    if (width > 64) return launch(Tile<128, 2, 2>{});
    if (width > 16) return launch(Tile<64, 2, 2>{});
    launch(Tile<64, 2, 2, false, 16>{});
}

template <class T, bool by_features>
void launch_pixels(PixelParts& parts, const Images<T>& image, const Images<T>& w,
                   const Launch& on) {
    with_pixel_tile(on.block_size, parts.channels, [&](auto chosen) {
        using Tile = decltype(chosen);
        constexpr int share = PixelFactors<T, by_features, Tile>::share;
        parts.filter = tensor_maps::in_boxes<T, 4>(w, {deep<T>, 1, 1, share}, swizzle);
        parts.chunks = divided_up_to_int(image.sizes[0], deep<T>);
        const int across = divided_up_to_int(parts.channels, Tile::width);
        for (int i = 0; i < parts.count; ++i) {
            PixelProduct& part = parts.of[i];
            part.image = columns_of<T>(image, part.axes, Tile::height);
            part.clusters_before = parts.clusters;
            parts.clusters += static_cast<unsigned>(
                across * divided_up_to_int(part.pixels, Tile::height * Tile::blocks));
        }
        const unsigned most =
            on.block_size == suitable ? multiprocessors / Tile::blocks : few_clusters;
        launch_ring(multiply_pixels<T, by_features, Tile>,
                    std::min(parts.clusters, most) * Tile::blocks, Ring<Tile>::bytes, parts,
                    on.stream);
    });
}

template <class T>
void launch_forward(const Parameters& p, const Images<T>& x, const Images<T>& w,
                    const TensorView& b, const TensorView& y, const Launch& on) {
    PixelParts parts{};
    parts.count = 1;
    parts.channels = static_cast<int>(p.k);
    parts.bias = b.as<const T>();
    PixelProduct& part = parts.of[0];
    part.axes[0] = forward_axis(p.w()), part.axes[1] = forward_axis(p.h());
    part.pixels = static_cast<int>(p.n) * part.axes[0].pixels * part.axes[1].pixels;
    part.first = y.as<T>(), part.image_stride = y.stride(0);
    part.axes[0].pixel_stride = y.stride(3), part.axes[1].pixel_stride = y.stride(2);
    launch_pixels<T, true>(parts, x, w, on);
}

/// `w` is transposed for floats: its outermost axis is channels, its innermost features.
template <class T>
void launch_grad_input(const Parameters& p, const Images<T>& dy, const Images<T>& w,
                       const TensorView& dx, const Launch& on) {
    PixelParts parts{};
    parts.channels = static_cast<int>(p.c);
    for (int y = 0; y < std::min(p.h().stride, p.h().in); ++y)
        for (int x = 0; x < std::min(p.w().stride, p.w().in); ++x) {
            PixelProduct& part = parts.of[parts.count++];
            part.axes[0] = phase_axis(p.w(), x), part.axes[1] = phase_axis(p.h(), y);
            part.pixels = static_cast<int>(p.n) * part.axes[0].pixels * part.axes[1].pixels;
            part.first = dx.as<T>() + y * dx.stride(2) + x * dx.stride(3);
            part.image_stride = dx.stride(0);
            part.axes[0].pixel_stride = p.w().stride * dx.stride(3);
            part.axes[1].pixel_stride = p.h().stride * dx.stride(2);
        }
    launch_pixels<T, std::is_same_v<T, float>>(parts, dy, w, on);
}

inline std::int64_t pixels_of_features(const Parameters& p) {
    return p.n * forward_axis(p.w()).pixels * forward_axis(p.h()).pixels;
}
/// Of a feature of the filter.
inline std::int64_t taps_of_channels(const Parameters& p) {
    return p.c * p.h().filter * p.w().filter;
}

/// Tiles of dw as high as there are features.
template <class Launcher>
void with_filter_tile(int block_size, std::int64_t features, Launcher launch) {
    const std::int64_t height = block_size == suitable ? features : block_size;
    if (height > 128) return launch(Tile<256, 1, 2>{});
    if (height > 64) return launch(Tile<256, 1, 1>{});
    launch(Tile<256, 1, 1, true>{});
}

/// How dw's sum over pixels is split, so that there is work for all multiprocessors.
struct Split {
    int tiles, parts, pixels_of_part;

    Split(int tiles_of_dw, std::int64_t pixels, int deep) : tiles(tiles_of_dw) {
        constexpr std::int64_t steps_at_least = 4;
        const std::int64_t wanted = std::max(multiprocessors / tiles, 1);
        const std::int64_t most = std::max(pixels / (deep * steps_at_least), std::int64_t{1});
        const std::int64_t chunks = divided_up(pixels, deep);
        const std::int64_t chunks_of_part = divided_up(chunks, std::min(wanted, most));
        parts = divided_up_to_int(chunks, static_cast<int>(chunks_of_part));
        pixels_of_part = static_cast<int>(chunks_of_part) * deep;
    }
};

template <class T, class Tile>
Split split_of(const Parameters& p, Tile) {
    static_assert(sizeof(T) == 2, "floats are summed in lines (wgmma_lines.cuh)");
    const std::int64_t boxes = p.h().filter * p.w().filter * divided_up(p.c, 64);
    return Split(divided_up_to_int(p.k, Tile::height * Tile::blocks) * Tile::blocks *
                     divided_up_to_int(boxes, Tile::width / 64),
                 pixels_of_features(p), deep<T>);
}

/// Of the parts' sums, whatever the block size.
template <class T>
std::int64_t bytes_of_sums(const Parameters& p) {
    int parts = 1;
    for (const int block_size : {64, 128, 256})
        with_filter_tile(block_size, p.k,
                         [&](auto tile) { parts = std::max(parts, split_of<T>(p, tile).parts); });
    return parts * p.k * taps_of_channels(p) * static_cast<std::int64_t>(sizeof(float));
}

/// All but the tensor maps and the pixels of a part.
inline FilterProduct filter_product(const Parameters& p, int channels_of_box, float* sums) {
    FilterProduct product{};
    product.axes[0] = forward_axis(p.w()), product.axes[1] = forward_axis(p.h());
    product.pixels = static_cast<int>(pixels_of_features(p));
    product.chunks = divided_up_to_int(p.c, channels_of_box);
    product.k = static_cast<int>(p.k), product.c = static_cast<int>(p.c);
    product.sums = sums;
    return product;
}

/// Leaves sums of some pixels each: parts, features, taps, channels. The pixels of `dy` are one
/// axis.
/// **Returns** how many parts there are.
template <class T>
int launch_sums_of_filter(const Parameters& p, const Images<T>& dy, const Images<T>& x, float* sums,
                          const Launch& on) {
    auto product = filter_product(p, 64, sums);
    product.features = tensor_maps::in_boxes<T, 2>({dy.data, {dy.sizes[0], product.pixels}},
                                                   {deep<T>, deep<T>}, swizzle);
    int parts = 0;
    with_filter_tile(on.block_size, p.k, [&](auto tile) {
        using Tile = decltype(tile);
        const Split split = split_of<T>(p, tile);
        product.image = columns_of<T>(x, product.axes, FilterFactors<T, Tile>::share);
        product.pixels_of_part = split.pixels_of_part;
        launch_ring(multiply_filters<T, Tile>, dim3(split.tiles, split.parts), Ring<Tile>::bytes,
                    product, on.stream);
        parts = split.parts;
    });
    return parts;
}

template <class T>
void launch_add_parts(const float* sums, int parts, const TensorView& dw, cudaStream_t stream) {
    const auto count = static_cast<long long>(dw.elements());
    const dim3 block = block_of_parts(parts);
    add_parts<<<blocks_of_loop(count, static_cast<int>(block.x)), block, 0, stream>>>(
        sums, parts, count, dw.as<T>());
}

}  // namespace gradverify::conv::wgmma
