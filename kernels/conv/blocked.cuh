// SPDX-License-Identifier: Apache-2.0
// Convolution of tensors whose channels lie in blocks, by its definition: a thread for each place
// of a result, in the order of memory. So threads beside each other write beside each other, and
// read one image's element together and filters beside each other where these end in the same
// channel. To the tail of a last block a thread writes zero.
#pragma once

#include "kernels/blocked.cuh"
#include "kernels/conv/direct.cuh"

namespace gradverify::conv {

/// features[n,k,o] = bias[k] + sum over c, taps of image * w[k,c,tap].
template <class T>
__global__ void blocked_to_features(Blocked<T> image, BlockedFilter<T> w, const T* bias,
                                    T* features, Places places, DirectGeometry g) {
    using Sum = Accumulator<T>;
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < places.elements; i += step) {
        BlockedIndex to;
        Sum sum = 0;
        if (places.index_of(i, to)) {
            const long long n = to.first, k = to.second, group = k / g.group_features;
            const long long c0 = group * g.group_image;
            long long in[3], tap[3];
            sum = static_cast<Sum>(bias[k]);
            for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
                if ((in[0] = d.pixel(to.position[0], tap[0])) < 0) continue;
                for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                    if ((in[1] = h.pixel(to.position[1], tap[1])) < 0) continue;
                    for (tap[2] = 0; tap[2] < v.filter; ++tap[2]) {
                        if ((in[2] = v.pixel(to.position[2], tap[2])) < 0) continue;
                        for (long long c = 0; c < g.group_image; ++c)
                            sum += static_cast<Sum>(image.at(n, c0 + c, in)) *
                                   static_cast<Sum>(w.at(group, k, c, tap));
                    }
                }
            }
        }
        features[i] = static_cast<T>(sum);
    }
}

/// image[n,c,i] = sum over k, taps of features * w[k,c,tap].
template <class T>
__global__ void blocked_to_image(Blocked<T> features, BlockedFilter<T> w, T* image, Places places,
                                 DirectGeometry g) {
    using Sum = Accumulator<T>;
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < places.elements; i += step) {
        BlockedIndex to;
        Sum sum = 0;
        if (places.index_of(i, to)) {
            const long long n = to.first, c = to.second % g.group_image;
            const long long group = to.second / g.group_image, k0 = group * g.group_features;
            long long out[3], tap[3];
            for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
                if ((out[0] = d.feature(to.position[0], tap[0])) < 0) continue;
                for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                    if ((out[1] = h.feature(to.position[1], tap[1])) < 0) continue;
                    for (tap[2] = 0; tap[2] < v.filter; ++tap[2]) {
                        if ((out[2] = v.feature(to.position[2], tap[2])) < 0) continue;
                        for (long long k = k0; k < k0 + g.group_features; ++k)
                            sum += static_cast<Sum>(features.at(n, k, out)) *
                                   static_cast<Sum>(w.at(group, k, c, tap));
                    }
                }
            }
        }
        image[i] = static_cast<T>(sum);
    }
}

/// dw[k,c,tap] = sum over n and positions of features * image.
template <class T>
__global__ void blocked_to_filter(Blocked<T> features, Blocked<T> image, T* dw, Places places,
                                  DirectGeometry g) {
    using Sum = Accumulator<T>;
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < places.elements; i += step) {
        BlockedIndex to;
        Sum sum = 0;
        if (places.index_of(i, to)) {
            const long long k = to.first;
            const long long c = k / g.group_features * g.group_image + to.second;
            long long in[3], out[3];
            for (long long n = 0; n < g.n; ++n)
                for (out[0] = 0; out[0] < d.features; ++out[0]) {
                    if ((in[0] = d.pixel(out[0], to.position[0])) < 0) continue;
                    for (out[1] = 0; out[1] < h.features; ++out[1]) {
                        if ((in[1] = h.pixel(out[1], to.position[1])) < 0) continue;
                        for (out[2] = 0; out[2] < v.features; ++out[2])
                            if ((in[2] = v.pixel(out[2], to.position[2])) >= 0)
                                sum += static_cast<Sum>(features.at(n, k, out)) *
                                       static_cast<Sum>(image.at(n, c, in));
                    }
                }
        }
        dw[i] = static_cast<T>(sum);
    }
}

