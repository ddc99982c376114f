// SPDX-License-Identifier: Apache-2.0
// A matrix product in tiles of shared memory; implicit_gemm_walk.cuh says what rows, columns and
// terms are. A thread computes 4x4 or 8x8 elements of its block's tile, and loads the next step of
// the sum while it multiplies this one.
#pragma once

#include "kernels/fast/conv/implicit_gemm_walk.cuh"

namespace gradverify::conv {

/// A block's share of the result, and a thread's share of that along each axis.
template <int tile_rows, int tile_columns, int tile_each>
struct GemmTile {
    static constexpr int rows = tile_rows, columns = tile_columns, each = tile_each;
    static constexpr int depth = 8;  ///< terms in a step: 32 bytes of floats, what memory moves
    static constexpr int across = columns / each;
    static constexpr int threads = rows / each * across;
    static constexpr int quads = each / 4;
    static constexpr int loads_a = rows * depth / threads, loads_b = columns * depth / threads;
};

template <class T>
struct alignas(4 * sizeof(T)) Quad {
    T at[4];
};

/// A term's part of offsets and position.
template <class Index>
struct GemmTerm {
    Index a, b, at[3];
};

/// Terms whose parts are worked out at once, by all threads.
constexpr int gemm_terms = 256;

/// Which part of the result a block computes, and of the sum.
struct GemmPlace {
    long long row, column;  ///< the first
    long long group, slice;
    long long term, terms_end;
};

/// Also holds what a step does not need, to leave registers to the sums.
template <class T, class Index, class Tile>
struct GemmShared {
    GemmPlace place;
    GemmAxis<Index> axes[3];
    Index columns_outer;
    GemmTerm<Index> terms[gemm_terms];
    Index d_column[Tile::columns];
    // One quad more than needed, so that neighbouring terms differ in bank.
    Quad<T> a[2][Tile::depth][Tile::rows / 4 + 1];
    Quad<T> b[2][Tile::depth][Tile::columns / 4 + 1];

    __device__ Index columns() const {
        return columns_outer * axes[0].columns * axes[1].columns * axes[2].columns;
    }
};

/// A position on three axes, the last one innermost, and what is left.
template <class Index>
struct GemmIndex {
    Index at[3], outer;

    __device__ GemmIndex(Index flat, Index size0, Index size1, Index size2) {
        at[2] = flat % size2;
        flat /= size2;
        at[1] = flat % size1;
        flat /= size1;
        at[0] = flat % size0;
        outer = flat / size0;
    }
};

/// A column's part of offsets and position.
template <class Index>
struct GemmColumn {
    Index b = 0, d = 0, at[3] = {};
    bool is_inside = false;

    template <class T>
    __device__ GemmColumn(const GemmAxis<Index> (&axes)[3], const GemmTensors<T, Index>& of,
                          Index column, Index columns)
        : is_inside(column < columns) {
        if (!is_inside) return;
        const GemmIndex<Index> index(column, axes[0].columns, axes[1].columns, axes[2].columns);
        b = index.outer * of.b_column;
        d = index.outer * of.d_column;
        for (int i = 0; i < 3; ++i) {
            at[i] = axes[i].column_start + index.at[i] * axes[i].column_step;
            b += at[i] * axes[i].b_stride;
            d += axes[i].d_start + index.at[i] * axes[i].d_step;
        }
    }
};

/// The parts of up to `gemm_terms` terms.
template <class T, class Index, class Tile>
__device__ void fill_terms(GemmShared<T, Index, Tile>& shared, const GemmTensors<T, Index>& of,
                           Index first, Index end) {
    const GemmAxis<Index>(&axes)[3] = shared.axes;
    for (int i = threadIdx.x; i < gemm_terms && first + i < end; i += Tile::threads) {
        const GemmIndex<Index> index(first + i, axes[0].terms, axes[1].terms, axes[2].terms);
        GemmTerm<Index> term{index.outer * of.a_term, index.outer * of.b_term, {}};
        for (int axis = 0; axis < 3; ++axis) {
            term.at[axis] = axes[axis].term_start + index.at[axis] * axes[axis].term_step;
            term.a += axes[axis].a_start + index.at[axis] * axes[axis].a_step;
            term.b += term.at[axis] * axes[axis].b_stride;
        }
        shared.terms[i] = term;
    }
}

/// What a thread loads in each step: `loads_a` rows of one term of a, and `loads_b` terms of one
/// column of b. Neighbouring threads have neighbouring terms of a, and columns of b.
template <class T, class Index, class Tile>
struct GemmLoader {
    static constexpr int row_step = Tile::threads / Tile::depth;
    static constexpr int term_step = Tile::threads / Tile::columns;

