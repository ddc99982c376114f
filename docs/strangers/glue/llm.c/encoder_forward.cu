// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of encoder_forward.cu.
#include "kernels.hpp"

void encoder_forward(int kernel, Bf16* out, const int* inp, const Bf16* wte, const Bf16* wpe, int b,
                     int t, int c, int block_size);

using Forward = Pass<"encoder", "forward">;

template <int kernel>
static void forward(const Forward& call) {
    encoder_forward(kernel, data<Bf16>(call, "y"), data<const int>(call, "index"),
                    data<Bf16>(call, "wte"), data<Bf16>(call, "wpe"), size(call, "b"),
                    size(call, "t"), size(call, "c"), call.launch.block_size);
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>).with(in_bf16);
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>).with(in_bf16);
GRADVERIFY_KERNEL(Forward, "kernel3", forward<3>).with(in_bf16).where("c", multiple_of(8));
