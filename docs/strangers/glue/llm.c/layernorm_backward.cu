// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of layernorm_backward.cu, in bfloat16.
#include "kernels.hpp"

void setup_main();
void layernorm_backward(int kernel, Bf16* dinp, Bf16* dweight, Bf16* dbias, float* scratch,
                        const Bf16* dout, const Bf16* inp, const Bf16* weight, const Bf16* mean,
                        const Bf16* rstd, int b, int t, int c, int block_size);

using Backward = Pass<"layer_norm", "backward">;

template <int kernel>
static void backward(const Backward& call) {
    static const bool is_set_up = (setup_main(), true);
    static_cast<void>(is_set_up);
    layernorm_backward(kernel, data<Bf16>(call, "dx"), data<Bf16>(call, "dgamma"),
                       data<Bf16>(call, "dbeta"), static_cast<float*>(call.launch.workspace),
                       data<Bf16>(call, "dy"), data<Bf16>(call, "x"), data<Bf16>(call, "gamma"),
                       data<Bf16>(call, "mean"), data<Bf16>(call, "rstd"), 1, size(call, "rows"),
                       size(call, "width"), call.launch.block_size);
}
/// As many rows as `main` has where a GPU has 148 multiprocessors, with blocks of 128 and more.
static std::int64_t scratch(const Problem& problem) {
    return 4 * 1184 * (2 * problem.scalar("width") + 1);
}
static void declare(KernelDeclaration& kernel) {
    kernel.with(in_bf16).storage("mean", DType::bf16).storage("rstd", DType::bf16);
    kernel.blocks_of({512, 128, 256, 1024}).workspace(scratch).not_deterministic();
    // 48 KiB of shared memory hold no more.
    kernel.where("width", gradverify::between(1, 4096));
}
static void declare_adding(KernelDeclaration& kernel) { kernel.with(declare).adds_to_outputs(); }
static void declare_writing(KernelDeclaration& kernel) { kernel.with(declare).adds_to("dx"); }

GRADVERIFY_KERNEL(Backward, "kernel2_any_rows", backward<2>).with(declare_writing);
GRADVERIFY_KERNEL(Backward, "kernel2", backward<2>)
    .with(declare_writing)
    .where("rows", multiple_of(32));
GRADVERIFY_KERNEL(Backward, "kernel3_any_width", backward<3>).with(declare_adding);
GRADVERIFY_KERNEL(Backward, "kernel3", backward<3>)
    .with(declare_adding)
    .where("width", multiple_of(2));
GRADVERIFY_KERNEL(Backward, "kernel4", backward<4>)
    .with(declare_adding)
    .where("width", multiple_of(2));
GRADVERIFY_KERNEL(Backward, "kernel5", backward<5>).with(declare_adding);
GRADVERIFY_KERNEL(Backward, "kernel6", backward<6>).with(declare_writing);
GRADVERIFY_KERNEL(Backward, "kernel7", backward<7>).with(declare_writing);
GRADVERIFY_KERNEL(Backward, "kernel8", backward<8>)
    .with(declare_adding)
    .where("width", multiple_of(256));
GRADVERIFY_KERNEL(Backward, "kernel9_any_rows", backward<9>)
    .with(declare_adding)
    .where("width", multiple_of(256));
GRADVERIFY_KERNEL(Backward, "kernel9", backward<9>)
    .with(declare_adding)
    .where("width", multiple_of(256))
    .where("rows", multiple_of(32));
GRADVERIFY_KERNEL(Backward, "kernel10_any_rows", backward<10>)
    .with(declare_adding)
    .where("width", multiple_of(8));
GRADVERIFY_KERNEL(Backward, "kernel10", backward<10>)
    .with(declare_adding)
    .where("width", multiple_of(8))
    .where("rows", multiple_of(32));
