// SPDX-License-Identifier: Apache-2.0
// Convolution by its definition, in one to three dimensions: a thread for each element of a result.
// A filter joins the image (conv's x, conv_transpose's y) and the features (conv's y,
// conv_transpose's x), so each kernel serves both operators. Tensors have any strides and may
// differ in type. The references have a geometry of their own.
#pragma once

#include <algorithm>

#include "kernels/conv/geometry.cuh"
#include "kernels/kernel.cuh"

namespace gradverify::conv {

/// A tensor of n, channels and up to three spatial axes; an axis that it lacks has one element.
template <class T>
struct Strided {
    T* data;
    long long outer, channel, axes[3];

    template <class Index>
    __device__ long long offset(long long n, const Index (&position)[3]) const {
        return n * outer + position[0] * axes[0] + position[1] * axes[1] + position[2] * axes[2];
    }
    __device__ T& at(long long n, long long c, const long long (&position)[3]) const {
        return data[offset(n, position) + c * channel];
    }
};

template <class T>
Strided<T> strided(const TensorView& view) {
    Strided<T> tensor{view.as<T>(), view.stride(0), view.stride(1), {}};
    for (int axis = 2; axis < view.rank; ++axis)
        tensor.axes[axis + 3 - view.rank] = view.stride(axis);
    return tensor;
}

struct DirectAxis {
    long long image, features, filter, stride, dilation, padding;

    /// The pixel that a feature reads through a tap, or -1.
    __device__ long long pixel(long long feature, long long tap) const {
        const long long at = feature * stride + tap * dilation - padding;
        return at < image ? at : -1;
    }
    /// The feature that reads a pixel through a tap, or -1.
    __device__ long long feature(long long pixel, long long tap) const {
        const long long shifted = pixel + padding - tap * dilation;
        if (shifted < 0 || shifted % stride != 0) return -1;
        return shifted / stride < features ? shifted / stride : -1;
    }
};

struct DirectGeometry {
    long long n, image_channels, features;
    long long group_image, group_features;  ///< channels of a group
    DirectAxis axes[3];
};

template <class Parameters>
DirectGeometry direct_geometry(const Parameters& p, const TensorView& image,
                               const TensorView& features) {
    DirectGeometry g{.n = image.size(0),
                     .image_channels = image.size(1),
                     .features = features.size(1),
                     .group_image = image.size(1) / p.groups,
                     .group_features = features.size(1) / p.groups,
                     .axes = {{1, 1, 1, 1, 1, 0}, {1, 1, 1, 1, 1, 0}, {1, 1, 1, 1, 1, 0}}};
    for (int axis = 0; axis < p.rank; ++axis) {
        const auto& of = p.axes[static_cast<std::size_t>(axis)];
        g.axes[axis + 3 - p.rank] = {.image = image.size(2 + axis),
                                     .features = features.size(2 + axis),
                                     .filter = of.filter,
                                     .stride = of.stride,
                                     .dilation = of.dilation,
                                     .padding = of.padding_left};
    }
    return g;
}

/// What products in tiles cost: a block's threads for each 16 terms of a sum; small results usually
/// take four for an output. All passes have one figure, as if each had the longest sum.
inline std::int64_t threads_of_steps(const Problem& problem) {
    const std::int64_t n = problem.scalar("n"), groups = problem.scalar("groups");
    const std::int64_t c = problem.scalar("c") / groups, k = problem.scalar("k") / groups;
    std::int64_t taps = 1, pixels = n;
    for (int axis = 0; axis < problem.rank(); ++axis) {
        taps *= problem.on_axis("filter", axis);
        const std::int64_t size = problem.on_axis("in", axis) +
                                  problem.on_axis("padding", axis, Side::left) +
                                  problem.on_axis("padding", axis, Side::right);
        pixels *= std::max<std::int64_t>(size / problem.on_axis("stride", axis), 1);
    }
    const std::int64_t longest = std::max({pixels, c * taps, k * taps});
    return 16 * longest + groups * pixels * c * k * taps / 4;
}

/// Splits a flat index into positions on three axes, the last one innermost; returns what is left.
__device__ inline long long split(long long index, long long size0, long long size1,
                                  long long size2, long long (&position)[3]) {
    position[2] = index % size2;
    position[1] = index / size2 % size1;
    position[0] = index / (size2 * size1) % size0;
    return index / (size2 * size1 * size0);
}

/// features[n,k,o] = bias[k] + sum over c, taps of image * w[k,c,tap]; no bias where it is null.
template <class Image, class Weight, class Feature>
__global__ void to_features(Strided<const Image> image, Strided<const Weight> w,
                            const Feature* bias, Strided<Feature> features, DirectGeometry g,
                            long long elements) {
    using Sum = Accumulator<Feature>;
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        long long out[3], in[3], tap[3];
        const long long channels = split(i, d.features, h.features, v.features, out);
        const long long n = channels / g.features, k = channels % g.features;
        const long long first = k / g.group_features * g.group_image;
        Sum sum = bias ? static_cast<Sum>(bias[k]) : Sum{};
        for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
            if ((in[0] = d.pixel(out[0], tap[0])) < 0) continue;
            for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                if ((in[1] = h.pixel(out[1], tap[1])) < 0) continue;
                for (tap[2] = 0; tap[2] < v.filter; ++tap[2]) {
                    if ((in[2] = v.pixel(out[2], tap[2])) < 0) continue;
                    for (long long c = 0; c < g.group_image; ++c)
                        sum += static_cast<Sum>(image.at(n, first + c, in)) *
                               static_cast<Sum>(w.at(k, c, tap));
                }
            }
        }
        features.at(n, k, out) = static_cast<Feature>(sum);
    }
}

