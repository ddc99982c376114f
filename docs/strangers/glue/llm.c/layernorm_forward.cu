// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of layernorm_forward.cu.
#include "kernels.hpp"

void layernorm_forward(int kernel, float* out, float* mean, float* rstd, const float* inp,
                       const float* weight, const float* bias, int b, int t, int c, int block_size);

using Forward = Pass<"layer_norm", "forward">;

template <int kernel>
static void forward(const Forward& call) {
    layernorm_forward(kernel, data(call, "y"), data(call, "mean"), data(call, "rstd"),
                      data(call, "x"), data(call, "gamma"), data(call, "beta"), 1,
                      size(call, "rows"), size(call, "width"), call.launch.block_size);
}
static bool has_its_epsilon(const Problem& problem) { return problem.real("eps") == 1e-5; }
static void declare(KernelDeclaration& kernel) {
    kernel.with(as_llm_c).only_if("eps = 1e-5", has_its_epsilon);
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel2_any_width", forward<2>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>).with(declare).where("width", multiple_of(256));
GRADVERIFY_KERNEL(Forward, "kernel3", forward<3>).with(declare).with(warps_of_rows);
GRADVERIFY_KERNEL(Forward, "kernel4", forward<4>).with(declare).with(warps_of_rows);
GRADVERIFY_KERNEL(Forward, "kernel5", forward<5>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel6", forward<6>).with(declare).where("width", multiple_of(4));
