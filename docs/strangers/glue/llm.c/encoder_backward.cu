// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of encoder_backward.cu.
#include "kernels.hpp"

void encoder_backward(int kernel, float* dwte, float* dwpe, const float* dout, const int* inp,
                      int b, int t, int c, int block_size);

using Backward = Pass<"encoder", "backward">;

template <int kernel>
static void backward(const Backward& call) {
    encoder_backward(kernel, data(call, "dwte"), data(call, "dwpe"), data(call, "dy"),
                     data<const int>(call, "index"), size(call, "b"), size(call, "t"),
                     size(call, "c"), call.launch.block_size);
}
static void declare(KernelDeclaration& kernel) { kernel.with(as_llm_c).adds_to_outputs(); }
GRADVERIFY_KERNEL(Backward, "kernel1", backward<1>).with(declare).not_deterministic();
GRADVERIFY_KERNEL(Backward, "kernel2", backward<2>).with(declare);
