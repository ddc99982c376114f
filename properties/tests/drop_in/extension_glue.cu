// SPDX-License-Identifier: Apache-2.0
// The glue to extension.cu, which is used as it is.
#include "harness/torch.hpp"
#include "reference/conv.hpp"

using gradverify::DType;
using gradverify::conv::GradBias;
template <bool waits>
at::Tensor bias_gradient(const at::Tensor& dy);

template <bool waits>
static void launch(const GradBias& call) {
    call.db.tensor().copy_(bias_gradient<waits>(call.dy.tensor()));
}
GRADVERIFY_KERNEL(GradBias, "extension", launch<true>);
GRADVERIFY_KERNEL(GradBias, "extension_f64", launch<true>).storage(DType::f64);
GRADVERIFY_KERNEL(GradBias, "extension_bf16", launch<true>).storage(DType::bf16);
GRADVERIFY_KERNEL(GradBias, "extension_that_races", launch<false>);

// On a stream of its own, which nothing orders with the call.
static void launch_beside(const GradBias& call) {
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
    call.db.tensor().copy_(bias_gradient<true>(call.dy.tensor()));
}
GRADVERIFY_KERNEL(GradBias, "extension_on_another_stream", launch_beside);
