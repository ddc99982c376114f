// SPDX-License-Identifier: Apache-2.0
// grouped_gemm/tiled_mma: the groups' products on tensor cores (mma.sync), in bfloat16 with sums in
// float. A block of four warps has a tile of 64 x 64, each warp a quarter of it.
#include "kernels/fast/attention/warp_matrices.cuh"
#include "kernels/grouped_gemm/products.cuh"

namespace {

using namespace gradverify::grouped_gemm;
namespace warp = gradverify::warp;
using Element = __nv_bfloat16;

constexpr int block_threads = 128;
constexpr int depth_of_tile = 32;  ///< terms of the sum that lie in shared memory at once
constexpr int padding = 8;         ///< elements behind a row, so that rows differ in bank
constexpr int quarter = 32;        ///< rows and columns of a warp's part of a tile

/// Loads `height` x `width` of a matrix from (row, column) on, zero outside of `rows, columns`.
/// Neighbouring threads read neighbours in memory, whichever axis that is.
template <int height, int width>
__device__ void load(Element (&to)[height][width + padding], const Matrix<Element>& from,
                     const Tile& at) {
    for (int i = threadIdx.x; i < height * width; i += block_threads) {
        const bool is_row_major = from.column_stride == 1;
        const int y = is_row_major ? i / width : i % height;
        const int x = is_row_major ? i % width : i / height;
        const bool is_inside = at.row + y < at.rows && at.column + x < at.columns;
        to[y][x] = is_inside ? from.element(at.row + y, at.column + x) : Element(0.0f);
    }
}

struct OnTensorCores {
    static constexpr int tile = 2 * quarter;
    static dim3 threads() { return dim3(block_threads); }

    using Sums = warp::Sums[quarter / 16][quarter / 8];

    static __device__ void write(const Matrix<Element>& a, const Matrix<Element>& b,
                                 Element* result, const Tile& at, long long depth) {
        __shared__ alignas(16) Element tile_a[tile][depth_of_tile + padding];
        __shared__ alignas(16) Element tile_b[depth_of_tile][tile + padding];
        const int warp = threadIdx.x / 32, down = warp / 2 * quarter, across = warp % 2 * quarter;
        Sums sums = {};
        for (long long first = 0; first < depth; first += depth_of_tile) {
            load<tile, depth_of_tile>(tile_a, a, {at.row, first, at.rows, depth});
            load<depth_of_tile, tile>(tile_b, b, {first, at.column, depth, at.columns});
            __syncthreads();
            for (int l = 0; l < depth_of_tile; l += 16) add(tile_a, tile_b, down, across, l, sums);
            __syncthreads();  // before the next tiles are loaded over these
        }
        for (int i = 0; i < quarter / 16; ++i)
            for (int j = 0; j < quarter / 8; ++j)
                store(sums[i][j], result, at, at.row + down + 16 * i, at.column + across + 8 * j);
    }

    /// Adds the products of 16 terms, from `l` on.
    static __device__ void add(const Element (&tile_a)[tile][depth_of_tile + padding],
                               const Element (&tile_b)[depth_of_tile][tile + padding], int down,
                               int across, int l, Sums& sums) {
        const int lane = threadIdx.x % 32, row = lane % 16, half = lane / 16 * 8;
        for (int j = 0; j < quarter; j += 16) {
            const warp::Matrices of_b = warp::load_transposed(&tile_b[l + row][across + j + half]);
            for (int i = 0; i < quarter; i += 16) {
                const warp::Matrices of_a = warp::load(&tile_a[down + i + row][l + half]);
                warp::add_product(sums[i / 16][j / 8], of_a, of_b.pair[0], of_b.pair[1]);
                warp::add_product(sums[i / 16][j / 8 + 1], of_a, of_b.pair[2], of_b.pair[3]);
            }
        }
    }

    /// Writes the part of 16x8 sums that lies in the result.
    static __device__ void store(const warp::Sums& sums, Element* result, const Tile& at,
                                 long long first_row, long long first_column) {
        const int lane = threadIdx.x % 32;
        for (int i = 0; i < 4; ++i) {
            const long long row = first_row + lane / 4 + i / 2 * 8;
            const long long column = first_column + lane % 4 * 2 + i % 2;
            if (row < at.rows && column < at.columns)
                result[row * at.columns + column] = Element(sums.at[i]);
        }
    }
};

void declare(gradverify::KernelDeclaration& kernel) {
    declare_elements_on_stream<Element>(kernel);
    kernel.on_tensor_cores().costs({.barriers_per_thread = 2, .threads = threads_of_steps});
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "tiled_mma", tiled_rows<OnTensorCores, Element, Forward>).with(declare);
GRADVERIFY_KERNEL(GradX, "tiled_mma", tiled_rows<OnTensorCores, Element, GradX>).with(declare);
GRADVERIFY_KERNEL(GradW, "tiled_mma", tiled_weights<OnTensorCores, Element>).with(declare);
