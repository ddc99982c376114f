// SPDX-License-Identifier: Apache-2.0
#include "harness/kernel.hpp"
#include "reference/conv.hpp"

template <bool forgets_channel>
__global__ void sum_channel(const float* dy, float* db, int n, int k, int pixels) {
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= k) return;
    float sum = 0.0f;
    for (int i = 0; i < n * pixels; ++i) {
        const int channel = i / pixels * k + (forgets_channel ? 0 : c);
        sum += dy[channel * pixels + i % pixels];
    }
    db[c] = sum;
}
template <bool forgets_channel>
static void launch(const gradverify::conv::GradBias& call) {
    const int n = call.problem.n, k = call.problem.k, pixels = call.dy.size(2) * call.dy.size(3);
    sum_channel<forgets_channel><<<(k + 255) / 256, 256, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), n, k, pixels);
}
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "right", launch<false>);
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "forgets_channel", launch<true>);
