// SPDX-License-Identifier: Apache-2.0
// softmax_cross_entropy.forward/naive: a thread for each row. Losses go through the workspace.
// softmax_cross_entropy.backward/naive: a thread for each logit.
#include <cmath>

#include "kernels/kernel.cuh"
#include "kernels/softmax_cross_entropy/mean.cuh"
#include "reference/softmax_cross_entropy.hpp"

namespace {

using namespace gradverify;

// logits, probs: batch, classes; labels, loss_of: batch.
__global__ void softmax_ce_forward(const float* logits, const int* labels, float* probs,
                                   float* loss_of, long long batch, long long classes) {
    const long long b = thread_in_grid();
    if (b >= batch) return;
    const float* row = logits + b * classes;
    float largest = row[0];
    for (long long j = 1; j < classes; ++j) largest = fmaxf(largest, row[j]);
    float sum = 0.0f;
    for (long long j = 0; j < classes; ++j) sum += expf(row[j] - largest);
    for (long long j = 0; j < classes; ++j) probs[b * classes + j] = expf(row[j] - largest) / sum;
    const int label = labels[b];
    loss_of[b] = label >= 0 && label < classes ? logf(sum) - (row[label] - largest) : NAN;
}

void forward(const softmax_cross_entropy::Forward& call) {
    auto* const loss_of = static_cast<float*>(call.launch.workspace);
    if (call.n > 0)
        softmax_ce_forward<<<blocks_of(call.n, 128), 128, 0, call.launch.stream>>>(
            call.logits.as<const float>(), call.labels.as<const std::int32_t>(),
            call.probs.as<float>(), loss_of, call.n, call.v);
    softmax_cross_entropy::launch_mean(loss_of, call.loss.as<float>(), call.n, call.launch.stream);
}

// probs, grad_logits: batch, classes; labels: batch; upstream: a single number.
__global__ void softmax_ce_backward(const float* probs, const int* labels, const float* upstream,
                                    float* grad_logits, long long batch, long long classes) {
    const long long index = thread_in_grid();
    if (index >= batch * classes) return;
    const int label = labels[index / classes];
    const float one_hot = index % classes == label ? 1.0f : 0.0f;
    const float gradient = (probs[index] - one_hot) * *upstream / static_cast<float>(batch);
    grad_logits[index] = label >= 0 && label < classes ? gradient : NAN;
}

void backward(const softmax_cross_entropy::Backward& call) {
    const long long elements = call.dlogits.elements();
    if (elements == 0) return;
    softmax_ce_backward<<<blocks_of(elements, 256), 256, 0, call.launch.stream>>>(
        call.probs.as<const float>(), call.labels.as<const std::int32_t>(),
        call.dloss.as<const float>(), call.dlogits.as<float>(), call.n, call.v);
}

}  // namespace

GRADVERIFY_KERNEL(softmax_cross_entropy::Forward, "naive", forward)
    .with(declare_elements_on_stream<float>)
    .workspace(softmax_cross_entropy::float_for_each_row)
    .with_invalid_indices();
GRADVERIFY_KERNEL(softmax_cross_entropy::Backward, "naive", backward)
    .with(declare_elements_on_stream<float>)
    .with_invalid_indices();
