// SPDX-License-Identifier: Apache-2.0
// Launchers of the implicit product for the passes of conv and conv_transpose:
//
//   pass           rows            columns                 terms
//   to_features    features' k     n, positions of y       c, taps
//   to_image       image's c       n, pixels of a phase    k, taps of the phase
//   to_filter      features' k     c, taps                 n, positions of y
//
// Decides the tile by the block size, and whether offsets take 32 bits.
#pragma once

#include "kernels/fast/conv/implicit_gemm.cuh"

namespace gradverify::conv {

/// A block of 64 for small problems, of 256 for large ones. A double takes two registers.
template <class T>
struct GemmTiles {
    using Small = GemmTile<32, 32, 4>;
    using Large = GemmTile<128, 128, 8>;
};
template <>
struct GemmTiles<double> {
    using Small = GemmTile<32, 32, 4>;
    using Large = GemmTile<64, 64, 4>;
};

/// Doubles always have offsets of 64 bits, so that these are verified on small problems too.
template <class T>
constexpr bool always_wide = sizeof(T) == 8;

template <class T, class Parameters>
GemmOperands<T> gemm_operands(const Parameters& p, const TensorView& image,
                              const TensorView& features, const TensorView& w) {
    return {strided<T>(image), strided<T>(features), strided<T>(w),
            direct_geometry(p, image, features), p.groups};
}

/// Rows and columns of the largest slice.
struct GemmShape {
    long long rows, columns;
};

template <GemmResult result, class Tile, class T, class Index, class Walk>
void launch_tiles(const GemmTensors<T, Index>& of, const Walk& walk, GemmGrid grid,
                  const GemmShape& shape, T* partials, cudaStream_t stream) {
    grid.row_tiles = divided_up(shape.rows, Tile::rows);
    grid.column_tiles = divided_up(shape.columns, Tile::columns);
    grid.groups = of.groups;
    implicit_gemm<result, T, Index, Tile>
        <<<static_cast<unsigned>(grid.blocks()), Tile::threads, 0, stream>>>(of, walk, grid,
                                                                             partials);
}

template <GemmResult result, class T, class Index, class Walk>
void launch_gemm(const GemmTensors<T, Index>& of, const Walk& walk, const GemmGrid& grid,
                 const GemmShape& shape, T* partials, const Launch& launch) {
    using Tiles = GemmTiles<T>;
    if (launch.block_size == Tiles::Small::threads)
        launch_tiles<result, typename Tiles::Small>(of, walk, grid, shape, partials, launch.stream);
    else
        launch_tiles<result, typename Tiles::Large>(of, walk, grid, shape, partials, launch.stream);
}

/// Calls `run` with an index of the type that the offsets need.
template <class T, class Run>
void with_index(const GemmOperands<T>& of, Run run) {
    if constexpr (!always_wide<T>)
        if (fits_32_bits(of)) return run(0);
    run(0LL);
}

/// The rows, and the terms and columns beside those of the three axes.
struct GemmCounts {
    long long rows, terms_outer, columns_outer, groups;
};

/// A tensor of the product, with strides by two of row, outer term, outer column, and by group.
template <class Pointer>
struct GemmSide {
    Pointer data;
    long long first, second, group;
};

template <class Index, class T>
GemmTensors<T, Index> gemm_tensors(const GemmCounts& counts, const GemmSide<const T*>& a,
                                   const GemmSide<const T*>& b, const GemmSide<T*>& d,
                                   const T* bias) {
    const auto index = [](long long value) { return static_cast<Index>(value); };
    return {.a = a.data,
            .b = b.data,
            .bias = bias,
            .d = d.data,
            .rows = index(counts.rows),
            .terms_outer = index(counts.terms_outer),
            .columns_outer = index(counts.columns_outer),
            .a_row = index(a.first),
            .a_term = index(a.second),
            .b_term = index(b.first),
            .b_column = index(b.second),
            .d_row = index(d.first),
            .d_column = index(d.second),
            .a_group = a.group,
            .b_group = b.group,
            .d_group = d.group,
            .groups = counts.groups};
}

template <class Index, class T>
GemmTensors<T, Index> features_tensors(const GemmOperands<T>& of, const T* bias) {
    const DirectGeometry& g = of.g;
    return gemm_tensors<Index, T>(
        {.rows = g.group_features,
         .terms_outer = g.group_image,
         .columns_outer = g.n,
         .groups = of.groups},
        {of.w.data, of.w.outer, of.w.channel, g.group_features * of.w.outer},
        {of.image.data, of.image.channel, of.image.outer, g.group_image * of.image.channel},
        {of.features.data, of.features.channel, of.features.outer,
         g.group_features * of.features.channel},
        bias);
}

/// Columns are positions of the features, terms are taps.
template <class Index, class T>
WholeWalk<Index> features_walk(const GemmOperands<T>& of) {
    const auto index = [](long long value) { return static_cast<Index>(value); };
    WholeWalk<Index> walk;
    for (int i = 0; i < 3; ++i) {
        const DirectAxis& axis = of.g.axes[i];
        walk.axes[i] = {.columns = index(axis.features),
                        .column_start = index(-axis.padding),
                        .column_step = index(axis.stride),
                        .terms = index(axis.filter),
                        .term_start = 0,
                        .term_step = index(axis.dilation),
                        .b_size = index(axis.image),
                        .b_stride = index(of.image.axes[i]),
                        .a_start = 0,
                        .a_step = index(of.w.axes[i]),
                        .d_start = 0,
                        .d_step = index(of.features.axes[i])};
    }
    return walk;
}

inline GemmShape features_shape(const DirectGeometry& g) {
    return {.rows = g.group_features,
            .columns = g.n * g.axes[0].features * g.axes[1].features * g.axes[2].features};
}

template <class Index, class T>
GemmTensors<T, Index> image_tensors(const GemmOperands<T>& of, const T* bias) {
    const DirectGeometry& g = of.g;
    return gemm_tensors<Index, T>(
        {.rows = g.group_image,
         .terms_outer = g.group_features,
         .columns_outer = g.n,
         .groups = of.groups},
        {of.w.data, of.w.channel, of.w.outer, g.group_features * of.w.outer},
        {of.features.data, of.features.channel, of.features.outer,
         g.group_features * of.features.channel},
        {of.image.data, of.image.channel, of.image.outer, g.group_image * of.image.channel}, bias);
}

template <class Index, class T>
PhasedWalk<Index> image_walk(const GemmOperands<T>& of) {
    PhasedWalk<Index> walk;
    for (int i = 0; i < 3; ++i)
        walk.axes[i] =
            phased_axis(of.g.axes[i], of.w.axes[i], of.features.axes[i], of.image.axes[i]);
    return walk;
}

/// The shape of the first phase, which has the most pixels.
inline GemmShape image_shape(const DirectGeometry& g) {
    GemmShape shape{.rows = g.group_image, .columns = g.n};
    for (const DirectAxis& axis : g.axes)
        shape.columns *= (axis.image + axis.stride - 1) / axis.stride;
    return shape;
}

/// A product whose sums are not split.
template <class T, class Index, class Walk>
void launch_walk(const GemmTensors<T, Index>& tensors, const Walk& walk, const GemmShape& shape,
                 const Launch& launch) {
    launch_gemm<GemmResult::stored, T, Index>(
        tensors, walk, {.slices = walk.slices(), .terms_of_slice = 0}, shape, nullptr, launch);
}

/// image -> features, with a bias by the feature's channel where there is one.
template <class T, class Parameters>
void gemm_to_features(const Parameters& p, const TensorView& image, const TensorView& w,
                      const TensorView* bias, const TensorView& features, const Launch& launch) {
    if (features.elements() == 0) return;
    const GemmOperands<T> of = gemm_operands<T>(p, image, features, w);
    const T* const start = bias ? bias->as<const T>() : nullptr;
    with_index(of, [&](auto index) {
        using Index = decltype(index);
        launch_walk(features_tensors<Index>(of, start), features_walk<Index>(of),
                    features_shape(of.g), launch);
    });
}

/// features -> image, with a bias by the image's channel where there is one.
template <class T, class Parameters>
void gemm_to_image(const Parameters& p, const TensorView& features, const TensorView& w,
                   const TensorView* bias, const TensorView& image, const Launch& launch) {
    if (image.elements() == 0) return;
    const GemmOperands<T> of = gemm_operands<T>(p, image, features, w);
    const T* const start = bias ? bias->as<const T>() : nullptr;
    with_index(of, [&](auto index) {
        using Index = decltype(index);
        launch_walk(image_tensors<Index>(of, start), image_walk<Index>(of), image_shape(of.g),
                    launch);
    });
}

/// What all of them support and promise.
template <class T>
void declare_implicit_gemm(KernelDeclaration& kernel) {
    declare_direct_product<T>(kernel);
    kernel.blocks_of({256, 64}).costs({.barriers_per_thread = 2, .threads = threads_of_steps});
}

}  // namespace gradverify::conv