    const T *a, *b;  ///< a at the tile's first row
    Index a_row, rows;
    const GemmColumn<Index>& column;
    T from_a[Tile::loads_a], from_b[Tile::loads_b];

    /// `segment` is where the table of terms begins.
    __device__ void load(const GemmShared<T, Index, Tile>& shared, Index segment, Index step,
                         Index end) {
        const int thread = threadIdx.x;
        const int entry = static_cast<int>(step - segment);
        const int term_of_a = thread % Tile::depth;
        const bool has_term = step + term_of_a < end;
        const T* const a_of_term = a + (has_term ? shared.terms[entry + term_of_a].a : 0);
#pragma unroll
        for (int i = 0; i < Tile::loads_a; ++i) {
            const Index row = thread / Tile::depth + i * row_step;
            from_a[i] = has_term && row < rows ? a_of_term[row * a_row] : T(0);
        }
#pragma unroll
        for (int i = 0; i < Tile::loads_b; ++i) {
            const int term = thread / Tile::columns + i * term_step;
            from_b[i] = T(0);
            if (column.is_inside && step + term < end) {
                const GemmTerm<Index>& part = shared.terms[entry + term];
                bool is_inside = true;
                for (int axis = 0; axis < 3; ++axis) {
                    const Index at = column.at[axis] + part.at[axis];
                    is_inside = is_inside && at >= 0 && at < shared.axes[axis].b_size;
                }
                if (is_inside) from_b[i] = b[column.b + part.b];
            }
        }
    }

    __device__ void store(GemmShared<T, Index, Tile>& shared, int buffer) const {
        const int thread = threadIdx.x;
#pragma unroll
        for (int i = 0; i < Tile::loads_a; ++i) {
            const int row = thread / Tile::depth + i * row_step;
            shared.a[buffer][thread % Tile::depth][row / 4].at[row % 4] = from_a[i];
        }
#pragma unroll
        for (int i = 0; i < Tile::loads_b; ++i) {
            const int at = thread % Tile::columns;
            const int term = thread / Tile::columns + i * term_step;
            shared.b[buffer][term][at / 4].at[at % 4] = from_b[i];
        }
    }
};

/// A thread's elements of the result, in quads, so that shared memory is read without conflicts.
template <class T, class Tile>
struct GemmSums {
    T sum[Tile::each][Tile::each] = {};

    static __device__ int row_quad(int quad) {
        return quad * (Tile::rows / 4 / Tile::quads) + threadIdx.x / Tile::across;
    }
    static __device__ int column_quad(int quad) {
        return quad * (Tile::columns / 4 / Tile::quads) + threadIdx.x % Tile::across;
    }
    static __device__ int row(int i) { return row_quad(i / 4) * 4 + i % 4; }
    static __device__ int column(int j) { return column_quad(j / 4) * 4 + j % 4; }

    template <class Index>
    __device__ void add(const GemmShared<T, Index, Tile>& shared, int buffer) {
#pragma unroll
        for (int term = 0; term < Tile::depth; ++term) {
            Quad<T> a[Tile::quads], b[Tile::quads];
#pragma unroll
            for (int quad = 0; quad < Tile::quads; ++quad) {
                a[quad] = shared.a[buffer][term][row_quad(quad)];
                b[quad] = shared.b[buffer][term][column_quad(quad)];
            }
#pragma unroll
            for (int i = 0; i < Tile::each; ++i)
#pragma unroll
                for (int j = 0; j < Tile::each; ++j)
                    sum[i][j] += a[i / 4].at[i % 4] * b[j / 4].at[j % 4];
        }
    }
};

/// What becomes of a block's sums.
enum class GemmResult {
    stored,   ///< they are the result, with the bias
    partial,  ///< they go to a workspace `slices, groups, rows, columns`
    added,    ///< they are added to the result atomically
};

/// Numbers blocks by row tile, then column tile, group and slice. A slice is a phase of the walk,
/// or a share of the terms.
struct GemmGrid {
    long long row_tiles, column_tiles, groups, slices;
    long long terms_of_slice;  ///< 0: each slice has all terms of its walk

    long long blocks() const { return row_tiles * column_tiles * groups * slices; }

