// SPDX-License-Identifier: Apache-2.0
// maxpool.grad_input/scatter: dx is cleared, then each output adds its cotangent to the pixel that
// it was taken from. Windows that overlap may have one, so they add with atomics.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/pool_geometry.cuh"
#include "reference/maxpool.hpp"

namespace {

__global__ void scatter(const float* dy, const int* index, float* dx, long long outputs,
                        long long outputs_of_plane, long long pixels_of_plane) {
    const long long i = thread_in_grid();
    if (i >= outputs) return;
    atomicAdd(&dx[i / outputs_of_plane * pixels_of_plane + index[i]], dy[i]);
}

void launch(const gradverify::maxpool::GradInput& call) {
    const PoolGeometry g = pool_geometry(call, call.dy);
    auto* const dx = call.dx.as<float>();
    if (g.pixels() > 0)
        cudaMemsetAsync(dx, 0, static_cast<std::size_t>(g.pixels()) * sizeof(float),
                        call.launch.stream);
    if (g.outputs() == 0) return;
    scatter<<<blocks_of(g.outputs(), 128), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.index.as<const std::int32_t>(), dx, g.outputs(),
        g.h.out * g.w.out, g.h.in * g.w.in);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::maxpool::GradInput, "scatter", launch)
    .not_deterministic()
    .aligned_to(sizeof(float))
    .with_empty_problems();
