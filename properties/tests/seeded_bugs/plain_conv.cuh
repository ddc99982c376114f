// SPDX-License-Identifier: Apache-2.0
// Convolution and its gradients by x and w. A seeded bug replaces members of RightConv.
#pragma once

#include "kernels/conv/geometry.cuh"
#include "kernels/element.cuh"
#include "properties/tests/launches.cuh"

namespace gradverify::plain_conv {

using conv::DeviceAxis;
using conv::DeviceGeometry;
using conv::Forward;
using conv::GradBias;
using conv::GradInput;
using conv::GradWeight;

/// The sum of an element of the result, and where its terms are.
struct RightConv {
    float sum = 0.0f;
    /// A number as it is read.
    template <class T>
    __device__ static T wide(T number) {
        return number;
    }
    __device__ void begin(float bias) { sum = bias; }
    __device__ void add(float a, float b) { sum += a * b; }
    __device__ void store(float& element) const { element = sum; }

    /// The pixel of an axis that an output reads by a tap.
    __device__ static long long pixel(const DeviceAxis& axis, long long out, long long f) {
        return out * axis.stride + f * axis.dilation - axis.padding;
    }
    __device__ static bool inside(const DeviceGeometry& g, long long ih, long long iw) {
        return ih >= 0 && ih < g.h.in && iw >= 0 && iw < g.w.in;
    }
    /// Whether an output's sum has the terms of this channel of its group.
    __device__ static bool is_added(const DeviceGeometry&, long long) { return true; }
    /// The filter of a group's output channel.
    __device__ static long long filter(long long first_k, long long k) { return first_k + k; }
    /// Whether an element of dx is written at all.
    __device__ static bool is_written(const DeviceGeometry&, long long, long long) { return true; }
    /// Where an element of an image or of outputs lies.
    __device__ static long long offset(long long element) { return element; }
};

/// The sum of output `i`.
template <class Policy, class X, class Y>
__device__ Policy output_sum(const X* x, const X* w, const Y* b, const DeviceGeometry& g,
                             long long i) {
    const long long ow = i % g.w.out, oh = i / g.w.out % g.h.out;
    const long long k = i / (g.w.out * g.h.out) % g.k, n = i / (g.w.out * g.h.out * g.k);
    Policy sum;
    sum.begin(Policy::wide(b[k]));
    for (long long c = 0; c < g.group_c; ++c)
        for (long long fh = 0; fh < g.h.filter && Policy::is_added(g, c); ++fh)
            for (long long fw = 0; fw < g.w.filter; ++fw) {
                const long long ih = Policy::pixel(g.h, oh, fh), iw = Policy::pixel(g.w, ow, fw);
                if (!Policy::inside(g, ih, iw)) continue;
                const long long x_c = k / g.group_k * g.group_c + c;
                sum.add(
                    Policy::wide(x[Policy::offset(((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw)]),
                    Policy::wide(w[((k * g.group_c + c) * g.h.filter + fh) * g.w.filter + fw]));
            }
    return sum;
}

template <class Policy, class X, class Y>
__device__ void forward(long long i, const X* x, const X* w, const Y* b, Y* y, DeviceGeometry g) {
    output_sum<Policy>(x, w, b, g, i).store(y[Policy::offset(i)]);
}

template <class Policy>
__device__ void grad_input(long long i, const float* dy, const float* w, float* dx,
                           DeviceGeometry g) {
    const long long iw = i % g.w.in, ih = i / g.w.in % g.h.in;
    const long long c = i / (g.w.in * g.h.in) % g.c, n = i / (g.w.in * g.h.in * g.c);
    if (!Policy::is_written(g, ih, iw)) return;
    const long long first_k = c / g.group_c * g.group_k;
    Policy sum;
    for (long long fh = 0; fh < g.h.filter; ++fh)
        for (long long fw = 0; fw < g.w.filter; ++fw) {
            const long long oh = g.h.output(ih, fh), ow = g.w.output(iw, fw);
            if (oh < 0 || ow < 0) continue;
            for (long long k = 0; k < g.group_k; ++k) {
                const long long y_k = first_k + k, w_k = Policy::filter(first_k, k);
                sum.add(dy[Policy::offset(((n * g.k + y_k) * g.h.out + oh) * g.w.out + ow)],
                        w[((w_k * g.group_c + c % g.group_c) * g.h.filter + fh) * g.w.filter + fw]);
            }
        }
    sum.store(dx[Policy::offset(i)]);
}

template <class Policy, class Dy, class X, class Dw>
__device__ void grad_weight(long long i, const Dy* dy, const X* x, Dw* dw, DeviceGeometry g) {
    const long long fw = i % g.w.filter, fh = i / g.w.filter % g.h.filter;
    const long long c = i / (g.w.filter * g.h.filter) % g.group_c;
    const long long k = i / (g.w.filter * g.h.filter * g.group_c);
    const long long x_c = k / g.group_k * g.group_c + c;
    Policy sum;
    for (long long n = 0; n < g.n; ++n)
        for (long long oh = 0; oh < g.h.out; ++oh)
            for (long long ow = 0; ow < g.w.out; ++ow) {
                const long long ih = Policy::pixel(g.h, oh, fh), iw = Policy::pixel(g.w, ow, fw);
                if (!Policy::inside(g, ih, iw)) continue;
                sum.add(
                    Policy::wide(dy[Policy::offset(((n * g.k + k) * g.h.out + oh) * g.w.out + ow)]),
                    Policy::wide(x[Policy::offset(((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw)]));
            }
    sum.store(dw[i]);
}

/// Launchers: the types are those of the tensors.
template <class Policy, class X = float, class Y = X>
void launch_forward(const Forward& call) {
    if (call.y.elements() == 0) return;
    launch_each<forward<Policy, X, Y>>(call.launch, call.y.elements(), call.x, call.w, call.b,
                                       call.y, conv::device_geometry(call.problem, call.y));
}

template <class Policy>
void launch_grad_input(const GradInput& call) {
    if (call.dx.elements() == 0) return;
    launch_each<grad_input<Policy>>(call.launch, call.dx.elements(), call.dy, call.w, call.dx,
                                    conv::device_geometry(call.problem, call.dy));
}

template <class Policy, class Dy = float, class X = Dy, class Dw = X>
void launch_grad_weight(const GradWeight& call) {
    launch_each<grad_weight<Policy, Dy, X, Dw>>(call.launch, call.dw.elements(), call.dy, call.x,
                                                call.dw,
                                                conv::device_geometry(call.problem, call.dy));
}

}  // namespace gradverify::plain_conv
