// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of gelu_backward.cu.
#include "kernels.hpp"

void gelu_backward(int kernel, Bf16* dinp, const Bf16* inp, const Bf16* dout, int b, int t, int c,
                   int block_size);

using Backward = Pass<"gelu_tanh", "grad_x">;

template <int kernel>
static void backward(const Backward& call) {
    gelu_backward(kernel, data<Bf16>(call, "dx"), data<Bf16>(call, "x"), data<Bf16>(call, "dy"), 1,
                  1, size(call, "n"), call.launch.block_size);
}
GRADVERIFY_KERNEL(Backward, "kernel1", backward<1>).with(in_bf16);
GRADVERIFY_KERNEL(Backward, "kernel2", backward<2>).with(in_bf16).where("n", multiple_of(8));
