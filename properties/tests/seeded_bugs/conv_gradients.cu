// SPDX-License-Identifier: Apache-2.0
// Seeded bugs of conv's gradients, each a mistake that shipped somewhere. Linked into the tests
// only; seeded_bugs_test.cpp says which property must kill each, and at which problem.
#include "properties/tests/seeded_bugs/plain_conv.cuh"

namespace {

using namespace gradverify::plain_conv;

// The pixels of an axis that some output reads: what a kernel tiled by the output writes.
__device__ long long reached(const DeviceAxis& axis) {
    const long long end =
        (axis.out - 1) * axis.stride + (axis.filter - 1) * axis.dilation + 1 - axis.padding;
    return end < axis.in ? end : axis.in;
}

// A03 never writes the rows and columns behind the last one that an output reads.
struct RemainderUnwritten : RightConv {
    __device__ static bool is_written(const DeviceGeometry& g, long long ih, long long iw) {
        return g.h.out == 0 || g.w.out == 0 || (ih < reached(g.h) && iw < reached(g.w));
    }
};

// A04 reads every group's filters from the first group's.
struct FirstGroupsFilters : RightConv {
    __device__ static long long filter(long long, long long k) { return k; }
};

// A05 lacks the test at the bottom edge.
struct BottomEdge : RightConv {
    __device__ static bool inside(const DeviceGeometry& g, long long ih, long long iw) {
        return ih >= 0 && iw >= 0 && iw < g.w.in;
    }
};

// A06 adds to dw.
struct Accumulates : RightConv {
    __device__ static void put(float& element, float sum) { element += sum; }
};

__global__ void running_sum_of_channel(const float* dy, float* db, DeviceGeometry g) {
    const long long pixels = g.h.out * g.w.out;
    float sum = 0.0f;
    for (long long n = 0; n < g.n; ++n)
        for (long long i = 0; i < pixels; ++i) sum += dy[(n * g.k + blockIdx.x) * pixels + i];
    db[blockIdx.x] = sum;
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
    sum_read_ahead<<<blocks_of(call.db.elements()), 128, 0, call.launch.stream>>>(
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
                  launch_grad_input<RemainderUnwritten>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradInput, "bug_a04_group_weight_offset",
                  launch_grad_input<FirstGroupsFilters>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_a05_bottom_edge",
                  launch_grad_weight<BottomEdge>)
    .aligned_to(sizeof(float))
    .with_empty_problems();
GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "bug_a06_accumulates",
                  launch_grad_weight<Accumulates>)
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