/// db[k] = sum over n and positions of dy.
template <class T>
__global__ void blocked_to_bias(Blocked<T> dy, T* db, long long channels, DirectGeometry g) {
    using Sum = Accumulator<T>;
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; k < channels;
         k += step) {
        Sum sum = 0;
        long long at[3];
        for (long long n = 0; n < g.n; ++n)
            for (at[0] = 0; at[0] < g.axes[0].features; ++at[0])
                for (at[1] = 0; at[1] < g.axes[1].features; ++at[1])
                    for (at[2] = 0; at[2] < g.axes[2].features; ++at[2])
                        sum += static_cast<Sum>(dy.at(n, k, at));
        db[k] = static_cast<T>(sum);
    }
}

template <class T, class Parameters>
void launch_blocked_to_features(const Parameters& p, const TensorView& image, const TensorView& w,
                                const TensorView& bias, const TensorView& features,
                                const Launch& launch) {
    const Places to = places(features);
    if (to.elements == 0) return;
    blocked_to_features<T>
        <<<direct_blocks(to.elements, launch.block_size), launch.block_size, 0, launch.stream>>>(
            blocked<T>(image), blocked_filter<T>(w, p.rank), bias.as<const T>(), features.as<T>(),
            to, direct_geometry(p, image, features));
}

template <class T, class Parameters>
void launch_blocked_to_image(const Parameters& p, const TensorView& features, const TensorView& w,
                             const TensorView& image, const Launch& launch) {
    const Places to = places(image);
    if (to.elements == 0) return;
    blocked_to_image<T>
        <<<direct_blocks(to.elements, launch.block_size), launch.block_size, 0, launch.stream>>>(
            blocked<T>(features), blocked_filter<T>(w, p.rank), image.as<T>(), to,
            direct_geometry(p, image, features));
}

template <class T, class Parameters>
void launch_blocked_to_filter(const Parameters& p, const TensorView& features,
                              const TensorView& image, const TensorView& dw, const Launch& launch) {
    const Places to = places(dw, p.rank);
    blocked_to_filter<T>
        <<<direct_blocks(to.elements, launch.block_size), launch.block_size, 0, launch.stream>>>(
            blocked<T>(features), blocked<T>(image), dw.as<T>(), to,
            direct_geometry(p, image, features));
}

template <class T, class Parameters>
void launch_blocked_to_bias(const Parameters& p, const TensorView& dy, const TensorView& db,
                            const Launch& launch) {
    const long long channels = db.size(0);
    blocked_to_bias<T>
        <<<direct_blocks(channels, launch.block_size), launch.block_size, 0, launch.stream>>>(
            blocked<T>(dy), db.as<T>(), channels, direct_geometry(p, dy, dy));
}

/// What all of them support and promise; row-major as well, as the images of a first layer and the
/// outputs of a last one lie.
template <class T>
void declare_blocked_features(KernelDeclaration& kernel) {
    kernel.spatial_axes(1, 3)
        .supports("asymmetric_padding")
        .layout_of("y", {"nChw16c", "nChw8c", "nchw"})
        .blocks_of({256, 64, 37})
        .aligned_to(sizeof(T))
        .on_given_stream()
        .with_empty_problems();
    if constexpr (DTypeOf<T>::value != DType::f32) kernel.storage(DTypeOf<T>::value);
}

/// The same of a pass with an image and a filter.
template <class T>
void declare_blocked(KernelDeclaration& kernel) {
    declare_blocked_features<T>(kernel);
    kernel.layout_of("x", {"nChw16c", "nChw8c", "nchw"})
        .layout_of("w", {"OIhw16i16o", "OIhw16o16i", "OIhw8i8o", "OIhw8o8i", "oihw", "OIhw8i16o2i",
                         "OIhw4i16o4i", "gOIhw16i16o", "Goihw16g"});
}

}  // namespace gradverify::conv
