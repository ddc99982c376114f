// SPDX-License-Identifier: Apache-2.0
// The museum's pieces of layer_norm.
#include <cuda_fp16.h>

#include "properties/tests/museum/pair.cuh"
#include "reference/layer_norm.hpp"

namespace {

using gradverify::declare_piece;
using gradverify::DType;
using gradverify::layer_norm::Backward;
using gradverify::layer_norm::Forward;

__device__ void columns(int j, const float* dy, const float* x, const float* mean,
                        const float* rstd, float* dgamma, float* dbeta, int rows, int width) {
    dgamma[j] = dbeta[j] = 0.0f;
    for (int i = j; i < rows * width; i += width) {
        dgamma[j] += dy[i] * (x[i] - mean[i / width]) * rstd[i / width];
        dbeta[j] += dy[i];
    }
}
void launch_columns(const Backward& call) {
    launch_each<columns>(call.launch, call.width, call.dy, call.x, call.mean, call.rstd,
                         call.dgamma, call.dbeta, call.rows, call.width);
}

constexpr int tile = 8;

// A tile's thread has a row by y and a column by x, and takes gamma by y.
template <bool is_fixed>
__global__ void by_tiles(const float* dy, const float* x, const float* gamma, const float* mean,
                         const float* rstd, float* dx, int rows, int width) {
    const int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x;
    if (row >= rows || column >= width) return;
    const auto xhat = [&](int j) { return (x[row * width + j] - mean[row]) * rstd[row]; };
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int j = 0; j < width; ++j) {
        const float g = dy[row * width + j] * gamma[j];
        sum += g, sum_xhat += g * xhat(j);
    }
    const int of_gamma = is_fixed ? column : blockIdx.x * tile + threadIdx.y;
    const float g = of_gamma < width ? dy[row * width + column] * gamma[of_gamma] : 0.0f;
    dx[row * width + column] = rstd[row] * (g - (sum + xhat(column) * sum_xhat) / width);
}

template <bool is_fixed>
void launch_by_tiles(const Backward& call) {
    const dim3 blocks(blocks_of(call.width, tile), blocks_of(call.rows, tile));
    launch_blocks(call.launch, by_tiles<is_fixed>, blocks, dim3(tile, tile), call.dy, call.x,
                  call.gamma, call.mean, call.rstd, call.dx, call.rows, call.width);
    launch_columns(call);
}

constexpr int warp = 32, rows_of_block = 2;

/// The sum over the warp, or over the whole block, which has a warp for each of its rows.
template <bool of_block>
__device__ float sum_of_row(float* shared, float value) {
    for (int step = warp / 2; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
    if (!of_block) return value;
    if (threadIdx.x == 0) shared[threadIdx.y] = value;
    __syncthreads();
    value = shared[0] + shared[1];
    __syncthreads();
    return value;
}

// The sums of a block's two rows are one.
template <bool is_fixed>
__global__ void two_rows(const float* dy, const float* x, const float* gamma, const float* mean,
                         const float* rstd, float* dx, int rows, int width) {
    __shared__ float shared[rows_of_block];
    const int row = blockIdx.x * rows_of_block + threadIdx.y;
    const int from = row * width;
    const auto g = [&](int j) { return dy[from + j] * gamma[j]; };
    const auto xhat = [&](int j) { return (x[from + j] - mean[row]) * rstd[row]; };
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int j = threadIdx.x; j < width && row < rows; j += warp)
        sum += g(j), sum_xhat += g(j) * xhat(j);
    sum = sum_of_row<!is_fixed>(shared, sum);
    sum_xhat = sum_of_row<!is_fixed>(shared, sum_xhat);
    for (int j = threadIdx.x; j < width && row < rows; j += warp)
        dx[from + j] = rstd[row] * (g(j) - (sum + xhat(j) * sum_xhat) / width);
}

template <bool is_fixed>
void launch_two_rows(const Backward& call) {
    launch_blocks(call.launch, two_rows<is_fixed>, blocks_of(call.rows, rows_of_block),
                  dim3(warp, rows_of_block), call.dy, call.x, call.gamma, call.mean, call.rstd,
                  call.dx, call.rows, call.width);
    launch_columns(call);
}

// The variance and eps are rounded to half before the root: a small eps is lost.
template <bool is_fixed>
__device__ void normalise(int row, const __half* x, const __half* gamma, const __half* beta,
                          __half* y, float* means, float* rstds, int width, float eps) {
    const auto at = [&](int j) { return __half2float(x[row * width + j]); };
    float sum = 0.0f, squares = 0.0f;
    for (int j = 0; j < width; ++j) sum += at(j);
    const float mean = sum / width;
    for (int j = 0; j < width; ++j) squares += (at(j) - mean) * (at(j) - mean);
    const float variance = squares / width + eps;
    const float rstd = rsqrtf(is_fixed ? variance : __half2float(__float2half(variance)));
    for (int j = 0; j < width; ++j)
        y[row * width + j] =
            __float2half((at(j) - mean) * rstd * __half2float(gamma[j]) + __half2float(beta[j]));
    means[row] = mean, rstds[row] = rstd;
}

template <bool is_fixed>
void launch_normalise(const Forward& call) {
    launch_each<normalise<is_fixed>>(call.launch, call.rows, call.x, call.gamma, call.beta, call.y,
                                     call.mean, call.rstd, call.width, call.eps);
}

void declare_halves(gradverify::KernelDeclaration& kernel) {
    kernel.with(declare_piece).storage(DType::f16);
}

}  // namespace

GRADVERIFY_MUSEUM_PAIR(Backward, "gamma_by_row", launch_by_tiles, declare_piece);
GRADVERIFY_MUSEUM_PAIR(Backward, "rows_of_block_summed", launch_two_rows, declare_piece);
GRADVERIFY_MUSEUM_PAIR(Forward, "variance_in_half", launch_normalise, declare_halves);
