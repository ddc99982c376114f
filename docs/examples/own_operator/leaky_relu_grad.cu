// SPDX-License-Identifier: Apache-2.0
#include "harness/kernel.hpp"
#include "harness/pass.hpp"

struct GradX : gradverify::Pass<"leaky_relu", "grad_x"> {
    using Pass::Pass;
    TensorView dy = tensor("dy"), x = tensor("x"), dx = tensor("dx");
    float slope = attribute("slope");
};

__global__ void leaky_relu_grad(const float* dy, const float* x, float* dx, float slope, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0.0f ? dy[i] : slope * x[i];
}
static void launch(const GradX& call) {
    const int n = static_cast<int>(call.dx.elements());
    leaky_relu_grad<<<(n + 127) / 128, 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dx.as<float>(), call.slope, n);
}
GRADVERIFY_KERNEL(GradX, "first_try", launch);
