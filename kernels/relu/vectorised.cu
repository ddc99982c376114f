// SPDX-License-Identifier: Apache-2.0
// relu.forward/vectorised and relu.grad_input/vectorised: four elements a thread where all tensors
// are aligned alike; single ones elsewhere, before the first aligned address and at the end.
#include <cuda_runtime.h>

#include <cstdint>
#include <initializer_list>

#include "harness/kernel.hpp"
#include "kernels/element.cuh"
#include "kernels/grids.cuh"
#include "reference/relu.hpp"

namespace {

/// Elements of a tensor of floats: `head` single ones, `vectors` of four, and single ones.
struct Float4Span {
    long long head, vectors, elements;

    long long items() const { return head + vectors + (elements - head - 4 * vectors); }
    /// Whether an item is a vector, and the element that it is or begins at.
    __host__ __device__ bool is_vector(long long item) const {
        return item >= head && item < head + vectors;
    }
    __host__ __device__ long long element(long long item) const {
        if (item < head) return item;
        return item < head + vectors ? head + 4 * (item - head) : item + 3 * vectors;
    }
};

/// Vectors from the first aligned address on, if the tensors are aligned alike.
Float4Span float4_span(std::initializer_list<const void*> tensors, long long elements) {
    const auto misaligned = [](const void* tensor) {
        return static_cast<long long>(reinterpret_cast<std::uintptr_t>(tensor) % sizeof(float4) /
                                      sizeof(float));
    };
    for (const void* tensor : tensors)
        if (misaligned(tensor) != misaligned(*tensors.begin())) return {elements, 0, elements};
    const long long head = (4 - misaligned(*tensors.begin())) % 4;
    if (head >= elements) return {elements, 0, elements};
    return {head, (elements - head) / 4, elements};
}

// So that a NaN stays one.
__device__ float rectified(float x) { return x <= 0.0f ? 0.0f : x; }

// No __restrict__: y may be x.
__global__ void relu(const float* x, float* y, Float4Span span, long long items) {
    const long long item = thread_in_grid();
    if (item >= items) return;
    const long long i = span.element(item);
    if (!span.is_vector(item)) {
        y[i] = rectified(x[i]);
        return;
    }
    const float4 four = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(y + i) =
        make_float4(rectified(four.x), rectified(four.y), rectified(four.z), rectified(four.w));
}

void forward(const gradverify::relu::Forward& call) {
    if (call.n == 0) return;
    const auto* x = call.x.as<const float>();
    auto* const y = call.y.as<float>();
    const Float4Span span = float4_span({x, y}, call.n);
    const int threads = call.launch.block_size;
    relu<<<blocks_of(span.items(), threads), threads, 0, call.launch.stream>>>(x, y, span,
                                                                               span.items());
}

__device__ float masked(float dy, float x) { return x > 0.0f ? dy : 0.0f; }

// No __restrict__: dx may be dy or x.
__global__ void mask(const float* dy, const float* x, float* dx, Float4Span span, long long items) {
    const long long item = thread_in_grid();
    if (item >= items) return;
    const long long i = span.element(item);
    if (!span.is_vector(item)) {
        dx[i] = masked(dy[i], x[i]);
        return;
    }
    const float4 of_dy = *reinterpret_cast<const float4*>(dy + i);
    const float4 of_x = *reinterpret_cast<const float4*>(x + i);
    *reinterpret_cast<float4*>(dx + i) =
        make_float4(masked(of_dy.x, of_x.x), masked(of_dy.y, of_x.y), masked(of_dy.z, of_x.z),
                    masked(of_dy.w, of_x.w));
}

void grad_input(const gradverify::relu::GradInput& call) {
    if (call.n == 0) return;
    const auto *dy = call.dy.as<const float>(), *x = call.x.as<const float>();
    auto* const dx = call.dx.as<float>();
    const Float4Span span = float4_span({dy, x, dx}, call.n);
    const int threads = call.launch.block_size;
    mask<<<blocks_of(span.items(), threads), threads, 0, call.launch.stream>>>(dy, x, dx, span,
                                                                               span.items());
}

}  // namespace

GRADVERIFY_KERNEL(gradverify::relu::Forward, "vectorised", forward)
    .with(declare_elements<float>)
    .in_place("y", "x")
    .blocks_of({256, 64, 1024});
GRADVERIFY_KERNEL(gradverify::relu::GradInput, "vectorised", grad_input)
    .with(declare_elements<float>)
    .in_place("dx", "dy")
    .in_place("dx", "x")
    .blocks_of({256, 64, 1024});