/// image[n,c,i] = bias[c] + sum over k, taps of features * w[k,c,tap]; no bias where it is null.
template <class Feature, class Weight, class Image>
__global__ void to_image(Strided<const Feature> features, Strided<const Weight> w,
                         const Image* bias, Strided<Image> image, DirectGeometry g,
                         long long elements) {
    using Sum = Accumulator<Image>;
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        long long in[3], out[3], tap[3];
        const long long channels = split(i, d.image, h.image, v.image, in);
        const long long n = channels / g.image_channels, c = channels % g.image_channels;
        const long long first = c / g.group_image * g.group_features;
        Sum sum = bias ? static_cast<Sum>(bias[c]) : Sum{};
        for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
            if ((out[0] = d.feature(in[0], tap[0])) < 0) continue;
            for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                if ((out[1] = h.feature(in[1], tap[1])) < 0) continue;
                for (tap[2] = 0; tap[2] < v.filter; ++tap[2]) {
                    if ((out[2] = v.feature(in[2], tap[2])) < 0) continue;
                    for (long long k = first; k < first + g.group_features; ++k)
                        sum += static_cast<Sum>(features.at(n, k, out)) *
                               static_cast<Sum>(w.at(k, c % g.group_image, tap));
                }
            }
        }
        image.at(n, c, in) = static_cast<Image>(sum);
    }
}

/// dw[k,c,tap] = sum over n and positions of features * image.
template <class Feature, class Image, class Weight>
__global__ void to_filter(Strided<const Feature> features, Strided<const Image> image,
                          Strided<Weight> dw, DirectGeometry g, long long elements) {
    using Sum = Accumulator<Weight>;
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        long long tap[3], in[3], out[3];
        const long long channels = split(i, d.filter, h.filter, v.filter, tap);
        const long long k = channels / g.group_image, c = channels % g.group_image;
        const long long first = k / g.group_features * g.group_image;
        Sum sum{};
        for (long long n = 0; n < g.n; ++n)
            for (out[0] = 0; out[0] < d.features; ++out[0]) {
                if ((in[0] = d.pixel(out[0], tap[0])) < 0) continue;
                for (out[1] = 0; out[1] < h.features; ++out[1]) {
                    if ((in[1] = h.pixel(out[1], tap[1])) < 0) continue;
                    for (out[2] = 0; out[2] < v.features; ++out[2])
                        if ((in[2] = v.pixel(out[2], tap[2])) >= 0)
                            sum += static_cast<Sum>(features.at(n, k, out)) *
                                   static_cast<Sum>(image.at(n, first + c, in));
                }
            }
        dw.at(k, c, tap) = static_cast<Weight>(sum);
    }
}

