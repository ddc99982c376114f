// SPDX-License-Identifier: Apache-2.0
// Registers matmul_backward.cu's kernel, two products of cuBLAS and a reduction.
#include "kernels.hpp"

void setup_main();
void matmul_backward(int kernel, float* dinp, float* dweight, float* dbias, float* dout, float* inp,
                     float* weight, float* ones, int b, int t, int c, int oc);

using Backward = Pass<"linear", "backward">;

static void backward(const Backward& call) {
    static const bool is_set_up = (setup_main(), true);
    static_cast<void>(is_set_up);
    matmul_backward(1, data(call, "dx"), data(call, "dw"), data(call, "db"), data(call, "dy"),
                    data(call, "x"), data(call, "w"), nullptr, 1, size(call, "n"), size(call, "c"),
                    size(call, "k"));
}
GRADVERIFY_KERNEL(Backward, "kernel1", backward)
    .on_default_stream()
    .up_to_elements(1 << 30)
    .adds_to("dx")
    .adds_to("dw")
    .on_tensor_cores();
