// SPDX-License-Identifier: Apache-2.0
// conv.grad_input/naive: a thread for each input element gathers from the outputs that it reached.
// All of the operator in two dimensions.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"
#include "kernels/element.cuh"

namespace {

using gradverify::conv::DeviceAxis;
using gradverify::conv::DeviceGeometry;

// The output position along an axis that reads pixel `in` through tap `f`, or -1.
__device__ long long output_of(const DeviceAxis& axis, long long in, long long f) {
    const long long shifted = in + axis.padding - f * axis.dilation;
    if (shifted < 0 || shifted % axis.stride != 0) return -1;
    const long long out = shifted / axis.stride;
    return out < axis.out ? out : -1;
}

__global__ void gather(const float* dy, const float* w, float* dx, DeviceGeometry g) {
    const long long inputs = g.n * g.c * g.h.in * g.w.in;
    for (long long i = thread_in_grid(); i < inputs; i += threads_in_grid()) {
        const long long iw = i % g.w.in;
        const long long ih = i / g.w.in % g.h.in;
        const long long c = i / (g.w.in * g.h.in) % g.c;
        const long long n = i / (g.w.in * g.h.in * g.c);
        const long long first_k = c / g.group_c * g.group_k;
        float sum = 0.0f;
        for (long long fh = 0; fh < g.h.filter; ++fh) {
            const long long oh = output_of(g.h, ih, fh);
            if (oh < 0) continue;
            for (long long fw = 0; fw < g.w.filter; ++fw) {
                const long long ow = output_of(g.w, iw, fw);
                if (ow < 0) continue;
                for (long long k = first_k; k < first_k + g.group_k; ++k)
                    sum += dy[((n * g.k + k) * g.h.out + oh) * g.w.out + ow] *
                           w[((k * g.group_c + c % g.group_c) * g.h.filter + fh) * g.w.filter + fw];
            }
        }
        dx[i] = sum;
    }
}

void launch(const gradverify::conv::GradInput& call) {
    const long long inputs = call.dx.elements();
    if (inputs == 0) return;
    const int threads = call.launch.block_size;
    gather<<<blocks_of_loop(inputs, threads), threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.w.as<const float>(), call.dx.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradInput, "naive", launch).with(declare_loop<float>);
