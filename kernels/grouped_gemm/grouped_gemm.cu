// SPDX-License-Identifier: Apache-2.0
// grouped_gemm/naive: a thread for each element of a result, which finds its row's group by
// bisection. grouped_gemm/tiled: the groups' products in tiles of shared memory, 4 x 4 elements of
// the result for each thread. In float, or bfloat16 with sums in float.
#include "kernels/grouped_gemm/products.cuh"

namespace {

using namespace gradverify::grouped_gemm;

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
constexpr int depth_of_tile = 16;  ///< terms of the sum that lie in shared memory at once

/// How a tile is multiplied: a thread has 4 x 4 of its elements, 16 apart.
struct InRegisters {
    static constexpr int tile = threads_along * each;
    static dim3 threads() { return dim3(threads_along, threads_along); }

    template <class T>
    static __device__ void write(const Matrix<T>& a, const Matrix<T>& b, T* result, const Tile& at,
                                 long long depth);
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

template <class T>
__device__ void InRegisters::write(const Matrix<T>& a, const Matrix<T>& b, T* result,
                                   const Tile& at, long long depth) {
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
void declare_tiled(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.costs({.barriers_per_thread = 2, .threads = threads_of_steps});
}

}  // namespace

#define REGISTER(TYPE, SUFFIX)                                                         \
    GRADVERIFY_KERNEL(Forward, "naive" SUFFIX, naive_rows<TYPE, Forward>)              \
        .with(declare_elements_on_stream<TYPE>);                                       \
    GRADVERIFY_KERNEL(GradX, "naive" SUFFIX, naive_rows<TYPE, GradX>)                  \
        .with(declare_elements_on_stream<TYPE>);                                       \
    GRADVERIFY_KERNEL(GradW, "naive" SUFFIX, naive_weights<TYPE>)                      \
        .with(declare_elements_on_stream<TYPE>);                                       \
    GRADVERIFY_KERNEL(Forward, "tiled" SUFFIX, tiled_rows<InRegisters, TYPE, Forward>) \
        .with(declare_tiled<TYPE>);                                                    \
    GRADVERIFY_KERNEL(GradX, "tiled" SUFFIX, tiled_rows<InRegisters, TYPE, GradX>)     \
        .with(declare_tiled<TYPE>);                                                    \
    GRADVERIFY_KERNEL(GradW, "tiled" SUFFIX, tiled_weights<InRegisters, TYPE>)         \
        .with(declare_tiled<TYPE>)
REGISTER(float, "");
REGISTER(__nv_bfloat16, "_bf16");
