// SPDX-License-Identifier: Apache-2.0
// The gradient of a filter as an implicit product. Its result is small and its sum long, so the sum
// is split into shares, which are added up in a fixed order, from a workspace, or atomically.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/fast/conv/implicit_gemm_launch.cuh"

namespace gradverify::conv {

/// Two for each of 132 multiprocessors. It is fixed, so that every device sums in the same order.
constexpr long long split_blocks = 264;
/// Below this many terms a share costs more than it saves.
constexpr long long split_terms = 64;

/// The most shares of a result with these rows and columns in each group.
template <class Tile>
long long most_shares(const GemmShape& shape, long long groups) {
    const long long tiles =
        divided_up(shape.rows, Tile::rows) * divided_up(shape.columns, Tile::columns) * groups;
    // One block more than run at once would take as long again.
    return tiles < split_blocks ? split_blocks / tiles : 1;
}

/// A multiple of a step's terms; the last share has what is left, at least one.
template <class Tile>
long long terms_of_share(const GemmShape& shape, long long groups, long long terms) {
    const long long shares = most_shares<Tile>(shape, groups);
    const long long least = std::max(divided_up(terms, shares), split_terms);
    return divided_up(least, Tile::depth) * Tile::depth;
}

/// Bytes for a pass whose filter joins `features` channels, in groups, with `image` ones.
template <class T, class Parameters>
std::int64_t split_workspace(const Parameters& p, long long features, long long image) {
    using Tiles = GemmTiles<T>;
    GemmShape shape{.rows = features / p.groups, .columns = image / p.groups};
    for (const auto& axis : p.spatial()) shape.columns *= axis.filter;
    const long long shares = std::max(most_shares<typename Tiles::Small>(shape, p.groups),
                                      most_shares<typename Tiles::Large>(shape, p.groups));
    if (shares == 1) return 0;
    return static_cast<std::int64_t>(sizeof(T)) * shares * p.groups * shape.rows * shape.columns;
}

/// dw = the sum of all shares, in their order. Partials lie `shares, features, channels, taps`.
template <class T>
__global__ void sum_shares(const T* partials, long long shares, Strided<T> dw, long long channels,
                           long long size0, long long size1, long long size2, long long elements) {
    for (long long i = thread_in_grid(); i < elements; i += threads_in_grid()) {
        T sum = 0;
        for (long long share = 0; share < shares; ++share) sum += partials[share * elements + i];
        long long tap[3];
        const long long outer = split(i, size0, size1, size2, tap);
        dw.at(outer / channels, outer % channels, tap) = sum;
    }
}

/// Without shares dw is set to zero.
template <class T>
void launch_sum_shares(const T* partials, long long shares, const GemmOperands<T>& of,
                       const Launch& launch) {
    const DirectGeometry& g = of.g;
    const long long taps = g.axes[0].filter * g.axes[1].filter * g.axes[2].filter;
    const long long elements = g.features * g.group_image * taps;
    sum_shares<T>
        <<<blocks_of_loop(elements, launch.block_size), launch.block_size, 0, launch.stream>>>(
            partials, shares, of.w, g.group_image, g.axes[0].filter, g.axes[1].filter,
            g.axes[2].filter, elements);
}

template <class Index, class T>
GemmTensors<T, Index> filter_tensors(const GemmOperands<T>& of) {
    const DirectGeometry& g = of.g;
    return gemm_tensors<Index, T>(
        {.rows = g.group_features,
         .terms_outer = g.n,
         .columns_outer = g.group_image,
         .groups = of.groups},
        {of.features.data, of.features.channel, of.features.outer,
         g.group_features * of.features.channel},
        {of.image.data, of.image.outer, of.image.channel, g.group_image * of.image.channel},
        {of.w.data, of.w.outer, of.w.channel, g.group_features * of.w.outer}, nullptr);
}

/// The walk of the features, with columns and terms exchanged, and so filter and features.
template <class Index, class T>
WholeWalk<Index> filter_walk(const GemmOperands<T>& of) {
    WholeWalk<Index> walk = features_walk<Index>(of);
    for (GemmAxis<Index>& axis : walk.axes) {
        std::swap(axis.columns, axis.terms);
        std::swap(axis.column_start, axis.term_start);
        std::swap(axis.column_step, axis.term_step);
        std::swap(axis.a_step, axis.d_step);
    }
    return walk;
}

/// The shares of a sum; the last one may have fewer terms than the others.
struct Shares {
    long long terms, terms_of_share;

    long long count() const { return divided_up(terms, terms_of_share); }
};

template <class T>
Shares shares_of(const GemmOperands<T>& of, const GemmShape& shape, int block_size) {
    using Tiles = GemmTiles<T>;
    long long terms = of.g.n;
    for (const DirectAxis& axis : of.g.axes) terms *= axis.features;
    const bool is_small = block_size == Tiles::Small::threads;
    return {terms, is_small ? terms_of_share<typename Tiles::Small>(shape, of.groups, terms)
                            : terms_of_share<typename Tiles::Large>(shape, of.groups, terms)};
}

/// dw by shares that are added up as `result` says: `partial` for a fixed order.
template <class T, GemmResult result, class Parameters>
void gemm_to_filter(const Parameters& p, const TensorView& features, const TensorView& image,
                    const TensorView& dw, const Launch& launch) {
    static_assert(result != GemmResult::stored);
    const GemmOperands<T> of = gemm_operands<T>(p, image, features, dw);
    const DirectGeometry& g = of.g;
    const GemmShape shape{
        .rows = g.group_features,
        .columns = g.group_image * g.axes[0].filter * g.axes[1].filter * g.axes[2].filter};
    const Shares shares = shares_of(of, shape, launch.block_size);
    auto* const partials = static_cast<T*>(launch.workspace);
    const GemmGrid grid{.slices = shares.count(), .terms_of_slice = shares.terms_of_share};
    const auto run = [&](auto index) {
        using Index = decltype(index);
        const GemmTensors<T, Index> tensors = filter_tensors<Index>(of);
        const WholeWalk<Index> walk = filter_walk<Index>(of);
        if (shares.count() == 1)
            launch_gemm<GemmResult::stored, T, Index>(tensors, walk, grid, shape, partials, launch);
        else
            launch_gemm<result, T, Index>(tensors, walk, grid, shape, partials, launch);
    };
    const bool sums_first = result == GemmResult::added && shares.count() > 1;
    if (shares.count() == 0 || sums_first) launch_sum_shares<T>(partials, 0, of, launch);
    if (shares.count() > 0) with_index(of, run);
    if (result == GemmResult::partial && shares.count() > 1)
        launch_sum_shares<T>(partials, shares.count(), of, launch);
}

}  // namespace gradverify::conv

/// Registers a file's launchers for one type; `declare_split` gives the last its workspace.
#define GRADVERIFY_IMPLICIT_GEMM(SUFFIX, T)                                                        \
    GRADVERIFY_KERNEL(Forward, "implicit_gemm" SUFFIX, forward<T>).with(declare_implicit_gemm<T>); \
    GRADVERIFY_KERNEL(GradInput, "implicit_gemm" SUFFIX, grad_input<T>)                            \
        .with(declare_implicit_gemm<T>);                                                           \
    GRADVERIFY_KERNEL(GradWeight, "implicit_gemm" SUFFIX, grad_weight<T, partial>)                 \
        .with(declare_split<T>);                                                                   \
    GRADVERIFY_KERNEL(GradWeight, "implicit_gemm_atomics" SUFFIX, grad_weight<T, added>)           \
        .with(declare_implicit_gemm<T>)                                                            \
        .not_deterministic()
