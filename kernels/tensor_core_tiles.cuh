// SPDX-License-Identifier: Apache-2.0
// Products of matrices on tensor cores: a block computes a tile of sum[m, n] = the sum over k of
// a[m, k] b[k, n], in float, and each thread loads 16 bytes at a time. Knows no operator: operands
// say where their elements lie, and the output where the sums go.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <cuda_runtime.h>
#include <mma.h>

#include "kernels/grids.hpp"

namespace gradverify::tensor_core {

namespace wmma = nvcuda::wmma;

/// Elements that are loaded and stored at once.
template <class T>
constexpr int chunk = 16 / static_cast<int>(sizeof(T));

/// A step along the depth is 64 bytes of each factor.
template <class T>
constexpr int step_depth = 64 / static_cast<int>(sizeof(T));

template <class T>
struct Factor {
    using type = T;
    static constexpr int depth = 16;  ///< of a fragment
};
/// Floats are multiplied as tf32.
template <>
struct Factor<float> {
    using type = wmma::precision::tf32;
    static constexpr int depth = 8;
};

/// How the warps of a block divide a tile; each has fragments of 16x16.
template <int warps_along_m, int warps_along_n, int fragments_along_m, int fragments_along_n>
struct TileShape {
    static constexpr int warps_n = warps_along_n;
    static constexpr int fragments_m = fragments_along_m, fragments_n = fragments_along_n;
    static constexpr int warp_m = 16 * fragments_m, warp_n = 16 * fragments_n;
    static constexpr int m = warps_along_m * warp_m, n = warps_along_n * warp_n;
    static constexpr int threads = 32 * warps_along_m * warps_along_n;
};
using LargeTile = TileShape<2, 4, 4, 2>;  ///< 128x128, 256 threads
using SmallTile = TileShape<2, 1, 1, 2>;  ///< 32x32, 64 threads

/// The tiles of all groups and splits. A split is a part of the depth, with sums of its own.
struct TileGrid {
    long long m, n, depth;  ///< of a group
    long long tiles_m, tiles_n, groups, splits;
    int steps, steps_of_split;
};

template <class Shape, class T>
TileGrid tile_grid(long long m, long long n, long long depth, long long groups, long long splits) {
    const long long steps = divided_up(depth, step_depth<T>);
    return {m,
            n,
            depth,
            divided_up(m, Shape::m),
            divided_up(n, Shape::n),
            groups,
            splits,
            static_cast<int>(steps),
            static_cast<int>(divided_up(steps, splits))};
}

/// A thread's share in filling a factor's tile in shared memory. An operand has rows (`Outer`) of
/// consecutive elements (`Inner`); the depth runs along one of the two.
template <class Operand, bool always_chunks, int extent, int threads>
class TileLoader {
    using T = typename Operand::Element;
    using Outer = typename Operand::Outer;
    using Inner = typename Operand::Inner;
    static constexpr bool depth_is_inner = Operand::depth_is_inner;
    static constexpr int rows = depth_is_inner ? extent : step_depth<T>;
    static constexpr int columns = depth_is_inner ? step_depth<T> : extent;
    static constexpr int chunks = columns / chunk<T>;
    static constexpr int rows_at_once = threads / chunks, own = rows / rows_at_once;
    static_assert(own * rows_at_once == rows && chunks * rows_at_once == threads);

  public:
    /// A chunk more than the tile needs, so that a fragment's rows lie in different banks.
    static constexpr int row_elements = columns + chunk<T>;
    static constexpr int elements = rows * row_elements;

    /// For the rows or columns of the product from `first` on.
    __device__ TileLoader(const Operand& operand, long long group, long long first)
        : operand_(operand), data_(operand.data_of(group)) {
        if constexpr (depth_is_inner)
            for (int i = 0; i < own; ++i) fixed_[i] = operand_.outer(first + row(i));
        else
            fixed_[0] = operand_.inner(first + column());
    }

    /// Reads what this thread has of the step into registers.
    __device__ void fetch(int step) {
        const long long first = static_cast<long long>(step) * step_depth<T>;
        if constexpr (depth_is_inner) {
            const Inner inner = operand_.inner(first + column());
#pragma unroll
            for (int i = 0; i < own; ++i) held_[i] = read(fixed_[i], inner);
        } else {
#pragma unroll
            for (int i = 0; i < own; ++i)
                held_[i] = read(operand_.outer(first + row(i)), fixed_[0]);
        }
    }

    __device__ void put(T* tile) const {
#pragma unroll
        for (int i = 0; i < own; ++i)
            *reinterpret_cast<uint4*>(tile + row(i) * row_elements + column()) =
                as_factors(held_[i]);
    }

  private:
    __device__ static int column() { return static_cast<int>(threadIdx.x) % chunks * chunk<T>; }
    __device__ static int row(int i) {
        return static_cast<int>(threadIdx.x) / chunks + i * rows_at_once;
    }

