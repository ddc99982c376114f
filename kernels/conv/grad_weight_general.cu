// SPDX-License-Identifier: Apache-2.0
// conv.grad_weight/general: a thread for each weight. All of the operator in two dimensions, of
// float, double, half and bfloat16; sums of the last two are in float.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"
#include "kernels/element.cuh"

namespace {

using gradverify::conv::DeviceGeometry;

template <class T>
__global__ void correlate(const T* dy, const T* x, T* dw, DeviceGeometry g) {
    using Sum = Accumulator<T>;
    const long long weights = g.k * g.group_c * g.h.filter * g.w.filter;
    for (long long i = thread_in_grid(); i < weights; i += threads_in_grid()) {
        const long long fw = i % g.w.filter;
        const long long fh = i / g.w.filter % g.h.filter;
        const long long c = i / (g.w.filter * g.h.filter) % g.group_c;
        const long long k = i / (g.w.filter * g.h.filter * g.group_c);
        const long long first_c = k / g.group_k * g.group_c;
        Sum sum = 0;
        for (long long n = 0; n < g.n; ++n)
            for (long long oh = 0; oh < g.h.out; ++oh) {
                const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
                if (ih < 0 || ih >= g.h.in) continue;
                const T* dy_row = dy + ((n * g.k + k) * g.h.out + oh) * g.w.out;
                const T* x_row = x + ((n * g.c + first_c + c) * g.h.in + ih) * g.w.in;
                for (long long ow = 0; ow < g.w.out; ++ow) {
                    const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
                    if (iw >= 0 && iw < g.w.in)
                        sum += static_cast<Sum>(dy_row[ow]) * static_cast<Sum>(x_row[iw]);
                }
            }
        dw[i] = static_cast<T>(sum);
    }
}

template <class T>
void launch(const gradverify::conv::GradWeight& call) {
    const long long weights = call.dw.elements();
    const int threads = call.launch.block_size;
    correlate<<<blocks_of_loop(weights, threads), threads, 0, call.launch.stream>>>(
        call.dy.as<const T>(), call.x.as<const T>(), call.dw.as<T>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

}  // namespace

GRADVERIFY_KERNEL_OF_EACH_TYPE(gradverify::conv::GradWeight, "general", launch, declare_loop);
