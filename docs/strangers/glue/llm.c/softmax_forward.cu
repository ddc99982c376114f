// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of softmax_forward.cu.
#include "kernels.hpp"

void softmax_forward(int kernel, float* out, const float* inp, int n, int c, int block_size);

using Forward = Pass<"softmax", "forward">;

template <int kernel>
static void forward(const Forward& call) {
    softmax_forward(kernel, data(call, "y"), data(call, "x"), size(call, "rows"), size(call, "c"),
                    call.launch.block_size);
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>).with(as_llm_c);
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>).with(as_llm_c);
GRADVERIFY_KERNEL(Forward, "kernel3", forward<3>).with(as_llm_c);
GRADVERIFY_KERNEL(Forward, "kernel4", forward<4>).with(as_llm_c);
GRADVERIFY_KERNEL(Forward, "kernel5", forward<5>).with(as_llm_c);
GRADVERIFY_KERNEL(Forward, "kernel6", forward<6>).with(as_llm_c);
GRADVERIFY_KERNEL(Forward, "kernel7", forward<7>).with(as_llm_c);
GRADVERIFY_KERNEL(Forward, "kernel8", forward<8>).with(as_llm_c);
GRADVERIFY_KERNEL(Forward, "kernel6_wide", forward<6>)
    .with(as_llm_c)
    .where("c", gradverify::between(32, 5000));
GRADVERIFY_KERNEL(Forward, "kernel7_wide", forward<7>)
    .with(as_llm_c)
    .where("c", gradverify::between(1024, 5000));
GRADVERIFY_KERNEL(Forward, "kernel8_wide", forward<8>)
    .with(as_llm_c)
    .where("c", gradverify::between(1024, 5000));