    __device__ uint4 read(const Outer& outer, const Inner& inner) const {
        uint4 bits = make_uint4(0, 0, 0, 0);
        if (!outer.is_there || !inner.is_there) return bits;
        if (always_chunks || operand_.has_chunks) {
            const long long at = operand_.offset(outer, inner);
            return at < 0 ? bits : *reinterpret_cast<const uint4*>(data_ + at);
        }
        T elements[chunk<T>];
        Inner one = inner;
        // Not unrolled: it would take registers from the sums.
#pragma unroll 1
        for (int i = 0; i < chunk<T>; ++i) {
            const long long at = one.is_there ? operand_.offset(outer, one) : -1;
            elements[i] = at < 0 ? T(0.0f) : data_[at];
            operand_.next(one);
        }
        memcpy(&bits, elements, sizeof bits);
        return bits;
    }

    __device__ static uint4 as_factors(uint4 bits) {
        if constexpr (std::is_same_v<T, float>)
            return make_uint4(rounded(bits.x), rounded(bits.y), rounded(bits.z), rounded(bits.w));
        else
            return bits;
    }
    __device__ static unsigned rounded(unsigned bits) {
        return __float_as_uint(wmma::__float_to_tf32(__uint_as_float(bits)));
    }

    const Operand& operand_;
    const T* data_;
    std::conditional_t<depth_is_inner, Outer, Inner> fixed_[depth_is_inner ? own : 1];
    uint4 held_[own];
};

/// The sums of one warp's part of the tile.
template <class Shape, class A, class B>
class WarpSums {
    using T = typename A::Element;
    using Type = typename Factor<T>::type;
    static constexpr int depth = Factor<T>::depth;
    // A tile lies in shared memory as its operand's rows.
    using LayoutA = std::conditional_t<A::depth_is_inner, wmma::row_major, wmma::col_major>;
    using LayoutB = std::conditional_t<B::depth_is_inner, wmma::col_major, wmma::row_major>;
    // How a tile is filled does not matter here.
    using LoaderA = TileLoader<A, true, Shape::m, Shape::threads>;
    using LoaderB = TileLoader<B, true, Shape::n, Shape::threads>;

  public:
    static constexpr int staged_row = Shape::warp_n + 4;
    static constexpr int staged_elements = 16 * staged_row;

    __device__ WarpSums() {
#pragma unroll
        for (auto& row : sums_)
#pragma unroll
            for (auto& sum : row) wmma::fill_fragment(sum, 0.0f);
    }

    /// Adds the product of two tiles. This warp's part begins at `m` and `n` and has `rows` and
    /// `columns`. `all` multiplies what lies beyond, too, which saves registers.
    template <bool all>
    __device__ void add(const T* tile_a, const T* tile_b, int m, int n, int rows, int columns) {
        // Apart, so that whole tiles run without branches.
        if (all || (rows > Shape::warp_m - 16 && columns > Shape::warp_n - 16))
            add_fragments<true>(tile_a, tile_b, m, n, rows, columns);
        else
            add_fragments<false>(tile_a, tile_b, m, n, rows, columns);
    }

    /// Stages 16 rows for all lanes of the warp to read.
    __device__ void stage(int fragment_row, float* staged) const {
        // A constant index keeps the sums in registers.
#pragma unroll
        for (int i = 0; i < Shape::fragments_m; ++i)
            if (i == fragment_row)
#pragma unroll
                for (int j = 0; j < Shape::fragments_n; ++j)
                    wmma::store_matrix_sync(staged + 16 * j, sums_[i][j], staged_row,
                                            wmma::mem_row_major);
    }

  private:
    template <bool all>
    __device__ void add_fragments(const T* tile_a, const T* tile_b, int m, int n, int rows,
                                  int columns) {
#pragma unroll
        for (int k = 0; k < step_depth<T>; k += depth) {
            wmma::fragment<wmma::matrix_b, 16, 16, depth, Type, LayoutB> b[Shape::fragments_n];
#pragma unroll
            for (int j = 0; j < Shape::fragments_n; ++j)
                if (all || 16 * j < columns)
                    wmma::load_matrix_sync(b[j], tile_b + place<B, LoaderB>(n + 16 * j, k),
                                           LoaderB::row_elements);
#pragma unroll
            for (int i = 0; i < Shape::fragments_m; ++i) {
                if (!all && 16 * i >= rows) continue;
                wmma::fragment<wmma::matrix_a, 16, 16, depth, Type, LayoutA> a;
                wmma::load_matrix_sync(a, tile_a + place<A, LoaderA>(m + 16 * i, k),
                                       LoaderA::row_elements);
#pragma unroll
                for (int j = 0; j < Shape::fragments_n; ++j)
                    if (all || 16 * j < columns) wmma::mma_sync(sums_[i][j], a, b[j], sums_[i][j]);
            }
        }
    }

    template <class Operand, class Loader>
    __device__ static int place(int at, int k) {
        return Operand::depth_is_inner ? at * Loader::row_elements + k
                                       : k * Loader::row_elements + at;
    }

