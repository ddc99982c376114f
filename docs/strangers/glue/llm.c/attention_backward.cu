// SPDX-License-Identifier: Apache-2.0
// Registers the kernels of attention_backward.cu that differ from one another: those of the
// softmax.
#include "kernels.hpp"

#define LAUNCHER(KERNEL)                                                                      \
    void launch_softmax_##KERNEL(float* dpreatt, float* datt, const float* att, int b, int t, \
                                 int c, int nh, int block_size);
LAUNCHER(1)
LAUNCHER(2)
LAUNCHER(3)
LAUNCHER(4)
LAUNCHER(5)
LAUNCHER(6)
LAUNCHER(7)
LAUNCHER(8)

using Backward = Pass<"causal_softmax", "backward">;

/// As in `main`, the gradient is zero at first; what the mask hides is not written.
template <void (*softmax)(float*, float*, const float*, int, int, int, int, int)>
static void backward(const Backward& call) {
    const auto dx = call.tensor("dx");
    const int heads = size(call, "heads");
    cudaMemset(dx.as<float>(), 0, 4 * dx.elements());
    softmax(dx.as<float>(), data(call, "dy"), data(call, "y"), 1, size(call, "time"),
            heads * size(call, "width"), heads, call.launch.block_size);
}
static bool is_whole(const Problem& problem) { return problem.scalar("heads") <= 65535; }
static void declare(KernelDeclaration& kernel) {
    kernel.with(as_llm_c).only_if("a grid's second axis holds all heads", is_whole);
}
#define REGISTER(NAME, KERNEL, TIMES)                                    \
    GRADVERIFY_KERNEL(Backward, NAME, backward<launch_softmax_##KERNEL>) \
        .with(declare)                                                   \
        .where("time", multiple_of(TIMES));
REGISTER("kernel1", 1, 1)
REGISTER("kernel2", 2, 1)
REGISTER("kernel3", 3, 1)
REGISTER("kernel4", 4, 8)
REGISTER("kernel4_any_time", 4, 1)
REGISTER("kernel5", 5, 1)
REGISTER("kernel6_any_time", 6, 1)
REGISTER("kernel7", 7, 1)
REGISTER("kernel8", 8, 4)
GRADVERIFY_KERNEL(Backward, "kernel6", backward<launch_softmax_6>)
    .with(declare)
    .where("time", multiple_of(32))
    .blocks_of({32});
