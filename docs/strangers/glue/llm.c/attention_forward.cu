// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of attention_forward.cu, except kernel 10 of cuDNN. Kernel 6 is kernel 5.
#include "kernels.hpp"

void setup_main();
void attention_forward(int kernel, float* out, float* stats, float* vaccum, float* qkvr,
                       float* preatt, float* att, float* inp, int b, int t, int c, int nh,
                       int block_size);

using Forward = Pass<"qkv_attention", "forward">;

static std::int64_t workspace(const Problem& p) {
    const std::int64_t rows = p.scalar("b") * p.scalar("t") * p.scalar("h");
    return 4 * (4 * rows * p.scalar("d") + 2 * rows * p.scalar("t") + 256);
}
template <int kernel>
static void forward(const Forward& call) {
    static const bool is_set_up = (setup_main(), true);
    static_cast<void>(is_set_up);
    const int b = size(call, "b"), t = size(call, "t"), h = size(call, "h");
    const int c = h * size(call, "d");
    Buffers<float> buffers(call.launch);
    float *vaccum = buffers.take(b * t * c), *qkvr = buffers.take(3 * b * t * c);
    float *preatt = buffers.take(b * h * t * t), *att = buffers.take(b * h * t * t);
    // As cuBLAS leaves what the mask hides out of nothing, `main` has zeros there from cudaMalloc.
    cudaMemset(att, 0, 4 * b * h * t * t);
    attention_forward(kernel, data(call, "o"), nullptr, vaccum, qkvr, preatt, att,
                      data(call, "qkv"), b, t, c, h, call.launch.block_size);
}
/// It reads the output before it writes it.
static void forward2_into_zeros(const Forward& call) {
    const auto o = call.tensor("o");
    cudaMemset(o.as<float>(), 0, 4 * o.elements());
    forward<2>(call);
}
static void declare(KernelDeclaration& kernel) {
    kernel.with(as_llm_c).blocks_of({128, 32, 64, 256, 512}).workspace(workspace);
}
GRADVERIFY_KERNEL(Forward, "kernel1", forward<1>).with(declare);
GRADVERIFY_KERNEL(Forward, "kernel2", forward<2>)
    .with(declare)
    .where("t", multiple_of(32))
    .where("d", gradverify::between(1, 117));
GRADVERIFY_KERNEL(Forward, "kernel2_into_zeros", forward2_into_zeros)
    .with(declare)
    .where("t", multiple_of(32))
    .where("d", gradverify::between(1, 117));
GRADVERIFY_KERNEL(Forward, "kernel2_any_time", forward<2>)
    .with(declare)
    .where("d", gradverify::between(1, 117));
GRADVERIFY_KERNEL(Forward, "kernel3", forward<3>).with(declare).on_tensor_cores();
GRADVERIFY_KERNEL(Forward, "kernel4", forward<4>)
    .with(declare)
    .where("t", multiple_of(4))
    .on_tensor_cores();
GRADVERIFY_KERNEL(Forward, "kernel5", forward<5>)
    .with(declare)
    .where("t", multiple_of(4))
    .accumulates_in(DType::bf16);
