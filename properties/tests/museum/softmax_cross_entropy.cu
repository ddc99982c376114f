// SPDX-License-Identifier: Apache-2.0
// The museum's pieces of softmax_cross_entropy.
#include "properties/tests/museum/pair.cuh"
#include "reference/softmax_cross_entropy.hpp"

namespace {

using gradverify::softmax_cross_entropy::Backward;
using gradverify::softmax_cross_entropy::Forward;

// Reads the one upstream gradient as if there were one for each row.
template <bool is_fixed>
__device__ void scale_rows(int i, const float* probs, const int* labels, const float* dloss,
                           float* dlogits, int n, int v) {
    const int row = i / v;
    const float upstream = dloss[is_fixed ? 0 : row];
    dlogits[i] = (probs[i] - (i % v == labels[row] ? 1.0f : 0.0f)) * upstream / n;
}

template <bool is_fixed>
void backward(const Backward& call) {
    launch_each<scale_rows<is_fixed>>(call.launch, call.n * call.v, call.probs, call.labels,
                                      call.dloss, call.dlogits, call.n, call.v);
}

constexpr int threads = 64;

/// The values of all threads, folded by each of them.
template <class Fold>
__device__ float fold_block(float* shared, float value, const Fold& fold) {
    shared[threadIdx.x] = value;
    __syncthreads();
    float folded = shared[0];
    for (int t = 1; t < threads; ++t) folded = fold(folded, shared[t]);
    return folded;
}

// The second fold of a row writes where threads may still read for the first.
template <bool is_fixed>
__global__ void two_folds(const float* logits, const int* labels, float* probs, float* loss, int n,
                          int v) {
    __shared__ float shared[threads];
    float losses = 0.0f;
    for (int i = 0; i < n; ++i) {
        const float* const row = logits + i * v;
        float largest = -INFINITY, sum = 0.0f;
        for (int j = threadIdx.x; j < v; j += threads) largest = fmaxf(largest, row[j]);
        largest = fold_block(shared, largest, [](float a, float b) { return fmaxf(a, b); });
        if (is_fixed) __syncthreads();
        for (int j = threadIdx.x; j < v; j += threads) sum += expf(row[j] - largest);
        sum = fold_block(shared, sum, [](float a, float b) { return a + b; });
        for (int j = threadIdx.x; j < v; j += threads)
            probs[i * v + j] = expf(row[j] - largest) / sum;
        losses += logf(sum) + (largest - row[labels[i]]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *loss = losses / n;
}

template <bool is_fixed>
void forward(const Forward& call) {
    launch_blocks(call.launch, two_folds<is_fixed>, 1, threads, call.logits, call.labels,
                  call.probs, call.loss, call.n, call.v);
}

}  // namespace

GRADVERIFY_MUSEUM_PAIR(Backward, "upstream_by_row", backward, gradverify::declare_piece);
GRADVERIFY_MUSEUM_PAIR(Forward, "folds_share_a_buffer", forward, gradverify::declare_piece);