/// db[k] = sum over n and positions of dy.
template <class T>
__global__ void to_bias(Strided<const T> dy, T* db, long long batch, long long channels,
                        long long size0, long long size1, long long size2) {
    using Sum = Accumulator<T>;
    for (long long k = thread_in_grid(); k < channels; k += threads_in_grid()) {
        Sum sum{};
        for (long long i = 0; i < batch * size0 * size1 * size2; ++i) {
            long long position[3];
            const long long n = split(i, size0, size1, size2, position);
            sum += static_cast<Sum>(dy.at(n, k, position));
        }
        db[k] = static_cast<T>(sum);
    }
}

/// The launchers' types are those of the tensors in the order of the arguments, one for all unless
/// more are named. The bias has the result's type.
template <class Image, class Weight = Image, class Feature = Image, class Parameters>
void launch_to_features(const Parameters& p, const TensorView& image, const TensorView& w,
                        const TensorView* bias, const TensorView& features, const Launch& launch) {
    const long long elements = features.elements();
    if (elements == 0) return;
    to_features<<<blocks_of_loop(elements, launch.block_size), launch.block_size, 0,
                  launch.stream>>>(strided<const Image>(image), strided<const Weight>(w),
                                   bias ? bias->as<const Feature>() : nullptr,
                                   strided<Feature>(features), direct_geometry(p, image, features),
                                   elements);
}

template <class Feature, class Weight = Feature, class Image = Feature, class Parameters>
void launch_to_image(const Parameters& p, const TensorView& features, const TensorView& w,
                     const TensorView* bias, const TensorView& image, const Launch& launch) {
    const long long elements = image.elements();
    if (elements == 0) return;
    to_image<<<blocks_of_loop(elements, launch.block_size), launch.block_size, 0, launch.stream>>>(
        strided<const Feature>(features), strided<const Weight>(w),
        bias ? bias->as<const Image>() : nullptr, strided<Image>(image),
        direct_geometry(p, image, features), elements);
}

template <class Feature, class Image = Feature, class Weight = Feature, class Parameters>
void launch_to_filter(const Parameters& p, const TensorView& features, const TensorView& image,
                      const TensorView& dw, const Launch& launch) {
    const long long elements = dw.elements();
    to_filter<<<blocks_of_loop(elements, launch.block_size), launch.block_size, 0, launch.stream>>>(
        strided<const Feature>(features), strided<const Image>(image), strided<Weight>(dw),
        direct_geometry(p, image, features), elements);
}

template <class T>
void launch_to_bias(const TensorView& dy, const TensorView& db, const Launch& launch) {
    long long sizes[3] = {1, 1, 1};
    for (int axis = 2; axis < dy.rank; ++axis) sizes[axis + 3 - dy.rank] = dy.size(axis);
    to_bias<T>
        <<<blocks_of_loop(dy.size(1), launch.block_size), launch.block_size, 0, launch.stream>>>(
            strided<const T>(dy), db.as<T>(), dy.size(0), dy.size(1), sizes[0], sizes[1], sizes[2]);
}

/// What all of them support and promise.
template <class T>
void declare_direct(KernelDeclaration& kernel) {
    declare_loop<T>(kernel);
    kernel.spatial_axes(1, 3).supports("asymmetric_padding").strided("y");
}

/// The same of a pass with an image and a filter.
template <class T>
void declare_direct_product(KernelDeclaration& kernel) {
    declare_direct<T>(kernel);
    kernel.strided("x").strided("w");
}

/// The same of a pass that makes those gradients that a mask asks for.
template <class T>
void declare_direct_of_mask(KernelDeclaration& kernel) {
    declare_direct_product<T>(kernel);
    kernel.takes_mask();
}

}  // namespace gradverify::conv
