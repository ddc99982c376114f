// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of gelu_forward.cu.
#include "kernels.hpp"

void gelu_forward(int kernel, Bf16* out, const Bf16* inp, int b, int t, int c, int block_size);

using Forward = Pass<"gelu_tanh", "forward">;

template <int kernel>
static void forward(const Forward& call) {
    gelu_forward(kernel, data<Bf16>(call, "y"), data<Bf16>(call, "x"), 1, 1, size(call, "n"),
                 call.launch.block_size);
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>).with(in_bf16);
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>).with(in_bf16).where("n", multiple_of(8));
