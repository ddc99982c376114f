// SPDX-License-Identifier: Apache-2.0
// conv.forward/naive: a thread for each output element. All of the operator in two dimensions.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"

namespace {

using gradverify::conv::DeviceGeometry;

__global__ void convolve(const float* x, const float* w, const float* b, float* y,
                         DeviceGeometry g) {
    const long long outputs = g.n * g.k * g.h.out * g.w.out;
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < outputs;
         i += step) {
        const long long ow = i % g.w.out;
        const long long oh = i / g.w.out % g.h.out;
        const long long k = i / (g.w.out * g.h.out) % g.k;
        const long long n = i / (g.w.out * g.h.out * g.k);
        const long long first_c = k / g.group_k * g.group_c;
        float sum = b[k];
        for (long long c = 0; c < g.group_c; ++c)
            for (long long fh = 0; fh < g.h.filter; ++fh) {
                const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
                if (ih < 0 || ih >= g.h.in) continue;
                const float* row = x + ((n * g.c + first_c + c) * g.h.in + ih) * g.w.in;
                const float* taps = w + ((k * g.group_c + c) * g.h.filter + fh) * g.w.filter;
                for (long long fw = 0; fw < g.w.filter; ++fw) {
                    const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
                    if (iw >= 0 && iw < g.w.in) sum += row[iw] * taps[fw];
                }
            }
        y[i] = sum;
    }
}

void launch(const gradverify::conv::Forward& call) {
    const long long outputs = call.y.elements();
    if (outputs == 0) return;
    const int threads = call.launch.block_size;
    convolve<<<gradverify::conv::blocks_for(outputs, threads), threads, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.w.as<const float>(), call.b.as<const float>(),
        call.y.as<float>(), gradverify::conv::device_geometry(call.problem, call.y));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "naive", launch)
    .blocks_of({256, 64, 37})
    .aligned_to(sizeof(float))
    .on_given_stream()
    .with_empty_problems();
