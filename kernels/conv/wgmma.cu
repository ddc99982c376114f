// SPDX-License-Identifier: Apache-2.0
// conv/wgmma: the three products of a convolution by wgmma and tensor copies, for sm_90a.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "harness/kernel.hpp"
#include "kernels/conv/wgmma.cuh"

namespace {

using namespace gradverify;
using namespace gradverify::conv;
using namespace gradverify::conv::wgmma;

/// The pixels of y along an axis, as windows of x.
ProductAxis forward_axis(const Axis& axis) {
    const std::int64_t padded = axis.in + axis.padding_left + axis.padding_right;
    const std::int64_t beyond = padded - axis.dilation * (axis.filter - 1) - 1;
    const auto to_int = [](std::int64_t number) { return static_cast<int>(number); };
    return {.pixels = beyond < 0 ? 0 : to_int(beyond / axis.stride + 1),
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
ProductAxis phase_axis(const Axis& axis, int residue) {
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
bool is_in_reach(const ProductAxis& axis, std::int64_t size) {
    const std::int64_t last =
        axis.corner + (axis.pixels - 1) * std::int64_t{axis.stride} - (size - 1);
    const int span = (axis.taps - 1) * std::abs(axis.offset_step);
    return axis.corner >= -128 && axis.corner <= 127 && last >= -128 && last <= 127 &&
           axis.stride <= 8 && span <= 255;
}

/// Whether no tensor is empty, and an int counts the pixels of all tiles.
bool has_pixels(const Parameters& p) {
    constexpr std::int64_t most = (std::int64_t{1} << 31) - 1024;
    if (p.n < 1 || p.c < 1 || p.k < 1 || p.n > most) return false;
    std::int64_t in = p.n, out = p.n;
    for (const Axis& axis : p.spatial()) {
        constexpr std::int64_t most_of_axis = 1 << 24;
        const auto sizes = {axis.in, axis.stride, axis.dilation, axis.padding_left,
                            axis.padding_right};
        if (std::max(sizes) > most_of_axis || axis.filter < 1 || axis.filter > 256) return false;
        const int pixels = forward_axis(axis).pixels;
        if (axis.in < 1 || pixels < 1) return false;
        in *= axis.in, out *= pixels;
        if (in > most || out > most) return false;
    }
    return true;
}

bool reads_windows_of_image(const Problem& problem) {
    const Parameters p(problem);
    return p.groups == 1 && has_pixels(p) && std::ranges::all_of(p.spatial(), [](const Axis& axis) {
               return is_in_reach(forward_axis(axis), axis.in);
           });
}
bool reads_windows_of_features(const Problem& problem) {
    const Parameters p(problem);
    if (p.groups != 1 || !has_pixels(p)) return false;
    std::int64_t parts = 1;
    for (const Axis& axis : p.spatial()) {
        const int residues = static_cast<int>(std::min(axis.stride, axis.in));
        parts *= residues;
        if (parts > PixelParts::most) return false;
        for (int residue = 0; residue < residues; ++residue)
            if (const ProductAxis phase = phase_axis(axis, residue);
                phase.taps > 0 && !is_in_reach(phase, forward_axis(axis).pixels))
                return false;
    }
    return true;
}

/// Images, channels last.
template <class T>
tensor_maps::Tensor<T, 4> images_of(const TensorView& view) {
    return {view.as<const T>(), {view.size(1), view.size(3), view.size(2), view.size(0)}};
}

template <class T>
CUtensorMap columns_of(const TensorView& view, const ProductAxis (&axes)[2], int pixels) {
    // Where no tap reaches, nothing is read, and the map is any that holds.
    const auto count = [&](int i) {
        return axes[i].taps > 0 ? axes[i].pixels : static_cast<int>(view.size(3 - i));
    };
    return tensor_maps::in_columns<T>(
        images_of<T>(view),
        {{axes[0].corner, axes[1].corner}, {count(0), count(1)}, {axes[0].stride, axes[1].stride}},
        deep, pixels, swizzle);
}

/// The filter as it lies in memory: channels, taps, features.
template <class T>
CUtensorMap filter_of(const TensorView& w, int channels, int features) {
    return tensor_maps::in_boxes<T, 4>(images_of<T>(w), {channels, 1, 1, features}, swizzle);
}

int divided_up_to_int(std::int64_t number, int by) {
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

// Block sizes: the tile and the number of blocks that suit the problem, or a width of tiles, by so
// few blocks that small problems, too, have several tiles for each.
constexpr int suitable = 1;
constexpr int multiprocessors = 132, few_clusters = 2;

template <class Launcher>
void with_pixel_tile(int block_size, int channels, Launcher launch) {
    const int width = block_size == suitable ? channels : block_size;
    if (width > 128) return launch(Tile<256, 1, 2>{});
    if (width > 64) return launch(Tile<128, 2, 2>{});
    launch(Tile<64, 2, 2>{});
}

template <class T, bool by_features>
void launch_pixels(PixelParts& parts, const TensorView& image, const TensorView& w,
                   const Launch& on) {
    with_pixel_tile(on.block_size, parts.channels, [&](auto chosen) {
        using Tile = decltype(chosen);
        constexpr int share = PixelFactors<T, by_features, Tile>::share;
        const CUtensorMap filter = filter_of<T>(w, deep, share);
        const int across = divided_up_to_int(parts.channels, Tile::width);
        for (int i = 0; i < parts.count; ++i) {
            PixelProduct& part = parts.of[i];
            part.image = columns_of<T>(image, part.axes, Tile::height);
            part.filter = filter;
            part.chunks = divided_up_to_int(image.size(1), deep);
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
void forward(const Forward& call) {
    const Parameters& p = call.problem;
    PixelParts parts{};
    parts.count = 1;
    parts.channels = static_cast<int>(p.k);
    parts.bias = call.b.as<const T>();
    PixelProduct& part = parts.of[0];
    part.axes[0] = forward_axis(p.w()), part.axes[1] = forward_axis(p.h());
    part.pixels = static_cast<int>(p.n) * part.axes[0].pixels * part.axes[1].pixels;
    part.first = call.y.as<T>();
    part.axes[0].pixel_stride = call.y.stride(3), part.axes[1].pixel_stride = call.y.stride(2);
    part.image_stride = call.y.stride(0);
    launch_pixels<T, true>(parts, call.x, call.w, call.launch);
}

template <class T>
void grad_input(const GradInput& call) {
    const Parameters& p = call.problem;
    PixelParts parts{};
    parts.channels = static_cast<int>(p.c);
    for (int y = 0; y < std::min(p.h().stride, p.h().in); ++y)
        for (int x = 0; x < std::min(p.w().stride, p.w().in); ++x) {
            PixelProduct& part = parts.of[parts.count++];
            part.axes[0] = phase_axis(p.w(), x), part.axes[1] = phase_axis(p.h(), y);
            part.pixels = static_cast<int>(p.n) * part.axes[0].pixels * part.axes[1].pixels;
            part.first = call.dx.as<T>() + y * call.dx.stride(2) + x * call.dx.stride(3);
            part.axes[0].pixel_stride = p.w().stride * call.dx.stride(3);
            part.axes[1].pixel_stride = p.h().stride * call.dx.stride(2);
            part.image_stride = call.dx.stride(0);
        }
    launch_pixels<T, false>(parts, call.dy, call.w, call.launch);
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

    template <class Tile>
    Split(const Parameters& p, Tile) {
        constexpr std::int64_t steps_at_least = 4;
        const std::int64_t boxes = p.h().filter * p.w().filter * divided_up(p.c, deep);
        tiles = divided_up_to_int(p.k, Tile::height * Tile::blocks) * Tile::blocks *
                divided_up_to_int(boxes, Tile::width / 64);
        const std::int64_t pixels = p.n * forward_axis(p.w()).pixels * forward_axis(p.h()).pixels;
        const std::int64_t wanted = std::max(multiprocessors / tiles, 1);
        const std::int64_t most = std::max(pixels / (deep * steps_at_least), std::int64_t{1});
        const std::int64_t chunks = divided_up(pixels, deep);
        const std::int64_t chunks_of_part = divided_up(chunks, std::min(wanted, most));
        parts = divided_up_to_int(chunks, static_cast<int>(chunks_of_part));
        pixels_of_part = static_cast<int>(chunks_of_part) * deep;
    }
};

std::int64_t workspace_bytes(const Problem& problem) {
    const Parameters p(problem);
    int parts = 1;
    for (const int block_size : {64, 128, 256})
        with_filter_tile(block_size, p.k,
                         [&](auto tile) { parts = std::max(parts, Split(p, tile).parts); });
    return parts * p.k * p.c * p.h().filter * p.w().filter *
           static_cast<std::int64_t>(sizeof(float));
}

template <class T>
void grad_weight(const GradWeight& call) {
    const Parameters& p = call.problem;
    FilterProduct product{};
    product.axes[0] = forward_axis(p.w()), product.axes[1] = forward_axis(p.h());
    product.pixels = static_cast<int>(p.n) * product.axes[0].pixels * product.axes[1].pixels;
    product.features = tensor_maps::in_boxes<T, 2>({call.dy.as<const T>(), {p.k, product.pixels}},
                                                   {deep, deep}, swizzle);
    product.chunks = divided_up_to_int(p.c, deep);
    product.k = static_cast<int>(p.k), product.c = static_cast<int>(p.c);
    product.sums = static_cast<float*>(call.launch.workspace);
    with_filter_tile(call.launch.block_size, p.k, [&](auto tile) {
        using Tile = decltype(tile);
        const Split split(p, tile);
        product.image = columns_of<T>(call.x, product.axes, FilterFactors<T, Tile>::share);
        product.pixels_of_part = split.pixels_of_part;
        launch_ring(multiply_filters<T, Tile>, dim3(split.tiles, split.parts), Ring<Tile>::bytes,
                    product, call.launch.stream);
        const long long elements = call.dw.elements();
        add_parts<T><<<blocks_of_loop(elements, 256), 256, 0, call.launch.stream>>>(
            product.sums, call.dw.as<T>(), elements, split.parts);
    });
}

template <class T>
void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.spatial_axes(2, 2)
        .supports("asymmetric_padding")
        .layout("x", "nhwc")
        .layout("w", "ohwi")
        .layout("y", "nhwc")
        .where("c", multiple_of(8))
        .where("k", multiple_of(8))
        .where("groups", between(1, 1))
        .aligned_to(16)
        .on_tensor_cores()
        .blocks_of({suitable, 64, 128, 256});
}
constexpr const char* reach =
    "windows lie within 128 pixels of an image, its taps within 256, strides are at most 8";
template <class T>
void declare_forward(KernelDeclaration& kernel) {
    declare<T>(kernel);
    kernel.only_if(reach, reads_windows_of_image);
}
template <class T>
void declare_grad_input(KernelDeclaration& kernel) {
    declare<T>(kernel);
    kernel.only_if(
        "windows lie within 128 pixels, taps within 256, and there are at most four "
        "residues modulo the strides",
        reads_windows_of_features);
}
template <class T>
void declare_grad_weight(KernelDeclaration& kernel) {
    declare_forward<T>(kernel);
    kernel.workspace(workspace_bytes);
}

}  // namespace

// nvcc builds it where it builds for sm_90a (kernels/CMakeLists.txt).
#if !defined(__NVCC__) || defined(GRADVERIFY_SM_90A)
#define REGISTER(SUFFIX, T)                                                                  \
    GRADVERIFY_KERNEL(Forward, "wgmma" SUFFIX, forward<T>).with(declare_forward<T>);         \
    GRADVERIFY_KERNEL(GradInput, "wgmma" SUFFIX, grad_input<T>).with(declare_grad_input<T>); \
    GRADVERIFY_KERNEL(GradWeight, "wgmma" SUFFIX, grad_weight<T>).with(declare_grad_weight<T>)
REGISTER("_f16", __half);
REGISTER("_bf16", __nv_bfloat16);
#endif
