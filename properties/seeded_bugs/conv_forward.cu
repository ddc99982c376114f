// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of conv.forward, each a mistake that shipped somewhere. Linked into the tests only;
// seeded_bugs_test.cpp says which property must kill each, and at which problem.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"

namespace {

using gradverify::conv::DeviceAxis;
using gradverify::conv::DeviceGeometry;

// A01 tests each pixel against the other axis's extent.
struct SwappedExtents {
    __device__ static long long pixel(const DeviceAxis& axis, long long out, long long f) {
        return out * axis.stride + f * axis.dilation - axis.padding;
    }
    __device__ static bool inside(const DeviceGeometry& g, long long ih, long long iw) {
        return ih >= 0 && ih < g.w.in && iw >= 0 && iw < g.h.in;
    }
};

// A02 applies the dilation to the output position as well.
struct DilatedPosition {
    __device__ static long long pixel(const DeviceAxis& axis, long long out, long long f) {
        return (out * axis.stride + f) * axis.dilation - axis.padding;
    }
    __device__ static bool inside(const DeviceGeometry& g, long long ih, long long iw) {
        return ih >= 0 && ih < g.h.in && iw >= 0 && iw < g.w.in;
    }
};

template <class Index>
__global__ void convolve(const float* x, const float* w, const float* b, float* y,
                         DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.n * g.k * g.h.out * g.w.out) return;
    const long long ow = i % g.w.out, oh = i / g.w.out % g.h.out;
    const long long k = i / (g.w.out * g.h.out) % g.k, n = i / (g.w.out * g.h.out * g.k);
    float sum = b[k];
    for (long long c = 0; c < g.group_c; ++c)
        for (long long fh = 0; fh < g.h.filter; ++fh)
            for (long long fw = 0; fw < g.w.filter; ++fw) {
                const long long ih = Index::pixel(g.h, oh, fh), iw = Index::pixel(g.w, ow, fw);
                if (!Index::inside(g, ih, iw)) continue;
                const long long x_c = k / g.group_k * g.group_c + c;
                sum += x[((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw] *
                       w[((k * g.group_c + c) * g.h.filter + fh) * g.w.filter + fw];
            }
    y[i] = sum;
}

// The gradient that shares A02's index, so that forward and backward agree on the bug.
template <class Index>
__global__ void correlate(const float* dy, const float* x, float* dw, DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.k * g.group_c * g.h.filter * g.w.filter) return;
    const long long fw = i % g.w.filter, fh = i / g.w.filter % g.h.filter;
    const long long c = i / (g.w.filter * g.h.filter) % g.group_c;
    const long long k = i / (g.w.filter * g.h.filter * g.group_c);
    float sum = 0.0f;
    for (long long n = 0; n < g.n; ++n)
        for (long long oh = 0; oh < g.h.out; ++oh)
            for (long long ow = 0; ow < g.w.out; ++ow) {
                const long long ih = Index::pixel(g.h, oh, fh), iw = Index::pixel(g.w, ow, fw);
                if (!Index::inside(g, ih, iw)) continue;
                const long long x_c = k / g.group_k * g.group_c + c;
                sum += dy[((n * g.k + k) * g.h.out + oh) * g.w.out + ow] *
                       x[((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw];
            }
    dw[i] = sum;
}

template <class Index>
void launch_forward(const gradverify::conv::Forward& call) {
    if (call.y.elements() == 0) return;
    const auto blocks = static_cast<unsigned>((call.y.elements() + 127) / 128);
    convolve<Index><<<blocks, 128, 0, call.launch.stream>>>(
        call.x.as<const float>(), call.w.as<const float>(), call.b.as<const float>(),
        call.y.as<float>(), gradverify::conv::device_geometry(call.problem, call.y));
}

// Writes nothing but zeros for a channel without a bias, so that it is right on most data and wrong
// about every derivative: no witness against a gradient.
__global__ void erase_channels_without_bias(const float* b, float* y, DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.n * g.k * g.h.out * g.w.out) return;
    if (b[i / (g.w.out * g.h.out) % g.k] == 0.0f) y[i] = 0.0f;
}

struct RightPosition {
    __device__ static long long pixel(const DeviceAxis& axis, long long out, long long f) {
        return out * axis.stride + f * axis.dilation - axis.padding;
    }
    __device__ static bool inside(const DeviceGeometry& g, long long ih, long long iw) {
        return ih >= 0 && ih < g.h.in && iw >= 0 && iw < g.w.in;
    }
};

void launch_without_bias(const gradverify::conv::Forward& call) {
    if (call.y.elements() == 0) return;
    launch_forward<RightPosition>(call);
    const auto blocks = static_cast<unsigned>((call.y.elements() + 127) / 128);
    erase_channels_without_bias<<<blocks, 128, 0, call.launch.stream>>>(
        call.b.as<const float>(), call.y.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.y));
}

template <class Index>
void launch_grad_weight(const gradverify::conv::GradWeight& call) {
    const auto blocks = static_cast<unsigned>((call.dw.elements() + 127) / 128);
    correlate<Index><<<blocks, 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dw.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_a01_swapped_extents",
                  launch_forward<SwappedExtents>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_a02_dilated_position",
                  launch_forward<DilatedPosition>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::Forward, "bug_needs_bias", launch_without_bias)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_a02_dilated_position",
                  launch_grad_weight<DilatedPosition>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
