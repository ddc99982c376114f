// SPDX-License-Identifier: Apache-2.0
// grouped_gemm/naive: a thread for each element of a result, which finds its row's group by
// bisection. grouped_gemm/tiled: the groups' products in tiles of shared memory, 4 x 4 elements of
// the result for each thread; a block finds its group by counting tiles, as the host does not know
// the offsets. In float, or bfloat16 with sums in float.
#include <cuda_runtime.h>

#include <algorithm>

#include "harness/kernel.hpp"
#include "harness/pass.hpp"
#include "kernels/element.cuh"
#include "kernels/grids.cuh"

namespace {

using gradverify::Pass, gradverify::TensorView;

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

    __device__ float at(long long i, long long j) const {
        return static_cast<float>(data[i * row_stride + j * column_stride]);
    }
};

/// The product of a row of `a` and a column of `b`.
template <class T>
__device__ float product(const Matrix<T>& a, const Matrix<T>& b, long long row, long long column,
                         long long depth) {
    float sum = 0.0f;
    for (long long l = 0; l < depth; ++l) sum += a.at(row, l) * b.at(l, column);
    return sum;
}

/// The last group that begins at the row or before, so that empty groups are passed over.
__device__ long long group_of(long long row, const int* offsets, long long groups) {
    long long first = 0, behind = groups;
    while (behind - first > 1) {
        const long long middle = (first + behind) / 2;
        (offsets[middle] <= row ? first : behind) = middle;
    }
    return first;
}

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

template <class T>
__global__ void multiply_rows(RowProduct<T> p) {
    const long long i = thread_in_grid();
    if (i >= p.total * p.columns) return;
    const long long row = i / p.columns, group = group_of(row, p.offsets, p.groups);
    p.result[i] = static_cast<T>(
        product(Matrix<T>{p.rows, p.depth, 1}, p.weight_of(group), row, i % p.columns, p.depth));
}

