// SPDX-License-Identifier: Apache-2.0
// Implicit GEMM on tensor cores: what conv's three products read as factors, and where they write.
// Tensors have any strides; where channels are consecutive (nhwc, ohwi) and come in eights, 16
// bytes are read at once. The references have a geometry of their own.
#pragma once

#include <algorithm>
#include <climits>

#include "harness/kernel.hpp"
#include "kernels/conv/direct.cuh"
#include "kernels/element.cuh"
#include "kernels/grids.cuh"
#include "kernels/tensor_core_tiles.cuh"
#include "reference/conv.hpp"

namespace gradverify::conv {

/// Three spatial axes; one that the problem lacks has one element.
struct Extents {
    int of[3];
};

/// Counts through images and pixels, the last axis innermost.
struct Positions {
    long long count;
    Extents size;

    struct At {
        long long n;
        int of[3];
    };
    __device__ At at(long long index) const {
        At found;
#pragma unroll
        for (int axis = 2; axis >= 0; --axis) {
            const long long rest = divided(index, size.of[axis]);
            found.of[axis] = static_cast<int>(index - rest * size.of[axis]);
            index = rest;
        }
        found.n = index;
        return found;
    }
    /// A division of 32 bits takes a third of the time.
    __device__ static long long divided(long long a, int b) {
        return a <= UINT_MAX ? static_cast<unsigned>(a) / static_cast<unsigned>(b) : a / b;
    }
};

/// A tap of the filter and a channel. The depth of a product counts these, the channel innermost.
struct Tap {
    int channel, of[3];
    bool is_there;
};
struct Taps {
    int channels;
    Extents filter;
    long long count;

    __device__ Tap at(long long index) const {
        Tap tap;
        tap.is_there = index < count;
        if (!tap.is_there) return tap;
        const Positions::At place =
            Positions{count, filter}.at(Positions::divided(index, channels));
        tap.channel = static_cast<int>(index % channels);
        for (int axis = 0; axis < 3; ++axis) tap.of[axis] = place.of[axis];
        return tap;
    }
    __device__ void next(Tap& tap) const {
        if (++tap.channel < channels) return;
        tap.channel = 0;
#pragma unroll
        for (int axis = 2; axis >= 0; --axis) {
            if (++tap.of[axis] < filter.of[axis]) return;
            tap.of[axis] = 0;
        }
        tap.is_there = false;
    }
};

struct Row {
    long long offset;
    bool is_there;
};
struct Channel {
    long long index;
    bool is_there;
};

/// Whether this number of channels of a group can be moved by 16 bytes.
template <class T>
bool has_chunks(const TensorView& view, long long channels) {
    constexpr int chunk = tensor_core::chunk<T>;
    bool is_whole = view.stride(1) == 1 && channels % chunk == 0 &&
                    reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
    for (int axis = 0; axis < view.rank; ++axis)
        is_whole = is_whole && (axis == 1 || view.stride(axis) % chunk == 0);
    return is_whole;
}

struct WindowAxis {
    int size = 1;  ///< of the tensor that is read
    int stride = 1, dilation = 1, padding = 0;
};

/// What pixels read through a filter: a row for each pixel, with taps and channels along it.
template <class T, bool is_depth_inner>
struct Window {
    using Element = T;
    static constexpr bool depth_is_inner = is_depth_inner;
    struct Outer {
        long long offset;
        int base[3];
        bool is_there;
    };
    using Inner = Tap;

    Strided<const T> tensor;
    Positions positions;
    Taps taps;
    WindowAxis axes[3];
    bool has_chunks;

    __device__ const T* data_of(long long group) const {
        return tensor.data + group * taps.channels * tensor.channel;
    }
    __device__ Outer outer(long long index) const {
        Outer row;
        row.is_there = index < positions.count;
        if (!row.is_there) return row;
        const Positions::At at = positions.at(index);
        row.offset = at.n * tensor.outer;
#pragma unroll
        for (int i = 0; i < 3; ++i) row.base[i] = at.of[i] * axes[i].stride - axes[i].padding;
        return row;
    }
    __device__ Inner inner(long long index) const { return taps.at(index); }
    __device__ void next(Inner& tap) const { taps.next(tap); }
    /// -1 in the padding.
    __device__ long long offset(const Outer& row, const Inner& tap) const {
        long long offset = row.offset + tap.channel * tensor.channel;
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            const int at = row.base[i] + tap.of[i] * axes[i].dilation;
            if (at < 0 || at >= axes[i].size) return -1;
            offset += at * tensor.axes[i];
        }
        return offset;
    }
};

/// The filter of the forward pass: rows are output channels.
template <class T>
struct FilterByFeature {
    using Element = T;
    static constexpr bool depth_is_inner = true;
    using Outer = Row;
    using Inner = Tap;

    Strided<const T> tensor;
    long long features;  ///< of a group
    Taps taps;
    bool has_chunks;

