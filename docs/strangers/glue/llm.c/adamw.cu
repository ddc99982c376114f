// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of adamw.cu.
#include "kernels.hpp"

void adamw(int kernel, float* params, const float* grads, float* m, float* v, int t, long n,
           float learning_rate, float beta1, float beta2, float eps, float weight_decay);

using Forward = Pass<"adamw", "forward">;

template <int kernel>
static void forward(const Forward& call) {
    adamw(kernel, data(call, "new_params"), data(call, "grads"), data(call, "new_m"),
          data(call, "new_v"), size(call, "step"), call.size("n"), call.attribute("rate"),
          call.attribute("beta1"), call.attribute("beta2"), call.attribute("eps"),
          call.attribute("decay"));
}
static void declare(KernelDeclaration& kernel) {
    kernel.on_default_stream().up_to_elements(1 << 30);
    kernel.updates("new_params", "params").updates("new_m", "m").updates("new_v", "v");
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>).with(declare);