template <class T, class Call>
void naive_rows(const Call& call) {
    const RowProduct<T> p = product_of<T>(call);
    if (p.total == 0) return;
    multiply_rows<<<blocks_of(p.total * p.columns, 128), 128, 0, call.launch.stream>>>(p);
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

template <class T>
__global__ void multiply_groups(WeightProduct<T> p) {
    const long long i = thread_in_grid();
    if (i >= p.groups * p.k * p.n) return;
    const long long group = i / (p.k * p.n);
    p.dw[i] = static_cast<T>(
        product(p.transposed_x(group), p.dy_of(group), i / p.n % p.k, i % p.n, p.rows_of(group)));
}

template <class T>
void naive_weights(const GradW& call) {
    multiply_groups<<<blocks_of(call.dw.elements(), 128), 128, 0, call.launch.stream>>>(
        WeightProduct<T>(call));
}

constexpr int threads_along = 16;  ///< of a block, in both axes
constexpr int each = 4;            ///< results of a thread, in both axes
constexpr int tile = threads_along * each;
constexpr int depth_of_tile = 16;  ///< terms of the sum that lie in shared memory at once

/// A tile of a result of `rows, columns`, whose first element is (row, column).
struct Tile {
    long long row, column, rows, columns;
};

/// Loads `height` x `width` of a matrix from (row, column) on, zero outside of `rows, columns`.
/// Neighbouring threads read neighbours in memory, whichever axis that is.
template <int height, int width, class T>
__device__ void load(float (&to)[height][width + 1], const Matrix<T>& from, const Tile& at) {
    for (int i = threadIdx.y * threads_along + threadIdx.x; i < height * width;
         i += threads_along * threads_along) {
        const bool is_row_major = from.column_stride == 1;
        const int y = is_row_major ? i / width : i % height;
        const int x = is_row_major ? i % width : i / height;
        const bool is_inside = at.row + y < at.rows && at.column + x < at.columns;
        to[y][x] = is_inside ? from.at(at.row + y, at.column + x) : 0.0f;
    }
}

/// Writes a tile of a b, where a has `depth` columns.
template <class T>
__device__ void multiply_tile(const Matrix<T>& a, const Matrix<T>& b, T* result, const Tile& at,
                              long long depth) {
    __shared__ float tile_a[tile][depth_of_tile + 1];
    __shared__ float tile_b[depth_of_tile][tile + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    float sum[each][each] = {};
    for (long long first = 0; first < depth; first += depth_of_tile) {
        load<tile, depth_of_tile>(tile_a, a, {at.row, first, at.rows, depth});
        load<depth_of_tile, tile>(tile_b, b, {first, at.column, depth, at.columns});
        __syncthreads();
        for (int l = 0; l < depth_of_tile; ++l)
            for (int i = 0; i < each; ++i)
                for (int j = 0; j < each; ++j)
                    sum[i][j] +=
                        tile_a[y + i * threads_along][l] * tile_b[l][x + j * threads_along];
        __syncthreads();  // before the next tiles are loaded over these
    }
    for (int i = 0; i < each; ++i)
        for (int j = 0; j < each; ++j) {
            const long long row = at.row + y + i * threads_along;
            const long long column = at.column + x + j * threads_along;
            if (row < at.rows && column < at.columns)
                result[row * at.columns + column] = static_cast<T>(sum[i][j]);
        }
}

template <class T>
__global__ void tiled_row_products(RowProduct<T> p) {
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
    multiply_tile(of_group, p.weight_of(group), p.result + begin * p.columns,
                  {down * tile, blockIdx.x % across * tile, rows, p.columns}, p.depth);
}

/// Each group may have a tile that is not full.
template <class T, class Call>
void tiled_rows(const Call& call) {
    const RowProduct<T> p = product_of<T>(call);
    if (p.total == 0) return;
    const long long down = p.total / tile + std::min(p.groups, p.total);
    tiled_row_products<<<static_cast<unsigned>(down * divided_up(p.columns, tile)),
                         dim3(threads_along, threads_along), 0, call.launch.stream>>>(p);
}

template <class T>
__global__ void tiled_weight_products(WeightProduct<T> p) {
    const long long across = divided_up(p.n, tile), down = divided_up(p.k, tile);
    const long long group = blockIdx.x / (across * down);
    multiply_tile(p.transposed_x(group), p.dy_of(group), p.dw + group * p.k * p.n,
                  {blockIdx.x / across % down * tile, blockIdx.x % across * tile, p.k, p.n},
                  p.rows_of(group));
}

template <class T>
void tiled_weights(const GradW& call) {
    const long long blocks = call.groups * divided_up(call.k, tile) * divided_up(call.n, tile);
    tiled_weight_products<<<static_cast<unsigned>(blocks), dim3(threads_along, threads_along), 0,
                            call.launch.stream>>>(WeightProduct<T>(call));
}

/// A block's threads for each step of its sum.
std::int64_t threads_of_steps(const gradverify::Problem& problem) {
    const std::int64_t k = problem.scalar("k"), n = problem.scalar("n");
    return (problem.scalar("total") + problem.scalar("groups") + k + n) * threads_along;
}

template <class T>
void declare_tiled(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.costs({.barriers_per_thread = 2, .threads = threads_of_steps});
}

}  // namespace

#define REGISTER(TYPE, SUFFIX)                                                                   \
    GRADVERIFY_KERNEL(Forward, "naive" SUFFIX, naive_rows<TYPE, Forward>)                        \
        .with(declare_elements_on_stream<TYPE>);                                                 \
    GRADVERIFY_KERNEL(GradX, "naive" SUFFIX, naive_rows<TYPE, GradX>)                            \
        .with(declare_elements_on_stream<TYPE>);                                                 \
    GRADVERIFY_KERNEL(GradW, "naive" SUFFIX, naive_weights<TYPE>)                                \
        .with(declare_elements_on_stream<TYPE>);                                                 \
    GRADVERIFY_KERNEL(Forward, "tiled" SUFFIX, tiled_rows<TYPE, Forward>)                        \
        .with(declare_tiled<TYPE>);                                                              \
    GRADVERIFY_KERNEL(GradX, "tiled" SUFFIX, tiled_rows<TYPE, GradX>).with(declare_tiled<TYPE>); \
    GRADVERIFY_KERNEL(GradW, "tiled" SUFFIX, tiled_weights<TYPE>).with(declare_tiled<TYPE>)
REGISTER(float, "");
REGISTER(__nv_bfloat16, "_bf16");
