// SPDX-License-Identifier: Apache-2.0
// attention.forward/naive: a thread for each query, which reads its keys twice.
// attention.backward/naive: a thread for each query, and one for each key, adds up its rows in the
// outputs.
#include <cmath>

#include "kernels/attention/shape.cuh"
#include "kernels/kernel.cuh"
#include "reference/attention.hpp"

namespace {

using namespace gradverify;
using attention::Position;
using attention::Shape;

__device__ float product(const float* x, const float* y, long long width) {
    float sum = 0.0f;
    for (long long c = 0; c < width; ++c) sum += x[c] * y[c];
    return sum;
}

__device__ void add_scaled(float* sum, float factor, const float* x, long long width) {
    for (long long c = 0; c < width; ++c) sum[c] += factor * x[c];
}

__global__ void attention_forward(const Shape shape, const float* q, const float* k, const float* v,
                                  float* o, float* lse, float scale) {
    const long long index = thread_in_grid();
    if (index >= shape.query_rows()) return;
    const auto [sample, query, head] = shape.query_at(index);
    const float* const row = q + shape.of_query({sample, query, head});
    float* const output = o + shape.of_query({sample, query, head});
    const long long keys = shape.keys_seen_by(query);
    float largest = -INFINITY, sum = 0.0f;
    for (long long j = 0; j < keys; ++j) {
        const float* const key = k + shape.of_key({sample, j, head});
        largest = fmaxf(largest, scale * product(row, key, shape.width));
    }
    for (long long c = 0; c < shape.width; ++c) output[c] = 0.0f;
    for (long long j = 0; j < keys; ++j) {
        const long long at = shape.of_key({sample, j, head});
        const float weight = expf(scale * product(row, k + at, shape.width) - largest);
        sum += weight;
        add_scaled(output, weight, v + at, shape.width);
    }
    for (long long c = 0; c < shape.width; ++c) output[c] /= sum;
    lse[shape.of_sum({sample, query, head})] = largest + logf(sum);
}

void forward(const attention::Forward& call) {
    const Shape shape(call);
    const long long rows = shape.query_rows();
    if (rows == 0) return;
    attention_forward<<<blocks_of(rows, 128), 128, 0, call.launch.stream>>>(
        shape, call.q.as<const float>(), call.k.as<const float>(), call.v.as<const float>(),
        call.o.as<float>(), call.lse.as<float>(), shape.scale());
}

/// What a kernel of the backward pass reads.
struct Inputs {
    const float *grad_o, *q, *k, *v, *o, *lse;
    float scale;

    explicit Inputs(const attention::Backward& call)
        : grad_o(call.grad_o.as<const float>()),
          q(call.q.as<const float>()),
          k(call.k.as<const float>()),
          v(call.v.as<const float>()),
          o(call.o.as<const float>()),
          lse(call.lse.as<const float>()),
          scale(Shape(call).scale()) {}
};

/// A key's weight for a query, and the gradient by their scaled product.
struct Weight {
    float value, gradient;

    __device__ Weight(const Shape& shape, const Inputs& in, long long query_at, long long key_at,
                      float lse)
        : value(expf(in.scale * product(in.q + query_at, in.k + key_at, shape.width) - lse)),
          gradient(value * (product(in.grad_o + query_at, in.v + key_at, shape.width) -
                            product(in.grad_o + query_at, in.o + query_at, shape.width))) {}
};

__global__ void attention_backward_queries(const Shape shape, const Inputs in, float* dq) {
    const long long index = thread_in_grid();
    if (index >= shape.query_rows()) return;
    const auto [sample, query, head] = shape.query_at(index);
    const long long at = shape.of_query({sample, query, head});
    for (long long c = 0; c < shape.width; ++c) dq[at + c] = 0.0f;
    for (long long j = 0; j < shape.keys_seen_by(query); ++j) {
        const long long key_at = shape.of_key({sample, j, head});
        const Weight weight(shape, in, at, key_at, in.lse[shape.of_sum({sample, query, head})]);
        add_scaled(dq + at, in.scale * weight.gradient, in.k + key_at, shape.width);
    }
}

__global__ void attention_backward_keys(const Shape shape, const Inputs in, float* dk, float* dv) {
    const long long index = thread_in_grid();
    if (index >= shape.key_rows()) return;
    const auto [sample, key, head] = shape.key_at(index);
    const long long at = shape.of_key({sample, key, head});
    for (long long c = 0; c < shape.width; ++c) dk[at + c] = dv[at + c] = 0.0f;
    for (long long i = shape.first_query_that_sees(key); i < shape.queries; ++i) {
        const long long query_at = shape.of_query({sample, i, head});
        const Weight weight(shape, in, query_at, at, in.lse[shape.of_sum({sample, i, head})]);
        add_scaled(dk + at, in.scale * weight.gradient, in.q + query_at, shape.width);
        add_scaled(dv + at, weight.value, in.grad_o + query_at, shape.width);
    }
}

void backward(const attention::Backward& call) {
    const Shape shape(call);
    if (shape.query_rows() == 0) return;
    const Inputs in(call);
    attention_backward_queries<<<blocks_of(shape.query_rows(), 128), 128, 0, call.launch.stream>>>(
        shape, in, call.dq.as<float>());
    attention_backward_keys<<<blocks_of(shape.key_rows(), 128), 128, 0, call.launch.stream>>>(
        shape, in, call.dk.as<float>(), call.dv.as<float>());
}

}  // namespace

GRADVERIFY_KERNEL(attention::Forward, "naive", forward).with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(attention::Backward, "naive", backward).with(declare_elements_on_stream<float>);
