// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of fused_residual_forward.cu twice: for their sums, and for what they make
// of sums that are not rounded, with zeros as the second input.
#include "kernels.hpp"

void setup_main();
void fused_residual_forward(int kernel, Bf16* residual, Bf16* normed, Bf16* mean, Bf16* rstd,
                            const Bf16* inp1, const Bf16* inp2, const Bf16* weight,
                            const Bf16* bias, int n, int c, int block_size);

using Sums = Pass<"residual", "forward">;
using Norms = Pass<"layer_norm", "forward">;

static std::int64_t workspace(const Problem& problem) {
    const std::int64_t rows = problem.scalar("rows"), width = problem.scalar("width");
    return 2 * (2 * (rows * width + 64) + 2 * (rows + width + 128));
}
static void set_up() {
    static const bool is_done = (setup_main(), true);
    static_cast<void>(is_done);
}

template <int kernel>
static void sums(const Sums& call) {
    set_up();
    const int n = size(call, "rows"), c = size(call, "width");
    Buffers<Bf16> buffers(call.launch);
    Bf16 *normed = buffers.take(std::int64_t{n} * c), *mean = buffers.take(n),
         *rstd = buffers.take(n);
    Bf16 *weight = buffers.take(c), *bias = buffers.take(c);
    cudaMemset(weight, 0, 2 * c);
    cudaMemset(bias, 0, 2 * c);
    fused_residual_forward(kernel, data<Bf16>(call, "y"), normed, mean, rstd, data<Bf16>(call, "a"),
                           data<Bf16>(call, "b"), weight, bias, n, c, call.launch.block_size);
}
template <int kernel>
static void norms(const Norms& call) {
    set_up();
    const int n = size(call, "rows"), c = size(call, "width");
    Buffers<Bf16> buffers(call.launch);
    Bf16 *zeros = buffers.take(std::int64_t{n} * c), *residual = buffers.take(std::int64_t{n} * c);
    cudaMemset(zeros, 0, sizeof(Bf16) * n * c);
    fused_residual_forward(kernel, residual, data<Bf16>(call, "y"), data<Bf16>(call, "mean"),
                           data<Bf16>(call, "rstd"), data<Bf16>(call, "x"), zeros,
                           data<Bf16>(call, "gamma"), data<Bf16>(call, "beta"), n, c,
                           call.launch.block_size);
}
static bool has_its_epsilon(const Problem& problem) { return problem.real("eps") == 1e-5; }
static void declare(KernelDeclaration& kernel) { kernel.with(in_bf16).workspace(workspace); }
static void declare_norms(KernelDeclaration& kernel) {
    kernel.with(declare).storage("mean", DType::bf16).storage("rstd", DType::bf16);
    kernel.only_if("eps = 1e-5", has_its_epsilon);
}
#define REGISTER(KERNEL, NAME, ROWS, WIDTHS)      \
    GRADVERIFY_KERNEL(Sums, NAME, sums<KERNEL>)   \
        .with(declare)                            \
        .blocks_of({32, 128})                     \
        .with(warps_of_rows)                      \
        .where("rows", multiple_of(ROWS))         \
        .where("width", multiple_of(WIDTHS));     \
    GRADVERIFY_KERNEL(Norms, NAME, norms<KERNEL>) \
        .with(declare_norms)                      \
        .blocks_of({32, 128})                     \
        .with(warps_of_rows)                      \
        .where("rows", multiple_of(ROWS))         \
        .where("width", multiple_of(WIDTHS));
REGISTER(1, "fused1", 1, 1)
REGISTER(2, "fused2", 128, 1)
REGISTER(2, "fused2_any_rows", 1, 1)
REGISTER(3, "fused3", 4, 1)
REGISTER(3, "fused3_any_rows", 1, 1)
REGISTER(4, "fused4", 4, 8)
REGISTER(4, "fused4_any_rows", 1, 8)
REGISTER(5, "fused5", 4, 8)
REGISTER(5, "fused5_any_rows", 1, 8)
REGISTER(6, "fused6", 1, 8)
