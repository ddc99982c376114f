// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of conv's gradients, each a mistake that shipped somewhere. Linked into the tests
// only; seeded_bugs_test.cpp says which property must kill each, and at which problem.
#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "kernels/conv/geometry.cuh"

namespace {

using gradverify::conv::DeviceAxis;
using gradverify::conv::DeviceGeometry;

enum class InputBug { remainder_unwritten, group_weight_offset };

// The pixels of an axis that some output reads: what a kernel tiled by the output writes.
__device__ long long reached(const DeviceAxis& axis) {
    const long long end =
        (axis.out - 1) * axis.stride + (axis.filter - 1) * axis.dilation + 1 - axis.padding;
    return end < axis.in ? end : axis.in;
}

__device__ long long output_of(const DeviceAxis& axis, long long in, long long f) {
    const long long shifted = in + axis.padding - f * axis.dilation;
    if (shifted < 0 || shifted % axis.stride != 0) return -1;
    return shifted / axis.stride < axis.out ? shifted / axis.stride : -1;
}

// A03 never writes the rows and columns behind the last one that an output reads; A04 reads every
// group's filters from the first group's.
__global__ void running_sum_of_channel(const float* dy, float* db, DeviceGeometry g) {
    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long n = 0; n < g.n; ++n)
        for (long long i = 0; i < pixels; ++i) sum += dy[(n * g.k + blockIdx.x) * pixels + i];
    db[blockIdx.x] = sum;
}

template <InputBug bug>
__global__ void gather(const float* dy, const float* w, float* dx, DeviceGeometry g) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= g.n * g.c * g.h.in * g.w.in) return;
    const long long iw = i % g.w.in, ih = i / g.w.in % g.h.in;
    const long long c = i / (g.w.in * g.h.in) % g.c, n = i / (g.w.in * g.h.in * g.c);
    if (bug == InputBug::remainder_unwritten && g.h.out > 0 && g.w.out > 0 &&
        (ih >= reached(g.h) || iw >= reached(g.w)))
        return;
    const long long first_k = c / g.group_c * g.group_k;
    float sum = 0.0f;
    for (long long fh = 0; fh < g.h.filter; ++fh)
        for (long long fw = 0; fw < g.w.filter; ++fw) {
            const long long oh = output_of(g.h, ih, fh), ow = output_of(g.w, iw, fw);
            if (oh < 0 || ow < 0) continue;
            for (long long k = 0; k < g.group_k; ++k) {
                const long long w_k = bug == InputBug::group_weight_offset ? k : first_k + k;
                sum += dy[((n * g.k + first_k + k) * g.h.out + oh) * g.w.out + ow] *
                       w[((w_k * g.group_c + c % g.group_c) * g.h.filter + fh) * g.w.filter + fw];
            }
        }
    dx[i] = sum;
}

enum class WeightBug { bottom_edge, accumulates };

// A05 lacks the test at the bottom edge; A06 adds to dw.
template <WeightBug bug>
__global__ void correlate(const float* dy, const float* x, float* dw, DeviceGeometry g) {
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
                if (ih < 0 || iw < 0 || iw >= g.w.in) continue;
                if (bug != WeightBug::bottom_edge && ih >= g.h.in) continue;
                sum += dy[((n * g.k + k) * g.h.out + oh) * g.w.out + ow] *
                       x[((n * g.c + x_c) * g.h.in + ih) * g.w.in + iw];
            }
    if (bug == WeightBug::accumulates)
        dw[i] += sum;
    else
        dw[i] = sum;
}

// A07 walks dy once with a running sum, and flushes it into the channel that comes next.
__global__ void running_sum(const float* dy, float* db, DeviceGeometry g) {
    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long k = 0; k < g.k; ++k) {
        if (k > 0) {
            db[k] = sum;
            sum = 0.0f;
        }
        for (long long n = 0; n < g.n; ++n)
            for (long long i = 0; i < pixels; ++i) sum += dy[(n * g.k + k) * pixels + i];
    }
    db[g.k - 1] = sum;
}

// Loads one element ahead of the sum, behind the last one too. What lies there is multiplied by
// zero and goes through a maximum, which drops a NaN: no value shows it.
__global__ void sum_read_ahead(const float* dy, float* db, DeviceGeometry g) {
    const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long pixels = g.h.out * g.w.out;
    if (k >= g.k) return;
    float sum = 0.0f;
    for (long long n = 0; n < g.n && pixels > 0; ++n) {
        const float* row = dy + (n * g.k + k) * pixels;
        float next = row[0];
        for (long long i = 1; i <= pixels; ++i) {
            sum += next;
            next = row[i];
        }
        sum += fmaxf(0.0f * next, 0.0f);
    }
    db[k] = sum;
}

// A16 adds up a block's sums without the barrier before the last warp: right on most machines.
__global__ void last_warp(const float* dy, float* db, DeviceGeometry g) {
    __shared__ float partial[64];
    const unsigned i = threadIdx.x;
    const long long k = blockIdx.x, pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long at = i; at < g.n * pixels; at += blockDim.x)
        sum += dy[(at / pixels * g.k + k) * pixels + at % pixels];
    partial[i] = sum;
    if (i >= 32) return;
    sum += partial[i + 32];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (i == 0) db[k] = sum;
}

template <InputBug bug>
void launch_grad_input(const gradverify::conv::GradInput& call) {
    if (call.dx.elements() == 0) return;
    const auto blocks = static_cast<unsigned>((call.dx.elements() + 127) / 128);
    gather<bug><<<blocks, 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.w.as<const float>(), call.dx.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

template <WeightBug bug>
void launch_grad_weight(const gradverify::conv::GradWeight& call) {
    const auto blocks = static_cast<unsigned>((call.dw.elements() + 127) / 128);
    correlate<bug><<<blocks, 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dw.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

// Keeps the number of pixels of its first call.
void launch_cached_geometry(const gradverify::conv::GradBias& call) {
    static const DeviceGeometry first = gradverify::conv::device_geometry(call.problem, call.dy);
    DeviceGeometry g = gradverify::conv::device_geometry(call.problem, call.dy);
    g.h.out = first.h.out;
    g.w.out = first.w.out;
    running_sum_of_channel<<<static_cast<unsigned>(g.k), 1, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(), g);
}

void launch_running_sum(const gradverify::conv::GradBias& call) {
    running_sum<<<1, 1, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

void launch_sum_read_ahead(const gradverify::conv::GradBias& call) {
    const auto blocks = static_cast<unsigned>((call.db.elements() + 127) / 128);
    sum_read_ahead<<<blocks, 128, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

void launch_last_warp(const gradverify::conv::GradBias& call) {
    last_warp<<<static_cast<unsigned>(call.db.elements()), 64, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.db.as<float>(),
        gradverify::conv::device_geometry(call.problem, call.dy));
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradInput, "bug_a03_remainder_unwritten",
                  launch_grad_input<InputBug::remainder_unwritten>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "bug_a04_group_weight_offset",
                  launch_grad_input<InputBug::group_weight_offset>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_a05_bottom_edge",
                  launch_grad_weight<WeightBug::bottom_edge>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_a06_accumulates",
                  launch_grad_weight<WeightBug::accumulates>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "bug_a16_last_warp", launch_last_warp)
    .aligned_to(sizeof(float))
    .costs({.threads_per_output = 64, .barriers_per_thread = 1});
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "bug_a07_next_channel", launch_running_sum)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "bug_cached_geometry", launch_cached_geometry)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradBias, "bug_read_ahead", launch_sum_read_ahead)
    .aligned_to(sizeof(float))
    .with_empty_problems();