    template <class Tile>
    __device__ GemmPlace place(long long block) const {
        GemmPlace place;
        place.row = block % row_tiles * Tile::rows;
        block /= row_tiles;
        place.column = block % column_tiles * Tile::columns;
        block /= column_tiles;
        place.group = block % groups;
        place.slice = block / groups;
        place.term = place.slice * terms_of_slice;
        place.terms_end = place.term + terms_of_slice;
        return place;
    }
};

template <GemmResult result, class T, class Index, class Tile>
__device__ void write_sums(const GemmSums<T, Tile>& sums, const GemmTensors<T, Index>& of,
                           const GemmShared<T, Index, Tile>& shared, T* partials) {
    const GemmPlace& place = shared.place;
    const Index columns = shared.columns();
    const auto first_row = static_cast<Index>(place.row);
    const auto first_column = static_cast<Index>(place.column);
    T* const d = of.d + place.group * of.d_group;
#pragma unroll
    for (int i = 0; i < Tile::each; ++i) {
        const Index row = first_row + sums.row(i);
        if (row >= of.rows) continue;
        const T start = of.bias ? of.bias[place.group * of.rows + row] : T(0);
#pragma unroll
        for (int j = 0; j < Tile::each; ++j) {
            const Index column = first_column + sums.column(j);
            if (column >= columns) continue;
            T* const at = d + row * of.d_row + shared.d_column[sums.column(j)];
            if constexpr (result == GemmResult::stored)
                *at = sums.sum[i][j] + start;
            else if constexpr (result == GemmResult::added)
                atomicAdd(at, sums.sum[i][j]);
            else
                partials[((place.slice * of.groups + place.group) * of.rows + row) * columns +
                         column] = sums.sum[i][j];
        }
    }
}

/// Where the sum of a block begins and ends; all threads call.
template <class T, class Index, class Tile, class Walk>
__device__ void take_place(GemmShared<T, Index, Tile>& shared, const GemmTensors<T, Index>& of,
                           const Walk& walk, const GemmGrid& grid) {
    if (threadIdx.x == 0) {
        shared.place = grid.place<Tile>(blockIdx.x);
        shared.columns_outer = of.columns_outer;
    }
    __syncthreads();
    if (threadIdx.x < 3)
        shared.axes[threadIdx.x] = walk.axis(static_cast<int>(threadIdx.x), shared.place.slice);
    __syncthreads();
}

template <GemmResult result, class T, class Index, class Tile, class Walk>
__global__ void __launch_bounds__(Tile::threads, Tile::threads > 64 ? 2 : 8)
    implicit_gemm(GemmTensors<T, Index> of, Walk walk, GemmGrid grid, T* partials) {
    __shared__ GemmShared<T, Index, Tile> shared;
    take_place(shared, of, walk, grid);
    const GemmPlace& place = shared.place;
    const GemmAxis<Index>(&axes)[3] = shared.axes;
    const Index columns = shared.columns();
    const Index terms = of.terms_outer * axes[0].terms * axes[1].terms * axes[2].terms;
    if (place.column >= columns) return;  // of a phase with fewer pixels than the first
    const bool is_share = grid.terms_of_slice > 0 && place.terms_end < terms;
    const Index end = is_share ? static_cast<Index>(place.terms_end) : terms;
    const auto first_column = static_cast<Index>(place.column);

    const GemmColumn<Index> column(
        axes, of, first_column + static_cast<int>(threadIdx.x) % Tile::columns, columns);
    if (threadIdx.x < Tile::columns) shared.d_column[threadIdx.x] = column.d;
    GemmLoader<T, Index, Tile> loader{.a = of.a + place.group * of.a_group + place.row * of.a_row,
                                      .b = of.b + place.group * of.b_group,
                                      .a_row = of.a_row,
                                      .rows = of.rows - static_cast<Index>(place.row),
                                      .column = column};
    GemmSums<T, Tile> sums;
    // Most threads of a small result only load.
    const bool has_results = sums.row(0) < loader.rows && first_column + sums.column(0) < columns;
    auto segment = static_cast<Index>(place.term);
    fill_terms(shared, of, segment, end);
    __syncthreads();
    loader.load(shared, segment, segment, end);
    loader.store(shared, 0);
    __syncthreads();
    int buffer = 0;
    for (Index step = segment; step < end; step += Tile::depth) {
        const Index next = step + Tile::depth;
        if (next < end) {
            if (next - segment == gemm_terms) {
                segment = next;
                fill_terms(shared, of, segment, end);
                __syncthreads();
            }
            loader.load(shared, segment, next, end);
        }
        if (has_results) sums.add(shared, buffer);
        buffer = 1 - buffer;
        if (next < end) loader.store(shared, buffer);
        __syncthreads();
    }
    write_sums<result>(sums, of, shared, partials);
}

}  // namespace gradverify::conv
