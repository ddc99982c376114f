// SPDX-License-Identifier: Apache-2.0
// conv.grad_weight/tree_reduction: a block of 256 threads for each filter element. Threads take
// strided shares of batch x output, then a tree in shared memory adds them up. Any filter, stride
// and padding; dilation 1, one group.
#include <cuda_runtime.h>

#include <cstdint>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"
#include "kernels/element.cuh"

namespace {

using gradverify::conv::DeviceGeometry;

constexpr int threads = 256;

// dy: n, k, out; x: n, c, in; dw: k, c, filter.
__global__ void reduce_filter_element(const float* dy, const float* x, float* dw,
                                      DeviceGeometry g) {
    __shared__ float partial[threads];
    const long long element = blockIdx.x;
    const long long fw = element % g.w.filter;
    const long long fh = element / g.w.filter % g.h.filter;
    const long long c = element / (g.w.filter * g.h.filter) % g.c;
    const long long k = element / (g.w.filter * g.h.filter * g.c);

    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long i = threadIdx.x; i < g.n * pixels; i += threads) {
        const long long n = i / pixels, oh = i % pixels / g.w.out, ow = i % pixels % g.w.out;
        const long long ih = g.h.pixel(oh, fh), iw = g.w.pixel(ow, fw);
        if (ih < 0 || iw < 0) continue;
        sum += dy[(n * g.k + k) * pixels + oh * g.w.out + ow] *
               x[((n * g.c + c) * g.h.in + ih) * g.w.in + iw];
    }
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) dw[element] = partial[0];
}

void launch(const gradverify::conv::GradWeight& call) {
    const auto blocks = static_cast<unsigned>(call.dw.elements());
    reduce_filter_element<<<blocks, threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dw.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "tree_reduction", launch)
    .with(declare_elements_on_stream<float>)
    .where("dilation", gradverify::equals(1))
    .where("groups", gradverify::equals(1))
    .up_to_elements(INT32_MAX)
    .costs({.threads_per_output = threads, .barriers_per_thread = 9});
