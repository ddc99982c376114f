// SPDX-License-Identifier: Apache-2.0
// apex's scaled_masked_softmax, in the types and sizes that its Python takes.
#include "harness/pass.hpp"
#include "harness/torch.hpp"

#include "scaled_masked_softmax.cpp"

namespace apex = multihead_attn::fused_softmax::scaled_masked_softmax;

using Forward = gradverify::Pass<"masked_softmax", "forward">;
using Backward = gradverify::Pass<"masked_softmax", "backward">;

static void forward(const Forward& call) {
    at::Tensor x = call.tensor("x").tensor(), mask = call.tensor("mask").tensor().to(at::kByte);
    call.tensor("y").tensor().copy_(apex::fwd(x, mask, call.attribute("scale")));
}
static void backward(const Backward& call) {
    at::Tensor dy = call.tensor("dy").tensor(), y = call.tensor("y").tensor();
    call.tensor("dx").tensor().copy_(apex::bwd(dy, y, call.attribute("scale")));
}
static void declare(auto& kernel) {
    kernel.where("q", gradverify::multiple_of(8))
        .where("k", gradverify::between(17, 4096))
        .where("k", gradverify::multiple_of(4));
}
GRADVERIFY_KERNEL(Forward, "apex_bf16", forward).storage(gradverify::DType::bf16).with(declare);
GRADVERIFY_KERNEL(Backward, "apex_bf16", backward).storage(gradverify::DType::bf16).with(declare);
GRADVERIFY_KERNEL(Forward, "apex_f16", forward).storage(gradverify::DType::f16).with(declare);
GRADVERIFY_KERNEL(Backward, "apex_f16", backward).storage(gradverify::DType::f16).with(declare);
