// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of classifier_fused.cu, with rows of v logits, and with rows that are
// padded to a multiple of 64, as `main` has them.
#include "kernels.hpp"

void fused_classifier(int kernel, float* dlogits, float* losses, const float* logits,
                      const float* dlosses, const int* targets, int b, int t, int v, int p,
                      int block_size);

using Fused = Pass<"crossentropy_softmax", "fused">;

template <int kernel>
static void fused(const Fused& call) {
    fused_classifier(kernel, data(call, "dlogits"), data(call, "losses"), data(call, "logits"),
                     data(call, "dlosses"), data<const int>(call, "targets"), 1, size(call, "rows"),
                     size(call, "v"), size(call, "v"), call.launch.block_size);
}
static std::int64_t padded(std::int64_t v) { return v + (-v & 63); }
static std::int64_t two_padded(const Problem& problem) {
    return 8 * problem.scalar("rows") * padded(problem.scalar("v"));
}
template <int kernel>
static void fused_padded(const Fused& call) {
    const int rows = size(call, "rows"), v = size(call, "v"), p = static_cast<int>(padded(v));
    float *logits = static_cast<float*>(call.launch.workspace), *dlogits = logits + rows * p;
    const auto copy = [&](float* to, int to_width, const float* from, int from_width) {
        cudaMemcpy2D(to, 4 * to_width, from, 4 * from_width, 4 * v, rows, cudaMemcpyDeviceToDevice);
    };
    copy(logits, p, data(call, "logits"), v);
    fused_classifier(kernel, dlogits, data(call, "losses"), logits, data(call, "dlosses"),
                     data<const int>(call, "targets"), 1, rows, v, p, call.launch.block_size);
    copy(data(call, "dlogits"), v, dlogits, p);
}
static void declare_padded(KernelDeclaration& kernel) {
    kernel.with(as_llm_c).workspace(two_padded);
}

static void declare_fours(KernelDeclaration& kernel) {
    kernel.with(as_llm_c).where("v", multiple_of(4));
}
GRADVERIFY_KERNEL(Fused, "kernel1_any_rows", fused<1>).with(as_llm_c);
GRADVERIFY_KERNEL(Fused, "kernel1", fused<1>).with(as_llm_c).where("rows", multiple_of(32));
GRADVERIFY_KERNEL(Fused, "kernel2", fused<2>).with(declare_fours);
GRADVERIFY_KERNEL(Fused, "kernel3", fused<3>).with(as_llm_c);
GRADVERIFY_KERNEL(Fused, "kernel4", fused<4>).with(declare_fours);
GRADVERIFY_KERNEL(Fused, "kernel5", fused<5>).with(declare_fours);
GRADVERIFY_KERNEL(Fused, "kernel2_padded", fused_padded<2>).with(declare_padded);
GRADVERIFY_KERNEL(Fused, "kernel4_padded", fused_padded<4>).with(declare_padded);
GRADVERIFY_KERNEL(Fused, "kernel5_padded", fused_padded<5>).with(declare_padded);