    __device__ const T* data_of(long long group) const {
        return tensor.data + group * features * tensor.outer;
    }
    __device__ Outer outer(long long feature) const {
        return {feature * tensor.outer, feature < features};
    }
    __device__ Inner inner(long long index) const { return taps.at(index); }
    __device__ void next(Inner& tap) const { taps.next(tap); }
    __device__ long long offset(const Outer& row, const Inner& tap) const {
        return row.offset + tap.channel * tensor.channel + tensor.offset(0, tap.of);
    }
};

/// A factor with channels along its rows, and no window: the filter, with a row for each tap and
/// feature, or the features, with a row for each pixel.
template <class T, class Rows>
struct ByChannel {
    using Element = T;
    static constexpr bool depth_is_inner = false;
    using Outer = Row;
    using Inner = Channel;

    Strided<const T> tensor;
    Rows rows;
    long long channels;      ///< of a group
    long long group_stride;  ///< from a group to the next
    bool has_chunks;

    __device__ const T* data_of(long long group) const {
        return tensor.data + group * group_stride;
    }
    __device__ Outer outer(long long index) const {
        if (index >= rows.count) return {0, false};
        if constexpr (std::is_same_v<Rows, Taps>) {
            const Tap tap = rows.at(index);
            return {tensor.offset(tap.channel, tap.of), true};
        } else {
            const Positions::At at = rows.at(index);
            return {tensor.offset(at.n, at.of), true};
        }
    }
    __device__ Inner inner(long long index) const { return {index, index < channels}; }
    __device__ void next(Inner& channel) const { channel.is_there = ++channel.index < channels; }
    __device__ long long offset(const Outer& row, const Inner& channel) const {
        return row.offset + channel.index * tensor.channel;
    }
};

/// Sums become pixels: rows are positions, columns the channels of a group.
template <class T>
struct ToPixels {
    Strided<T> tensor;
    Positions positions;
    const T* bias;  ///< or null
    long long channels;
    bool has_chunks;

    __device__ Row row(long long group, long long index) const {
        if (index >= positions.count) return {0, false};
        const Positions::At at = positions.at(index);
        return {tensor.offset(at.n, at.of) + group * channels * tensor.channel, true};
    }
    __device__ void store(const Row& row, long long, long long group, long long first,
                          const float* sums) const {
        if (!row.is_there || first >= channels) return;
        const T* of_group = bias ? bias + group * channels : nullptr;
        const int count = static_cast<int>(min(channels - first, 8LL));
        T values[8];
#pragma unroll
        for (int i = 0; i < 8; ++i)
            if (i < count)
                values[i] = static_cast<T>(
                    sums[i] + (of_group ? static_cast<float>(of_group[first + i]) : 0.0f));
        T* to = tensor.data + row.offset + first * tensor.channel;
        constexpr int chunk = tensor_core::chunk<T>;
        if (has_chunks && count == 8) {
#pragma unroll
            for (int i = 0; i < 8; i += chunk) {
                uint4 bits;
                memcpy(&bits, values + i, sizeof bits);
                *reinterpret_cast<uint4*>(to + i) = bits;
            }
            return;
        }
#pragma unroll
        for (int i = 0; i < 8; ++i)
            if (i < count) to[i * tensor.channel] = values[i];
    }
};

/// Partial sums of the filter's gradient: by split, output channel, tap, and input channel.
struct ToPartialSums {
    float* sums;
    long long m, n, groups;  ///< of a group: its output channels, its taps and channels

    __device__ Row row(long long group, long long index) const {
        return {(group * m + index) * n, index < m};
    }
    __device__ void store(const Row& row, long long split, long long, long long first,
                          const float* from) const {
        if (!row.is_there) return;
        float* to = sums + split * groups * m * n + row.offset;
#pragma unroll
        for (int i = 0; i < 8; ++i)
            if (first + i < n) to[first + i] = from[i];
    }
};

/// dw = the sum of the splits' partial sums, in order.
template <class T>
__global__ void add_partial_sums(const float* sums, Strided<T> dw, Taps taps, long long elements,
                                 long long splits) {
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        float sum = 0.0f;
        for (long long split = 0; split < splits; ++split) sum += sums[split * elements + i];
        const long long feature = i / taps.count;
        const Tap tap = taps.at(i - feature * taps.count);
        dw.data[dw.offset(feature, tap.of) + tap.channel * dw.channel] = static_cast<T>(sum);
    }
}

/// The sizes of a call.
struct TensorCoreGeometry {
    long long groups, group_image, group_features;
    Extents filter{{1, 1, 1}}, image{{1, 1, 1}}, features{{1, 1, 1}};
    WindowAxis axes[3];  ///< what a feature reads of the image
    long long feature_positions;

