// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of matmul_backward_bias.cu, in bfloat16.
#include "kernels.hpp"

extern float* dbias_buffer;
void setup_main();
void matmul_backward_bias(int kernel, Bf16* dbias, Bf16* dout, int b, int t, int oc,
                          int block_size);

using Bias = Pass<"linear", "bias">;

template <int kernel>
static void bias(const Bias& call) {
    static const bool is_set_up = (setup_main(), true);
    static_cast<void>(is_set_up);
    dbias_buffer = static_cast<float*>(call.launch.workspace);
    matmul_backward_bias(kernel, data<Bf16>(call, "db"), data<Bf16>(call, "dy"), 1, size(call, "n"),
                         size(call, "k"), call.launch.block_size);
}
static std::int64_t as_main(const Problem& problem) { return 4 * 32 * problem.scalar("k"); }
/// A row for each block that a GPU of 148 multiprocessors takes of the smallest that is declared.
static std::int64_t enough(const Problem& problem) { return 4 * 2368 * problem.scalar("k"); }
static void declare(KernelDeclaration& kernel) {
    kernel.with(in_bf16).workspace(as_main).adds_to_outputs();
    kernel.blocks_of({512, 32, 64, 128, 256, 768, 1024});
}
static void declare_wide(KernelDeclaration& kernel) {
    kernel.with(declare).where("k", multiple_of(8)).not_deterministic();
}
GRADVERIFY_KERNEL(Bias, "kernel1", bias<1>).with(declare);
GRADVERIFY_KERNEL(Bias, "kernel2", bias<2>).with(declare);
GRADVERIFY_KERNEL(Bias, "kernel3", bias<3>).with(declare);
GRADVERIFY_KERNEL(Bias, "kernel4", bias<4>).with(declare).where("k", multiple_of(32));
GRADVERIFY_KERNEL(Bias, "kernel7", bias<7>).with(declare_wide);
GRADVERIFY_KERNEL(Bias, "kernel8", bias<8>)
    .with(declare_wide)
    .blocks_of({512, 128, 256, 768, 1024});
GRADVERIFY_KERNEL(Bias, "kernel8_small_blocks", bias<8>).with(declare_wide).blocks_of({32, 64});
GRADVERIFY_KERNEL(Bias, "kernel9", bias<9>)
    .with(declare_wide)
    .blocks_of({512, 128, 256, 768, 1024})
    .workspace(enough);
GRADVERIFY_KERNEL(Bias, "kernel9_buffer_of_main", bias<9>)
    .with(declare_wide)
    .blocks_of({512, 128, 256, 768, 1024});
