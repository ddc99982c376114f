// SPDX-License-Identifier: Apache-2.0
// causal_conv1d_fwd and causal_conv1d_bwd, called as causal-conv1d's Python calls them.
#include "harness/pass.hpp"
#include "harness/torch.hpp"

#include "causal_conv1d.cpp"

using at::Tensor;
using Maybe = c10::optional<Tensor>;
using Forward = gradverify::Pass<"causal_conv1d_fn", "forward">;
using Backward = gradverify::Pass<"causal_conv1d_fn", "backward">;

static void forward(const Forward& call) {
    const auto t = [&](const char* name) { return call.tensor(name).tensor(); };
    Tensor y = t("y");
    Maybe none;
    causal_conv1d_fwd(t("x"), t("w"), t("bias"), none, none, y, none, call.size("silu") == 1);
}
static void backward(const Backward& call) {
    const auto t = [&](const char* name) { return call.tensor(name).tensor(); };
    Tensor dy = t("dy"), dx = t("dx");
    const Tensor w = t("w"), bias = t("bias");
    Maybe none;
    // The gradients of the weights are added to, in float.
    Tensor dw = at::zeros_like(w, w.options().dtype(at::kFloat));
    Maybe dbias = at::zeros_like(bias, bias.options().dtype(at::kFloat));
    causal_conv1d_bwd(t("x"), w, bias, dy, none, none, none, dx, dw, dbias, none,
                      call.size("silu") == 1);
    t("dw").copy_(dw);
    t("dbias").copy_(*dbias);
}
GRADVERIFY_KERNEL(Forward, "dao", forward);
// Sums of the weights' gradients are by atomics.
GRADVERIFY_KERNEL(Backward, "dao", backward).not_deterministic();
GRADVERIFY_KERNEL(Forward, "dao_bf16", forward).storage(gradverify::DType::bf16);
GRADVERIFY_KERNEL(Backward, "dao_bf16", backward)
    .storage(gradverify::DType::bf16)
    .not_deterministic();
