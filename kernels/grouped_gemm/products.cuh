// SPDX-License-Identifier: Apache-2.0
// grouped_gemm's passes as products of matrices in memory, and kernels whose blocks each write a
// tile of a result: a block finds its group by counting tiles, as the host does not know the
// offsets. What multiplies a tile is the kernels' own.
#pragma once

#include <algorithm>

#include "kernels/kernel.cuh"

namespace gradverify::grouped_gemm {

/// What every pass has beside its factors and its result.
template <gradverify::FixedText pass>
struct Grouped : Pass<"grouped_gemm", pass> {
    using Pass<"grouped_gemm", pass>::Pass;
    const int* offsets = this->tensor("offsets").template as<const int>();
    std::int64_t total = this->size("total"), groups = this->size("groups"), k = this->size("k"),
                 n = this->size("n");
};
struct Forward : Grouped<"forward"> {
    using Grouped::Grouped;
    TensorView x = tensor("x"), w = tensor("w"), y = tensor("y");
};
struct GradX : Grouped<"grad_x"> {
    using Grouped::Grouped;
    TensorView dy = tensor("dy"), w = tensor("w"), dx = tensor("dx");
};
struct GradW : Grouped<"grad_w"> {
    using Grouped::Grouped;
    TensorView dy = tensor("dy"), x = tensor("x"), dw = tensor("dw");
};

/// A matrix in memory, or its transpose: element (i, j) is `data[i * row_stride + j *
/// column_stride]`.
template <class T>
struct Matrix {
    const T* data;
    long long row_stride, column_stride;

    __device__ T element(long long i, long long j) const {
        return data[i * row_stride + j * column_stride];
    }
    __device__ float at(long long i, long long j) const {
        return static_cast<float>(element(i, j));
    }
};

/// Rows of a ragged batch, each times the matrix of its group: y = x w, or dx = dy w^T.
template <class T>
struct RowProduct {
    const T* rows;     ///< `total, depth`
    Matrix<T> weight;  ///< the first group's, `depth, columns`
    const int* offsets;
    T* result;  ///< `total, columns`
    long long total, groups, depth, columns;

    __device__ Matrix<T> weight_of(long long group) const {
        return {weight.data + group * depth * columns, weight.row_stride, weight.column_stride};
    }
};
template <class T>
RowProduct<T> product_of(const Forward& call) {
    return {call.x.as<const T>(),
            {call.w.as<const T>(), call.n, 1},
            call.offsets,
            call.y.as<T>(),
            call.total,
            call.groups,
            call.k,
            call.n};
}
template <class T>
RowProduct<T> product_of(const GradX& call) {
    return {call.dy.as<const T>(),
            {call.w.as<const T>(), 1, call.n},
            call.offsets,
            call.dx.as<T>(),
            call.total,
            call.groups,
            call.n,
            call.k};
}

/// dw = x^T dy of each group; zero for a group without rows.
template <class T>
struct WeightProduct {
    const T *x, *dy;
    const int* offsets;
    T* dw;
    long long groups, k, n;

    explicit WeightProduct(const GradW& call)
        : x(call.x.as<const T>()),
          dy(call.dy.as<const T>()),
          offsets(call.offsets),
          dw(call.dw.as<T>()),
          groups(call.groups),
          k(call.k),
          n(call.n) {}
    __device__ long long rows_of(long long group) const {
        return offsets[group + 1] - offsets[group];
    }
    __device__ Matrix<T> transposed_x(long long group) const {
        return {x + offsets[group] * k, 1, k};
    }
    __device__ Matrix<T> dy_of(long long group) const { return {dy + offsets[group] * n, n, 1}; }
};

/// A tile of a result of `rows, columns`, whose first element is (row, column).
struct Tile {
    long long row, column, rows, columns;
};

/// `Multiply` has the `tile` of a block, the `threads` along its axes, and
/// `write(a, b, result, at, depth)`, which writes a tile of a b, where a has `depth` columns.
template <class Multiply, class T>
__global__ void tiled_row_products(RowProduct<T> p) {
    constexpr int tile = Multiply::tile;
    const long long across = divided_up(p.columns, tile);
    long long group = 0, down = blockIdx.x / across, rows = 0;
    for (; group < p.groups; ++group) {
        rows = p.offsets[group + 1] - p.offsets[group];
        if (down < divided_up(rows, tile)) break;
        down -= divided_up(rows, tile);
    }
    if (group == p.groups) return;
    const long long begin = p.offsets[group];
    const Matrix<T> of_group{p.rows + begin * p.depth, p.depth, 1};
    Multiply::write(of_group, p.weight_of(group), p.result + begin * p.columns,
                    {down * tile, blockIdx.x % across * tile, rows, p.columns}, p.depth);
}

/// Each group may have a tile that is not full.
template <class Multiply, class T, class Call>
void tiled_rows(const Call& call) {
    const RowProduct<T> p = product_of<T>(call);
    if (p.total == 0) return;
    constexpr int tile = Multiply::tile;
    const long long down = p.total / tile + std::min(p.groups, p.total);
    tiled_row_products<Multiply><<<static_cast<unsigned>(down * divided_up(p.columns, tile)),
                                   Multiply::threads(), 0, call.launch.stream>>>(p);
}

template <class Multiply, class T>
__global__ void tiled_weight_products(WeightProduct<T> p) {
    constexpr int tile = Multiply::tile;
    const long long across = divided_up(p.n, tile), down = divided_up(p.k, tile);
    const long long group = blockIdx.x / (across * down);
    Multiply::write(p.transposed_x(group), p.dy_of(group), p.dw + group * p.k * p.n,
                    {blockIdx.x / across % down * tile, blockIdx.x % across * tile, p.k, p.n},
                    p.rows_of(group));
}

template <class Multiply, class T>
void tiled_weights(const GradW& call) {
    constexpr int tile = Multiply::tile;
    const long long blocks = call.groups * divided_up(call.k, tile) * divided_up(call.n, tile);
    tiled_weight_products<Multiply>
        <<<static_cast<unsigned>(blocks), Multiply::threads(), 0, call.launch.stream>>>(
            WeightProduct<T>(call));
}

/// A block's threads for each step of its sum.
inline std::int64_t threads_of_steps(const Problem& problem) {
    const std::int64_t k = problem.scalar("k"), n = problem.scalar("n");
    return (problem.scalar("total") + problem.scalar("groups") + k + n) * 16;
}

}  // namespace gradverify::grouped_gemm
