// SPDX-License-Identifier: Apache-2.0
// conv.forward/naive: a thread for each output element. All of the operator in two dimensions, of
// float, half and bfloat16, with sums in float.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"
#include "kernels/element.cuh"

namespace {

using gradverify::conv::DeviceGeometry;

template <class T>
__global__ void convolve(const T* x, const T* w, const T* b, T* y, DeviceGeometry g) {
    using Sum = Accumulator<T>;
    const long long outputs = g.n * g.k * g.h.out * g.w.out;
    for (long long i = thread_in_grid(); i < outputs; i += threads_in_grid()) {
        const long long ow = i % g.w.out;
        const long long oh = i / g.w.out % g.h.out;
        const long long k = i / (g.w.out * g.h.out) % g.k;
        const long long n = i / (g.w.out * g.h.out * g.k);
        const long long first_c = k / g.group_k * g.group_c;
        Sum sum = static_cast<Sum>(b[k]);
        for (long long c = 0; c < g.group_c; ++c)
            for (long long fh = 0; fh < g.h.filter; ++fh) {
                const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
                if (ih < 0 || ih >= g.h.in) continue;
                const T* row = x + ((n * g.c + first_c + c) * g.h.in + ih) * g.w.in;
                const T* taps = w + ((k * g.group_c + c) * g.h.filter + fh) * g.w.filter;
                for (long long fw = 0; fw < g.w.filter; ++fw) {
                    const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
                    if (iw >= 0 && iw < g.w.in)
                        sum += static_cast<Sum>(row[iw]) * static_cast<Sum>(taps[fw]);
                }
            }
        y[i] = static_cast<T>(sum);
    }
}

template <class T>
void launch(const gradverify::conv::Forward& call) {
    const long long outputs = call.y.elements();
    if (outputs == 0) return;
    const int threads = call.launch.block_size;
    convolve<<<blocks_of_loop(outputs, threads), threads, 0, call.launch.stream>>>(
        call.x.as<const T>(), call.w.as<const T>(), call.b.as<const T>(), call.y.as<T>(),
        gradverify::conv::device_geometry(call.problem, call.y));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "naive", launch<float>).with(declare_loop<float>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "naive_f16", launch<__half>)
    .storage(gradverify::DType::f16)
    .with(declare_loop<__half>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "naive_bf16", launch<__nv_bfloat16>)
    .with(declare_loop<__nv_bfloat16>);
