// SPDX-License-Identifier: Apache-2.0
// conv.grad_weight/tree_reduction: a block of 256 threads for each filter element. Threads take
// strided shares of batch x output, then a tree in shared memory adds them up. Any filter, stride
// and padding; dilation 1, one group.
#include <cstdint>

#include <cuda_runtime.h>

#include "harness/kernel.hpp"
#include "reference/conv.hpp"

namespace {

constexpr int threads = 256;

struct Geometry {
    int batch, channels_in, channels_out;
    int in_h, in_w, filter_h, filter_w, out_h, out_w;
    int stride_h, stride_w, padding_h, padding_w;
};

// dy: batch, channels_out, out; x: batch, channels_in, in; dw: channels_out, channels_in, filter.
__global__ void reduce_filter_element(const float* dy, const float* x, float* dw, Geometry g) {
    __shared__ float partial[threads];
    const int element = blockIdx.x;
    const int fw = element % g.filter_w;
    const int fh = element / g.filter_w % g.filter_h;
    const int c = element / (g.filter_w * g.filter_h) % g.channels_in;
    const int k = element / (g.filter_w * g.filter_h * g.channels_in);

    const int pixels = g.out_h * g.out_w;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < g.batch * pixels; i += threads) {
        const int n = i / pixels;
        const int oh = i % pixels / g.out_w;
        const int ow = i % pixels % g.out_w;
        const int ih = oh * g.stride_h + fh - g.padding_h;
        const int iw = ow * g.stride_w + fw - g.padding_w;
        if (ih < 0 || ih >= g.in_h || iw < 0 || iw >= g.in_w) continue;
        sum += dy[(n * g.channels_out + k) * pixels + oh * g.out_w + ow] *
               x[((n * g.channels_in + c) * g.in_h + ih) * g.in_w + iw];
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
    const auto& p = call.problem;
    const auto as_int = [](long long value) { return static_cast<int>(value); };
    const Geometry g{.batch = as_int(p.n),
                     .channels_in = as_int(p.c),
                     .channels_out = as_int(p.k),
                     .in_h = as_int(p.h().in),
                     .in_w = as_int(p.w().in),
                     .filter_h = as_int(p.h().filter),
                     .filter_w = as_int(p.w().filter),
                     .out_h = as_int(call.dy.size(2)),
                     .out_w = as_int(call.dy.size(3)),
                     .stride_h = as_int(p.h().stride),
                     .stride_w = as_int(p.w().stride),
                     .padding_h = as_int(p.h().padding_left),
                     .padding_w = as_int(p.w().padding_left)};
    const auto blocks = static_cast<unsigned>(call.dw.elements());
    reduce_filter_element<<<blocks, threads, 0, call.launch.stream>>>(
        call.dy.as<const float>(), call.x.as<const float>(), call.dw.as<float>(), g);
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::conv::GradWeight, "tree_reduction", launch)
    .where("dilation", gradverify::equals(1))
    .where("groups", gradverify::equals(1))
    .aligned_to(sizeof(float))
    .on_given_stream()
    .up_to_elements(INT32_MAX)
    .costs({.threads_per_output = threads, .barriers_per_thread = 9})
    .with_empty_problems();
