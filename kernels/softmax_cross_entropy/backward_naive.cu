// SPDX-License-Identifier: Apache-2.0
// softmax_cross_entropy.backward/naive: a thread for each logit.
#include <cuda_runtime.h>

#include <cmath>

#include "harness/kernel.hpp"
#include "reference/softmax_cross_entropy.hpp"

namespace {

// probs, grad_logits: batch, classes; labels: batch; upstream: a single number.
__global__ void softmax_ce_backward(const float* probs, const int* labels, const float* upstream,
                                    float* grad_logits, long long batch, long long classes) {
    const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= batch * classes) return;
    const int label = labels[index / classes];
    const float one_hot = index % classes == label ? 1.0f : 0.0f;
    const float gradient = (probs[index] - one_hot) * *upstream / static_cast<float>(batch);
    grad_logits[index] = label >= 0 && label < classes ? gradient : NAN;
}

void launch(const gradverify::softmax_cross_entropy::Backward& call) {
    const long long elements = call.dlogits.elements();
    if (elements == 0) return;
    softmax_ce_backward<<<static_cast<unsigned>((elements + 255) / 256), 256, 0,
                          call.launch.stream>>>(
        call.probs.as<const float>(), call.labels.as<const std::int32_t>(),
        call.dloss.as<const float>(), call.dlogits.as<float>(), call.n, call.v);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::softmax_cross_entropy::Backward, "naive", launch)
    .aligned_to(sizeof(float))
    .on_given_stream()
    .with_empty_problems()
    .with_invalid_indices();
