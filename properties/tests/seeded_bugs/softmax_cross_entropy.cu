// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of softmax_cross_entropy.
#include "properties/tests/launches.cuh"
#include "reference/softmax_cross_entropy.hpp"

namespace {

using gradverify::softmax_cross_entropy::Backward;
using gradverify::softmax_cross_entropy::Forward;

enum class Bug { none, no_largest, largest_from_zero, loss_of_probs };

// One thread does all. Without a bug probabilities come from log_softmax: another right way.
template <Bug bug>
__global__ void forward(const float* logits, const int* labels, float* probs, float* loss, int n,
                        int v) {
    float sum_of_losses = 0.0f;
    for (int i = 0; i < n; ++i) {
        const float* row = logits + i * v;
        // The largest of negative numbers is less than 0.
        float largest = bug == Bug::largest_from_zero ? 0.0f : row[0];
        for (int j = 0; j < v; ++j) largest = fmaxf(largest, row[j]);
        if (bug == Bug::no_largest) largest = 0.0f;
        float sum = 0.0f;
        for (int j = 0; j < v; ++j) sum += expf(row[j] - largest);
        const float log_of_sum = largest + logf(sum);
        for (int j = 0; j < v; ++j)
            probs[i * v + j] =
                bug == Bug::none ? expf(row[j] - log_of_sum) : expf(row[j] - largest) / sum;
        // A probability that is too small for a float is 0 here, and its loss infinite.
        sum_of_losses += bug == Bug::loss_of_probs ? -logf(probs[i * v + labels[i]])
                                                   : log_of_sum - row[labels[i]];
    }
    *loss = sum_of_losses / static_cast<float>(n);
}

enum class GradientBug { none, upstream, mean, first_label };

// A13 leaves the upstream gradient out.
template <GradientBug bug>
__device__ void backward(int i, const float* probs, const int* labels, const float* dloss,
                         float* dlogits, int n, int v) {
    const int label = labels[bug == GradientBug::first_label ? 0 : i / v];
    const float upstream = bug == GradientBug::upstream ? 1.0f : *dloss;
    const float batch = bug == GradientBug::mean ? 1.0f : static_cast<float>(n);
    dlogits[i] = (probs[i] - (i % v == label ? 1.0f : 0.0f)) * upstream / batch;
}

template <Bug bug>
void launch_forward(const Forward& call) {
    launch_blocks(call.launch, forward<bug>, 1, 1, call.logits, call.labels, call.probs, call.loss,
                  call.n, call.v);
}

template <GradientBug bug>
void launch_backward(const Backward& call) {
    launch_each<backward<bug>>(call.launch, call.n * call.v, call.probs, call.labels, call.dloss,
                               call.dlogits, call.n, call.v);
}

}  // namespace

GRADVERIFY_KERNEL(Forward, "right_by_log_of_sum", launch_forward<Bug::none>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(Forward, "bug_no_largest", launch_forward<Bug::no_largest>);
GRADVERIFY_KERNEL(Forward, "bug_largest_from_zero", launch_forward<Bug::largest_from_zero>);
GRADVERIFY_KERNEL(Forward, "bug_loss_of_probs", launch_forward<Bug::loss_of_probs>);
// Neither checks labels, as it promises.
GRADVERIFY_KERNEL(Forward, "bug_label_unchecked", launch_forward<Bug::none>).with_invalid_indices();
GRADVERIFY_KERNEL(Backward, "bug_label_unchecked", launch_backward<GradientBug::none>)
    .with_invalid_indices();
GRADVERIFY_KERNEL(Backward, "bug_a13_no_upstream", launch_backward<GradientBug::upstream>);
GRADVERIFY_KERNEL(Backward, "bug_no_mean", launch_backward<GradientBug::mean>);
GRADVERIFY_KERNEL(Backward, "bug_first_label", launch_backward<GradientBug::first_label>);
