// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of residual_forward.cu.
#include "kernels.hpp"

void residual_forward(int kernel, Bf16* out, const Bf16* inp1, const Bf16* inp2, int n,
                      int block_size);

using Forward = Pass<"residual", "forward">;

template <int kernel>
static void forward(const Forward& call) {
    residual_forward(kernel, data<Bf16>(call, "y"), data<Bf16>(call, "a"), data<Bf16>(call, "b"),
                     size(call, "rows") * size(call, "width"), call.launch.block_size);
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>).with(in_bf16);
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>).with(in_bf16).where("width", multiple_of(8));
