// SPDX-License-Identifier: Apache-2.0
// apex's layer_norm_affine and its gradient, for gradverify's operator layer_norm.
#include "harness/torch.hpp"
#include "reference/layer_norm.hpp"

#include "layer_norm_cuda.cpp"

using namespace gradverify;

static void forward(const layer_norm::Forward& call) {
    const auto made = layer_norm_affine(call.x.tensor(), {call.width}, call.gamma.tensor(),
                                        call.beta.tensor(), call.attribute<double>("eps"));
    call.y.tensor().copy_(made[0]);
    call.mean.tensor().copy_(made[1]);
    call.rstd.tensor().copy_(made[2]);
}
static void backward(const layer_norm::Backward& call) {
    at::Tensor dy = call.dy.tensor(), rstd = call.rstd.tensor(), x = call.x.tensor();
    at::Tensor gamma = call.gamma.tensor(), beta = at::zeros_like(gamma);
    const auto made = layer_norm_gradient_affine(dy, call.mean.tensor(), rstd, x, {call.width},
                                                 gamma, beta, 1e-5, false);
    call.dx.tensor().copy_(made[0]);
    call.dgamma.tensor().copy_(made[1]);
    call.dbeta.tensor().copy_(made[2]);
}
GRADVERIFY_KERNEL(layer_norm::Forward, "apex", forward);
GRADVERIFY_KERNEL(layer_norm::Backward, "apex", backward);
GRADVERIFY_KERNEL(layer_norm::Forward, "apex_bf16", forward).storage(DType::bf16);
GRADVERIFY_KERNEL(layer_norm::Backward, "apex_bf16", backward).storage(DType::bf16);
