// SPDX-License-Identifier: Apache-2.0
// Convolution by cuBLAS and a matrix of patches in a workspace: for each sample `channels * taps,
// positions`, a copy of the pixel that each position reads through each tap. Tensors are row-major.
#pragma once

#include <algorithm>

#include "kernels/conv/direct.cuh"
#include "kernels/fast/cublas.cuh"
#include "reference/conv.hpp"

namespace gradverify::conv {

/// Sizes of the matrices of one sample.
struct PatchSizes {
    long long pixels = 1, positions = 1, taps = 1;
    long long groups, group_c, group_k;

    explicit PatchSizes(const Parameters& p)
        : groups(p.groups), group_c(p.c / p.groups), group_k(p.k / p.groups) {
        for (const Axis& axis : p.spatial()) {
            pixels *= axis.in;
            positions *= positions_along(axis);
            taps *= axis.filter;
        }
    }
    long long x() const { return groups * group_c * pixels; }
    long long y() const { return groups * group_k * positions; }
    long long group_rows() const { return group_c * taps; }
    long long group_patches() const { return group_rows() * positions; }
    long long patches() const { return groups * group_patches(); }
    long long group_w() const { return group_k * group_rows(); }
};

template <class T>
std::int64_t patches_workspace(const Problem& problem) {
    const Parameters p(problem);
    return p.n * PatchSizes(p).patches() * static_cast<std::int64_t>(sizeof(T));
}

/// A thread for each channel of a sample and position: the column of its taps.
template <class T>
__global__ void unfold(const T* x, T* patches, DirectGeometry g, long long elements) {
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long positions = d.features * h.features * v.features;
    const long long taps = d.filter * h.filter * v.filter;
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        long long out[3], in[3], tap[3];
        const long long channel = split(i, d.features, h.features, v.features, out);
        const T* const image = x + channel * d.image * h.image * v.image;
        T* to = patches + channel * taps * positions + i % positions;
        for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
            in[0] = d.pixel(out[0], tap[0]);
            for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                in[1] = h.pixel(out[1], tap[1]);
                for (tap[2] = 0; tap[2] < v.filter; ++tap[2], to += positions) {
                    in[2] = v.pixel(out[2], tap[2]);
                    const bool is_inside = in[0] >= 0 && in[1] >= 0 && in[2] >= 0;
                    *to = is_inside ? image[(in[0] * h.image + in[1]) * v.image + in[2]] : T(0);
                }
            }
        }
    }
}

/// A thread for each pixel: the sum of what its patches hold of it.
template <class T>
__global__ void fold(const T* patches, T* dx, DirectGeometry g, long long elements) {
    const DirectAxis &d = g.axes[0], &h = g.axes[1], &v = g.axes[2];
    const long long positions = d.features * h.features * v.features;
    const long long taps = d.filter * h.filter * v.filter;
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        long long out[3], in[3], tap[3];
        const long long channel = split(i, d.image, h.image, v.image, in);
        const T* const of_channel = patches + channel * taps * positions;
        T sum = 0;
        for (tap[0] = 0; tap[0] < d.filter; ++tap[0]) {
            if ((out[0] = d.feature(in[0], tap[0])) < 0) continue;
            for (tap[1] = 0; tap[1] < h.filter; ++tap[1]) {
                if ((out[1] = h.feature(in[1], tap[1])) < 0) continue;
                for (tap[2] = 0; tap[2] < v.filter; ++tap[2]) {
                    if ((out[2] = v.feature(in[2], tap[2])) < 0) continue;
                    const long long row = (tap[0] * h.filter + tap[1]) * v.filter + tap[2];
                    const long long column = (out[0] * h.features + out[1]) * v.features + out[2];
                    sum += of_channel[row * positions + column];
                }
            }
        }
        dx[i] = sum;
    }
}

/// y[n,k,o] = bias[k]; the products are added to it.
template <class T>
__global__ void fill_with_bias(const T* bias, T* y, long long channels, long long positions,
                               long long elements) {
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid())
        y[i] = bias[i / positions % channels];
}

/// The patches of some samples, from x or back to dx.
template <class T>
struct Patches {
    DirectGeometry g;
    PatchSizes sizes;
    T* data;
    Launch launch;

    void unfold_from(const T* x, long long samples) const {
        const long long elements = samples * g.image_channels * sizes.positions;
        if (elements == 0) return;
        unfold<T>
            <<<blocks_of_loop(elements, launch.block_size), launch.block_size, 0, launch.stream>>>(
                x, data, g, elements);
    }
    void fold_into(T* dx, long long samples) const {
        const long long elements = samples * sizes.x();
        fold<T>
            <<<blocks_of_loop(elements, launch.block_size), launch.block_size, 0, launch.stream>>>(
                data, dx, g, elements);
    }
    BatchedMatrix<T> of_group(long long group) const {
        return {data + group * sizes.group_patches(), sizes.positions, sizes.patches()};
    }
    BatchedMatrix<const T> factor(long long group, bool is_transposed) const {
        return {data + group * sizes.group_patches(), sizes.positions, sizes.patches(),
                is_transposed};
    }
};

template <class T>
Patches<T> patches_of(const Parameters& p, const TensorView& x, const TensorView& y,
                      const Launch& launch) {
    return {direct_geometry(p, x, y), PatchSizes(p), static_cast<T*>(launch.workspace), launch};
}

/// y = w patches + b for the first `samples` samples, and b alone for the others.
template <class T>
void patches_to_features(const Forward& call, long long samples) {
    if (call.y.elements() == 0) return;
    const auto patches = patches_of<T>(call.problem, call.x, call.y, call.launch);
    const PatchSizes& sizes = patches.sizes;
    const auto* const w = call.w.as<const T>();
    auto* const y = call.y.as<T>();
    const Launch& on = call.launch;
    fill_with_bias<T>
        <<<blocks_of_loop(call.y.elements(), on.block_size), on.block_size, 0, on.stream>>>(
            call.b.as<const T>(), y, call.problem.k, sizes.positions, call.y.elements());
    patches.unfold_from(call.x.as<const T>(), samples);
    for (long long group = 0; group < sizes.groups; ++group)
        cublas_product<T>({sizes.group_k, sizes.positions, sizes.group_rows(), samples},
                          {w + group * sizes.group_w(), sizes.group_rows()},
                          patches.factor(group, false),
                          {y + group * sizes.group_k * sizes.positions, sizes.positions, sizes.y()},
                          T(1), on.stream);
}

/// patches = w^T dy.
template <class T>
void features_to_patches(const GradInput& call, const Patches<T>& patches) {
    const PatchSizes& sizes = patches.sizes;
    const auto *const dy = call.dy.as<const T>(), *const w = call.w.as<const T>();
    for (long long group = 0; group < sizes.groups && sizes.positions > 0; ++group)
        cublas_product<T>(
            {sizes.group_rows(), sizes.positions, sizes.group_k, call.problem.n},
            {w + group * sizes.group_w(), sizes.group_rows(), 0, true},
            {dy + group * sizes.group_k * sizes.positions, sizes.positions, sizes.y()},
            patches.of_group(group), T(0), call.launch.stream);
}

/// What all of them support and promise, and their workspace.
template <class T>
void declare_patches(KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.spatial_axes(1, 3)
        .supports("asymmetric_padding")
        .blocks_of({256, 64})
        .workspace(patches_workspace<T>)
        .needs(why_cublas_is_absent);
}

}  // namespace gradverify::conv
