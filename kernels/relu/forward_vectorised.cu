// SPDX-License-Identifier: Apache-2.0
// relu.forward/vectorised: four elements a thread where both tensors are aligned alike, whatever
// that is; single ones before the first aligned address and at the end.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/float4_span.cuh"
#include "reference/relu.hpp"

namespace {

// So that a NaN stays one.
__device__ float rectified(float x) { return x <= 0.0f ? 0.0f : x; }

// No __restrict__: y may be x.
__global__ void relu(const float* x, float* y, Float4Span span, long long items) {
    const long long item = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (item >= items) return;
    const long long i = span.element(item);
    if (!span.is_vector(item)) {
        y[i] = rectified(x[i]);
        return;
    }
    const float4 four = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(y + i) =
        make_float4(rectified(four.x), rectified(four.y), rectified(four.z), rectified(four.w));
}

void launch(const gradverify::relu::Forward& call) {
    if (call.n == 0) return;
    const auto* x = call.x.as<const float>();
    auto* const y = call.y.as<float>();
    const Float4Span span = float4_span({x, y}, call.n);
    const int threads = call.launch.block_size;
    relu<<<static_cast<unsigned>((span.items() + threads - 1) / threads), threads, 0,
           call.launch.stream>>>(x, y, span, span.items());
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relu::Forward, "vectorised", launch)
    .in_place("y", "x")
    .blocks_of({256, 64, 1024})
    .aligned_to(sizeof(float))
    .with_empty_problems();
