// SPDX-License-Identifier: Apache-2.0
// Registers the kernel of crossentropy_forward.cu.
#include "kernels.hpp"

void crossentropy_forward(int kernel, float* losses, const float* probs, const int* targets, int b,
                          int t, int v, int block_size);

using Forward = Pass<"crossentropy", "forward">;

static void forward(const Forward& call) {
    crossentropy_forward(1, data(call, "losses"), data(call, "probs"),
                         data<const int>(call, "targets"), 1, size(call, "rows"), size(call, "v"),
                         call.launch.block_size);
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward).with(as_llm_c);
