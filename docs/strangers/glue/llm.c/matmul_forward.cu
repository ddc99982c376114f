// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of matmul_forward.cu; kernel 2 is cuBLAS's, kernel 3 cuBLASLt's.
#include "kernels.hpp"

void setup_main();
void matmul_forward(int kernel, float* out, const float* inp, const float* weight,
                    const float* bias, int b, int t, int c, int oc, int sqrt_block_size);

using Forward = Pass<"linear", "forward">;

template <int kernel>
static void forward(const Forward& call) {
    static const bool is_set_up = (setup_main(), true);
    static_cast<void>(is_set_up);
    matmul_forward(kernel, data(call, "y"), data(call, "x"), data(call, "w"), data(call, "b"), 1,
                   size(call, "n"), size(call, "c"), size(call, "k"), call.launch.block_size);
}
static void declare(KernelDeclaration& kernel) { kernel.with(as_llm_c).blocks_of({16, 4, 8, 32}); }
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>)
    .with(declare)
    .where("k", gradverify::between(1, 65535 * 4));  // the grid's second axis
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>).with(declare).on_tensor_cores();
GRADVERIFY_KERNEL(Forward, "kernel3", forward<3>).with(declare).on_tensor_cores();
GRADVERIFY_KERNEL(Forward, "kernel4", forward<4>)
    .with(declare)
    .where("n", multiple_of(128))
    .where("k", multiple_of(128))
    .where("c", multiple_of(32));
