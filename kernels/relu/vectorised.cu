// SPDX-License-Identifier: Apache-2.0
// relu.forward/vectorised and relu.grad_input/vectorised: four elements a thread where all tensors
// are aligned alike; single ones elsewhere, before the first aligned address and at the end.
#include <cstdint>
#include <initializer_list>

#include "kernels/kernel.cuh"
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

struct Rectified {
    // So that a NaN stays one.
    static __device__ float of(float x) { return x <= 0.0f ? 0.0f : x; }
};
struct Masked {
    static __device__ float of(float dy, float x) { return x > 0.0f ? dy : 0.0f; }
};

// out[i] = Function::of(in[i]...). No __restrict__: `out` may be one of the inputs.
template <class Function, class... In>
__global__ void by_fours(Float4Span span, long long items, float* out, const In*... in) {
    const long long item = thread_in_grid();
    if (item >= items) return;
    const long long i = span.element(item);
    if (!span.is_vector(item)) {
        out[i] = Function::of(in[i]...);
        return;
    }
    const auto each = [](auto... four) {
        return make_float4(Function::of(four.x...), Function::of(four.y...),
                           Function::of(four.z...), Function::of(four.w...));
    };
    *reinterpret_cast<float4*>(out + i) = each(*reinterpret_cast<const float4*>(in + i)...);
}

template <class Function, class... In>
void launch(const gradverify::Launch& on, long long n, float* out, const In*... in) {
    if (n == 0) return;
    const Float4Span span = float4_span({in..., out}, n);
    by_fours<Function><<<blocks_of(span.items(), on.block_size), on.block_size, 0, on.stream>>>(
        span, span.items(), out, in...);
}

void forward(const gradverify::relu::Forward& call) {
    launch<Rectified>(call.launch, call.n, call.y.as<float>(), call.x.as<const float>());
}

void grad_input(const gradverify::relu::GradInput& call) {
    launch<Masked>(call.launch, call.n, call.dx.as<float>(), call.dy.as<const float>(),
                   call.x.as<const float>());
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
