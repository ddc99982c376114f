// SPDX-License-Identifier: Apache-2.0
// The gradients of the fully connected layers' parameters: products dy^T x in tiles of registers
// and shared memory, of a share of the images each.
#pragma once

#include "kernels/lenet5/fused_network.cuh"

namespace gradverify::lenet5::fused {

constexpr int product_tile = 64, product_depth = 16, product_each = 4;
constexpr int product_threads = product_tile / product_each * (product_tile / product_each);
constexpr int product_copies = product_tile * product_depth / product_threads;
constexpr int product_shared = 2 * 2 * product_depth * product_tile;  ///< floats
constexpr int fc_gradient_splits = 36;  ///< at most, and so the most partial sums

/// dy `n, outputs`, x `n, inputs`; of the result, dw `outputs, inputs`, then db `outputs`, this
/// is how far it begins behind a partial sum's first number.
struct FcGradient {
    const float *dy, *x;
    int outputs, inputs, result_at;

    GRADVERIFY_BOTH int tiles_across() const { return ceil_div(inputs, product_tile); }
    GRADVERIFY_BOTH int tiles() const { return ceil_div(outputs, product_tile) * tiles_across(); }
};

struct FcGradientsCall {
    int n, splits, parameters;
    FcGradient layers[3];
    float* sums;  ///< splits, parameters

    GRADVERIFY_BOTH int tiles() const {
        return layers[0].tiles() + layers[1].tiles() + layers[2].tiles();
    }
};

/// A tile of one layer, summed over a split's images.
__device__ inline void fc_gradient_tile(const FcGradient& layer, int position, int first_image,
                                        int end_image, float* sums, float* shared) {
    constexpr int threads_across = product_tile / product_each;
    const int row0 = position / layer.tiles_across() * product_tile,
              column0 = position % layer.tiles_across() * product_tile;
    const int thread = threadIdx.x, row = thread / threads_across * product_each,
              column = thread % threads_across * product_each;
    float dy_next[product_copies], x_next[product_copies];
    const auto read = [&](int image0) {
#pragma unroll
        for (int i = 0; i < product_copies; ++i) {
            const int at = thread + i * product_threads, across = at % product_tile;
            const int image = image0 + at / product_tile;
            const bool is_image = image < end_image;
            dy_next[i] =
                is_image && row0 + across < layer.outputs
                    ? layer.dy[static_cast<std::size_t>(image) * layer.outputs + row0 + across]
                    : 0.0f;
            x_next[i] =
                is_image && column0 + across < layer.inputs
                    ? layer.x[static_cast<std::size_t>(image) * layer.inputs + column0 + across]
                    : 0.0f;
        }
    };
    float dw[product_each][product_each] = {}, db[product_each] = {};
    read(first_image);
    for (int image = first_image, buffer = 0; image < end_image;
         image += product_depth, buffer ^= 1) {
        float* const dy = shared + buffer * 2 * product_depth * product_tile;
        float* const x = dy + product_depth * product_tile;
#pragma unroll
        for (int i = 0; i < product_copies; ++i) {
            dy[thread + i * product_threads] = dy_next[i];
            x[thread + i * product_threads] = x_next[i];
        }
        // One barrier for each step: the buffer that is written next was read before this one.
        __syncthreads();
        if (image + product_depth < end_image) read(image + product_depth);
#pragma unroll
        for (int i = 0; i < product_depth; ++i) {
            float dys[product_each], xs[product_each];
            read_neighbours(dy + i * product_tile + row, dys);
            read_neighbours(x + i * product_tile + column, xs);
#pragma unroll
            for (int k = 0; k < product_each; ++k) {
                db[k] += dys[k];
#pragma unroll
                for (int j = 0; j < product_each; ++j) dw[k][j] += dys[k] * xs[j];
            }
        }
    }
    float* const result = sums + layer.result_at;
#pragma unroll
    for (int k = 0; k < product_each; ++k) {
        if (row0 + row + k >= layer.outputs) break;
#pragma unroll
        for (int j = 0; j < product_each; ++j)
            if (column0 + column + j < layer.inputs)
                result[(row0 + row + k) * layer.inputs + column0 + column + j] = dw[k][j];
        if (column0 + column == 0) result[layer.outputs * layer.inputs + row0 + row + k] = db[k];
    }
}

/// By block `block` of `call.tiles() * call.splits`.
__device__ inline void fc_gradients(const FcGradientsCall& call, int block, float* shared) {
    const int split = block / call.tiles();
    const auto images_before = [&](int splits) {
        return static_cast<int>(static_cast<long long>(call.n) * splits / call.splits);
    };
    int position = block % call.tiles();
    FcGradient layer = call.layers[0];
#pragma unroll
    for (int next = 1; next < 3; ++next)
        if (position >= layer.tiles()) {
            position -= layer.tiles();
            layer = call.layers[next];
        }
    fc_gradient_tile(layer, position, images_before(split), images_before(split + 1),
                     call.sums + static_cast<std::size_t>(split) * call.parameters, shared);
}

}  // namespace gradverify::lenet5::fused
