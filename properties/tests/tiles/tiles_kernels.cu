// SPDX-License-Identifier: Apache-2.0
// Kernels that go by tiles of 128 x 128. Those that are wrong forget a tile's offset where the tile
// is in neither the first rows nor the first columns: two sizes beyond 128 show it, no single one.
#include "properties/tests/seeded_bugs/plain_conv.cuh"
#include "reference/embedding.hpp"
#include "reference/fc.hpp"
#include "reference/layer_norm.hpp"
#include "reference/softmax_cross_entropy.hpp"

namespace {

using namespace gradverify;

constexpr int tile = 128;

/// The column that is read for one of a tile.
template <bool forgets>
__device__ int place_of(int column, int row) {
    return forgets && row >= tile && column >= tile ? column % tile : column;
}

// A block yields a tile.
template <bool forgets>
__global__ void multiply(const float* x, const float* w, const float* b, float* y, int n, int c,
                         int k) {
    const int across = (k + tile - 1) / tile;
    const int first_row = blockIdx.x / across * tile, first_column = blockIdx.x % across * tile;
    const int rows = min(tile, n - first_row), columns = min(tile, k - first_column);
    for (int i = threadIdx.x; i < rows * columns; i += blockDim.x) {
        const int row = first_row + i / columns, column = first_column + i % columns;
        float sum = b[column];
        for (int l = 0; l < c; ++l)
            sum += x[row * c + l] * w[place_of<forgets>(column, row) * c + l];
        y[row * k + column] = sum;
    }
}

template <bool forgets>
__device__ void weight_gradient(int i, const float* dy, const float* x, float* dw, int n, int c,
                                int k) {
    float sum = 0.0f;
    for (int row = 0; row < n; ++row)
        sum += dy[row * k + i / c] * x[row * c + place_of<forgets>(i % c, i / c)];
    dw[i] = sum;
}

/// Filters are the rows of a matrix, and the outputs of a channel its columns.
template <bool forgets>
__device__ void convolve(long long i, const float* x, const float* w, const float* b, float* y,
                         conv::DeviceGeometry g) {
    const long long pixels = g.h.out * g.w.out;
    const int k = i / pixels % g.k, column = i / (pixels * g.k) * pixels + i % pixels;
    const long long forgotten = k - place_of<forgets>(k, column);
    const float* filters = w - forgotten * g.group_c * g.h.filter * g.w.filter;
    y[i] = plain_conv::output_sum<plain_conv::RightConv>(x, filters, b, g, i).sum;
}

__device__ void norm_rows(int r, const float* dy, const float* x, const float* gamma,
                          const float* mean, const float* rstd, float* dx, int width) {
    const auto g = [&](int j) { return dy[r * width + j] * gamma[j]; };
    const auto xhat = [&](int j) { return (x[r * width + j] - mean[r]) * rstd[r]; };
    float sum = 0.0f, sum_xhat = 0.0f;
    for (int j = 0; j < width; ++j) sum += g(j), sum_xhat += g(j) * xhat(j);
    for (int j = 0; j < width; ++j)
        dx[r * width + j] = rstd[r] * (g(j) - (sum + xhat(j) * sum_xhat) / width);
}
template <bool forgets>
__device__ void norm_columns(int j, const float* dy, const float* x, const float* mean,
                             const float* rstd, float* dgamma, float* dbeta, int rows, int width) {
    float of_gamma = 0.0f, of_beta = 0.0f;
    for (int r = 0; r < rows; ++r) {
        const int at = r * width + place_of<forgets>(j, r);
        of_gamma += dy[at] * (x[at] - mean[r]) * rstd[r];
        of_beta += dy[at];
    }
    dgamma[j] = of_gamma, dbeta[j] = of_beta;
}

template <bool forgets>
__device__ void loss_gradient(int i, const float* probs, const int* labels, const float* dloss,
                              float* dlogits, int n, int v) {
    const bool is_label = place_of<forgets>(i % v, i / v) == labels[i / v];
    dlogits[i] = (probs[i] - (is_label ? 1.0f : 0.0f)) * *dloss / static_cast<float>(n);
}

template <bool forgets>
__device__ void look_up(int i, const int* index, const float* weight, float* y, int width,
                        int padding) {
    const int row = index[i / width];
    y[i] = row == padding ? 0.0f : weight[row * width + place_of<forgets>(i % width, i / width)];
}

template <bool forgets>
void launch_multiply(const fc::Forward& call) {
    launch_blocks(call.launch, multiply<forgets>, blocks_of(call.n, tile) * blocks_of(call.k, tile),
                  tile, call.x, call.w, call.b, call.y, call.n, call.c, call.k);
}
template <bool forgets>
void launch_weight_gradient(const fc::GradWeight& call) {
    launch_each<weight_gradient<forgets>>(call.launch, call.dw.elements(), call.dy, call.x, call.dw,
                                          call.n, call.c, call.k);
}
template <bool forgets>
void launch_convolve(const conv::Forward& call) {
    if (call.y.elements() == 0) return;
    launch_each<convolve<forgets>>(call.launch, call.y.elements(), call.x, call.w, call.b, call.y,
                                   conv::device_geometry(call.problem, call.y));
}
template <bool forgets>
void launch_norm(const layer_norm::Backward& call) {
    launch_each<norm_rows>(call.launch, call.rows, call.dy, call.x, call.gamma, call.mean,
                           call.rstd, call.dx, call.width);
    launch_each<norm_columns<forgets>>(call.launch, call.width, call.dy, call.x, call.mean,
                                       call.rstd, call.dgamma, call.dbeta, call.rows, call.width);
}
template <bool forgets>
void launch_loss_gradient(const softmax_cross_entropy::Backward& call) {
    launch_each<loss_gradient<forgets>>(call.launch, call.n * call.v, call.probs, call.labels,
                                        call.dloss, call.dlogits, call.n, call.v);
}
template <bool forgets>
void launch_look_up(const embedding::Forward& call) {
    launch_each<look_up<forgets>>(call.launch, call.y.elements(), call.index, call.weight, call.y,
                                  call.width, call.padding);
}

}  // namespace

#define TWINS(CALL, LAUNCH)                            \
    GRADVERIFY_KERNEL(CALL, "tiles", (LAUNCH<false>)); \
    GRADVERIFY_KERNEL(CALL, "bug_inner_tiles", (LAUNCH<true>))
TWINS(fc::Forward, launch_multiply);
TWINS(fc::GradWeight, launch_weight_gradient);
TWINS(conv::Forward, launch_convolve);
TWINS(layer_norm::Backward, launch_norm);
TWINS(softmax_cross_entropy::Backward, launch_loss_gradient);
TWINS(embedding::Forward, launch_look_up);