    wmma::fragment<wmma::accumulator, 16, 16, depth, float> sums_[Shape::fragments_m]
                                                                 [Shape::fragments_n];
};

/// The part of an extent that lies within the elements that are left.
template <int extent>
__device__ int extent_within(long long left) {
    return left < extent ? static_cast<int>(left) : extent;
}

/// `output` has `row(group, m)`, and `store(row, split, group, n, sums)` of eight sums from n on.
/// `always_chunks`: both factors have them, which leaves room for two blocks on a multiprocessor.
template <class Shape, bool always_chunks, class A, class B, class Output>
__global__ void __launch_bounds__(Shape::threads, always_chunks ? 2 : 1)
    multiply_tiles(const A a, const B b, const Output output, const TileGrid grid) {
    using T = typename A::Element;
    using LoaderA = TileLoader<A, always_chunks, Shape::m, Shape::threads>;
    using LoaderB = TileLoader<B, always_chunks, Shape::n, Shape::threads>;
    using Sums = WarpSums<Shape, A, B>;
    constexpr int tiles_bytes = (LoaderA::elements + LoaderB::elements) * sizeof(T);
    constexpr int staged_bytes = Shape::threads / 32 * Sums::staged_elements * sizeof(float);
    static_assert(2 * tiles_bytes >= staged_bytes, "sums are staged where the tiles were");
    __shared__ __align__(128) unsigned char memory[2 * tiles_bytes];

    long long index = blockIdx.x;
    const long long first_n = index % grid.tiles_n * Shape::n;
    index /= grid.tiles_n;
    const long long first_m = index % grid.tiles_m * Shape::m;
    index /= grid.tiles_m;
    const int group = static_cast<int>(index % grid.groups);
    const int split = static_cast<int>(index / grid.groups);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int warp_m = warp / Shape::warps_n * Shape::warp_m;
    const int warp_n = warp % Shape::warps_n * Shape::warp_n;
    const bool has_sums = first_m + warp_m < grid.m && first_n + warp_n < grid.n;
    const int rows = extent_within<Shape::warp_m>(grid.m - first_m - warp_m);
    const int columns_there = extent_within<Shape::warp_n>(grid.n - first_n - warp_n);

    const auto tile_a = [&](int step) {
        return reinterpret_cast<T*>(memory + step % 2 * tiles_bytes);
    };
    const auto tile_b = [&](int step) { return tile_a(step) + LoaderA::elements; };
    LoaderA load_a(a, group, first_m);
    LoaderB load_b(b, group, first_n);
    Sums sums;
    const int first = split * grid.steps_of_split;
    const int end = min(first + grid.steps_of_split, grid.steps);
    if (first < end) {
        load_a.fetch(first);
        load_b.fetch(first);
        load_a.put(tile_a(first));
        load_b.put(tile_b(first));
    }
    __syncthreads();
    for (int step = first; step < end; ++step) {
        const bool has_next = step + 1 < end;
        if (has_next) {
            load_a.fetch(step + 1);
            load_b.fetch(step + 1);
        }
        if (has_sums)
            sums.template add<always_chunks>(tile_a(step), tile_b(step), warp_m, warp_n, rows,
                                             columns_there);
        if (has_next) {
            load_a.put(tile_a(step + 1));
            load_b.put(tile_b(step + 1));
        }
        __syncthreads();
    }
    if (!has_sums) return;
    float* const staged = reinterpret_cast<float*>(memory) + warp * Sums::staged_elements;
    // Two lanes a row, each with half of its columns.
    constexpr int columns = Shape::warp_n / 2;
    for (int i = 0; i < Shape::fragments_m && first_m + warp_m + 16 * i < grid.m; ++i) {
        sums.stage(i, staged);
        __syncwarp();
        const auto row = output.row(group, first_m + warp_m + 16 * i + lane / 2);
        const float* from = staged + lane / 2 * Sums::staged_row + lane % 2 * columns;
        for (int j = 0; j < columns; j += 8)
            output.store(row, split, group, first_n + warp_n + lane % 2 * columns + j, from + j);
        __syncwarp();
    }
}

template <class Shape, class A, class B, class Output>
void launch_tiles(const A& a, const B& b, const Output& output, const TileGrid& grid,
                  cudaStream_t stream) {
    const long long blocks = grid.tiles_m * grid.tiles_n * grid.groups * grid.splits;
    if (blocks == 0) return;
    const auto count = static_cast<unsigned>(blocks);
    if constexpr (std::is_same_v<Shape, LargeTile>)
        if (a.has_chunks && b.has_chunks)
            return multiply_tiles<Shape, true>
                <<<count, Shape::threads, 0, stream>>>(a, b, output, grid);
    multiply_tiles<Shape, false><<<count, Shape::threads, 0, stream>>>(a, b, output, grid);
}

}  // namespace gradverify::tensor_core