    TensorCoreGeometry(const Parameters& p, const TensorView& x, const TensorView& y)
        : groups(p.groups), group_image(p.c / p.groups), group_features(p.k / p.groups) {
        feature_positions = p.n;
        for (int axis = 0; axis < p.rank; ++axis) {
            const Axis& of = p.axes[static_cast<std::size_t>(axis)];
            const int at = axis + 3 - p.rank;
            image.of[at] = as_int(x.size(2 + axis));
            features.of[at] = as_int(y.size(2 + axis));
            filter.of[at] = as_int(of.filter);
            axes[at] = {image.of[at], as_int(of.stride), as_int(of.dilation),
                        as_int(of.padding_left)};
            feature_positions *= features.of[at];
        }
    }

    Positions over_features() const { return {feature_positions, features}; }
    /// The taps of a filter, each with this number of channels.
    Taps taps(long long channels) const {
        return {as_int(channels), filter, channels * filter.of[0] * filter.of[1] * filter.of[2]};
    }
    /// What each feature's pixel reads of the image.
    template <class T, bool is_depth_inner>
    Window<T, is_depth_inner> window(const TensorView& x) const {
        return {strided<const T>(x),
                over_features(),
                taps(group_image),
                {axes[0], axes[1], axes[2]},
                has_chunks<T>(x, group_image)};
    }

  private:
    /// A coordinate; see declare_int_coordinates().
    static int as_int(long long value) { return static_cast<int>(value); }
};

/// The factors of the forward pass, and its output.
template <class T>
struct ForwardProduct {
    TensorCoreGeometry geometry;
    Window<T, true> pixels;
    FilterByFeature<T> filter;
    ToPixels<T> y;

    explicit ForwardProduct(const Forward& call)
        : geometry(call.problem, call.x, call.y),
          pixels(geometry.window<T, true>(call.x)),
          filter{strided<const T>(call.w), geometry.group_features, pixels.taps,
                 has_chunks<T>(call.w, geometry.group_image)},
          y{strided<T>(call.y), geometry.over_features(), call.b.as<const T>(),
            geometry.group_features, has_chunks<T>(call.y, geometry.group_features)} {}

    template <class Shape>
    tensor_core::TileGrid tiles() const {
        return tensor_core::tile_grid<Shape, T>(geometry.feature_positions, geometry.group_features,
                                                pixels.taps.count, geometry.groups, 1);
    }
};

/// Leaves the partial sums of dw's splits in the workspace.
template <class T, class Shape>
void launch_partial_sums(const GradWeight& call, const TensorCoreGeometry& g, long long splits) {
    const ByChannel<T, Positions> features{strided<const T>(call.dy), g.over_features(),
                                           g.group_features, g.group_features * call.dy.stride(1),
                                           has_chunks<T>(call.dy, g.group_features)};
    const auto pixels = g.window<T, false>(call.x);
    const ToPartialSums sums{static_cast<float*>(call.launch.workspace), g.group_features,
                             pixels.taps.count, g.groups};
    tensor_core::launch_tiles<Shape>(
        features, pixels, sums,
        tensor_core::tile_grid<Shape, T>(g.group_features, pixels.taps.count, g.feature_positions,
                                         g.groups, splits),
        call.launch.stream);
}

/// Calls `launch` with the tile that the block size stands for.
template <class Launcher>
void with_tile(int block_size, Launcher launch) {
    if (block_size == tensor_core::LargeTile::threads) return launch(tensor_core::LargeTile{});
    launch(tensor_core::SmallTile{});
}

/// Coordinates are ints, which also hold a position beyond the padding.
inline void declare_int_coordinates(KernelDeclaration& kernel) {
    kernel.only_if("no padded axis, stride or dilation is beyond 2^29", [](const Problem& problem) {
        return std::ranges::all_of(Parameters(problem).spatial(), [](const Axis& axis) {
            const auto padded = axis.in + axis.padding_left + axis.padding_right;
            return std::max({padded, axis.stride, axis.dilation}) <= std::int64_t{1} << 29;
        });
    });
}

template <class T>
void declare_tensor_core(KernelDeclaration& kernel) {
    declare_int_coordinates(kernel);
    declare_elements_on_stream<T>(kernel);
    kernel.spatial_axes(1, 3)
        .supports("asymmetric_padding")
        .strided("x")
        .strided("w")
        .strided("y")
        .on_tensor_cores()
        .blocks_of({tensor_core::LargeTile::threads, tensor_core::SmallTile::threads})
        // On the CPU whole fragments are multiplied, however few of their elements matter.
        .costs({.barriers_per_thread = 8, .threads = threads_of_steps});
}

/// The same for channels that are consecutive and fill chunks, which random problems seldom have.
template <class T>
void declare_tensor_core_nhwc(KernelDeclaration& kernel) {
    declare_tensor_core<T>(kernel);
    kernel.layout("x", "nhwc")
        .layout("w", "ohwi")
        .layout("y", "nhwc")
        .where("c", multiple_of(tensor_core::chunk<T>))
        .where("k", multiple_of(tensor_core::chunk<T>))
        .aligned_to(16);
}

}  // namespace gradverify::conv
