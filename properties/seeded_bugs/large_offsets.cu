// SPDX-License-Identifier: Apache-2.0
// A18: a flat offset in an int, and counts in one, which overflow where a tensor has more than 2^31
// elements; and the same in 16 bits, so that a machine without a GPU sees them too. Linked into
// the tests of large problems only.
#include <cuda_runtime.h>

#include <cstdint>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"
#include "reference/relu.hpp"

namespace {

using gradverify::conv::DeviceGeometry;

unsigned blocks_of(std::int64_t threads) { return static_cast<unsigned>((threads + 127) / 128); }

// To a narrower type, where offsets wrap around.
template <class Offset>
__device__ long long narrowed(long long offset) {
    return static_cast<Offset>(offset);
}

template <class Offset>
__global__ void rectify(const float* x, float* y, long long n) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const long long at = narrowed<Offset>(i);
    y[at] = x[at] <= 0.0f ? 0.0f : x[at];
}

template <class Offset>
void launch_relu(const gradverify::relu::Forward& call) {
    rectify<Offset><<<blocks_of(call.n), 128, 0, call.launch.stream>>>(call.x.as<const float>(),
                                                                       call.y.as<float>(), call.n);
}

// There seems to be nothing to do.
template <class Count>
void launch_relu_of_narrow_count(const gradverify::relu::Forward& call) {
    const auto count = static_cast<Count>(call.n);
    if (count <= 0) return;
    rectify<long long><<<blocks_of(count), 128, 0, call.launch.stream>>>(call.x.as<const float>(),
                                                                         call.y.as<float>(), count);
}

// Of an axis the output that a pixel reaches by a tap; -1 for none.
__device__ long long output_of(const gradverify::conv::DeviceAxis& axis, long long in,
                               long long f) {
    const long long shifted = in + axis.padding - f * axis.dilation;
    if (shifted < 0 || shifted % axis.stride != 0) return -1;
    return shifted / axis.stride < axis.out ? shifted / axis.stride : -1;
}

template <class Offset>
__global__ void correlate(const float* x, const float* w, const float* b, float* y,
                          DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.n * g.k * g.h.out * g.w.out) return;
    const long long ow = i % g.w.out, oh = i / g.w.out % g.h.out;
    const long long k = i / (g.w.out * g.h.out) % g.k, n = i / (g.w.out * g.h.out * g.k);
    float sum = b[k];
    for (long long c = 0; c < g.group_c; ++c)
        for (long long fh = 0; fh < g.h.filter; ++fh)
            for (long long fw = 0; fw < g.w.filter; ++fw) {
                const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
                const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
                if (ih < 0 || iw < 0 || ih >= g.h.in || iw >= g.w.in) continue;
                const long long x_c = k / g.group_k * g.group_c + c;
                sum += x[narrowed<Offset>(((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw)] *
                       w[((k * g.group_c + c) * g.h.filter + fh) * g.w.filter + fw];
            }
    y[i] = sum;
}

template <class Offset>
__global__ void gather(const float* dy, const float* w, float* dx, DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.n * g.c * g.h.in * g.w.in) return;
    const long long iw = i % g.w.in, ih = i / g.w.in % g.h.in;
    const long long c = i / (g.w.in * g.h.in) % g.c, n = i / (g.w.in * g.h.in * g.c);
    const long long first_k = c / g.group_c * g.group_k;
    float sum = 0.0f;
    for (long long fh = 0; fh < g.h.filter; ++fh)
        for (long long fw = 0; fw < g.w.filter; ++fw) {
            const long long oh = output_of(g.h, ih, fh), ow = output_of(g.w, iw, fw);
            if (oh < 0 || ow < 0) continue;
            for (long long k = first_k; k < first_k + g.group_k; ++k)
                sum += dy[((n * g.k + k) * g.h.out + oh) * g.w.out + ow] *
                       w[((k * g.group_c + c % g.group_c) * g.h.filter + fh) * g.w.filter + fw];
        }
    dx[narrowed<Offset>(i)] = sum;
}

template <class Offset>
__global__ void sum_products(const float* dy, const float* x, float* dw, DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.k * g.group_c * g.h.filter * g.w.filter) return;
    const long long fw = i % g.w.filter, fh = i / g.w.filter % g.h.filter;
    const long long c = i / (g.w.filter * g.h.filter) % g.group_c;
    const long long k = i / (g.w.filter * g.h.filter * g.group_c);
    const long long x_c = k / g.group_k * g.group_c + c;
    float sum = 0.0f;
    for (long long n = 0; n < g.n; ++n)
        for (long long oh = 0; oh < g.h.out; ++oh)
            for (long long ow = 0; ow < g.w.out; ++ow) {
                const long long ih = oh * g.h.stride + fh * g.h.dilation - g.h.padding;
                const long long iw = ow * g.w.stride + fw * g.w.dilation - g.w.padding;
                if (ih < 0 || iw < 0 || ih >= g.h.in || iw >= g.w.in) continue;
                sum += dy[narrowed<Offset>(((n * g.k + k) * g.h.out + oh) * g.w.out + ow)] *
                       x[narrowed<Offset>(((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw)];
            }
    dw[i] = sum;
}

template <class Offset>
void launch_forward(const gradverify::conv::Forward& call) {
    correlate<Offset><<<blocks_of(call.y.elements()), 128, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.w.as<const float>(), call.b.as<const float>(),
        call.y.as<float>(), gradverify::conv::device_geometry(call.problem, call.y));
}
template <class Offset>
void launch_grad_input(const gradverify::conv::GradInput& call) {
    gather<Offset><<<blocks_of(call.dx.elements()), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.w.as<const float>(), call.dx.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}
template <class Offset>
void launch_grad_weight(const gradverify::conv::GradWeight& call) {
    sum_products<Offset><<<blocks_of(call.dw.elements()), 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dw.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relu::Forward, "bug_a18_offset_32", launch_relu<std::int32_t>);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "bug_a18_offset_16", launch_relu<std::int16_t>);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "bug_a18_unsigned_offset_32",
                  launch_relu<std::uint32_t>);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "bug_a18_unsigned_offset_16",
                  launch_relu<std::uint16_t>);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "bug_a18_count_32",
                  launch_relu_of_narrow_count<std::int32_t>);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "bug_a18_count_16",
                  launch_relu_of_narrow_count<std::int16_t>);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "right_up_to_32_bits", launch_relu<std::int32_t>)
    .up_to_elements(INT32_MAX);
GRADVERIFY_KERNEL(gradverify::relu::Forward, "right_up_to_16_bits", launch_relu<std::int16_t>)
    .up_to_elements(INT16_MAX);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_a18_offset_32", launch_forward<std::int32_t>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_a18_offset_16", launch_forward<std::int16_t>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "bug_a18_offset_32",
                  launch_grad_input<std::int32_t>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "bug_a18_offset_16",
                  launch_grad_input<std::int16_t>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_a18_offset_32",
                  launch_grad_weight<std::int32_t>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_a18_offset_16",
                  launch_grad_weight<std::int16_t>);
GRADVERIFY_KERNEL(gradverify::conv::Forward, "right_offset_64", launch_forward<long long>);
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "right_offset_64", launch_grad_input<long long>);
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "right_offset_64", launch_grad_weight<long long>);
