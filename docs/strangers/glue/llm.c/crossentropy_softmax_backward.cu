// SPDX-License-Identifier: Apache-2.0
// Registers the kernel of crossentropy_softmax_backward.cu.
#include "kernels.hpp"

void crossentropy_softmax_backward(int kernel, float* dlogits, const float* dlosses,
                                   const float* probs, const int* targets, int b, int t, int v,
                                   int block_size);

using Backward = Pass<"crossentropy_softmax", "backward">;

static void backward(const Backward& call) {
    crossentropy_softmax_backward(1, data(call, "dlogits"), data(call, "dlosses"),
                                  data(call, "probs"), data<const int>(call, "targets"), 1,
                                  size(call, "rows"), size(call, "v"), call.launch.block_size);
}
GRADVERIFY_KERNEL(Backward, "kernel1", backward).with(as_llm_c).adds_to_outputs();
