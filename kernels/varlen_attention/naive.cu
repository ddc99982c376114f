// SPDX-License-Identifier: Apache-2.0
// varlen_attention.forward/naive: a thread for each query, which reads its keys twice.
// varlen_attention.backward/naive: a thread for each query, and one for each key, adds up its rows
// in the outputs.
#include "kernels/element.cuh"
#include "kernels/grids.cuh"
#include "kernels/varlen_attention/shape.cuh"

namespace {

using namespace gradverify;
using varlen_attention::Place;
using varlen_attention::Range;
using varlen_attention::Shape;

__device__ float product(const float* x, const float* y, long long width) {
    float sum = 0.0f;
    for (long long c = 0; c < width; ++c) sum += x[c] * y[c];
    return sum;
}

__device__ void add_scaled(float* sum, float factor, const float* x, long long width) {
    for (long long c = 0; c < width; ++c) sum[c] += factor * x[c];
}

__global__ void attend(const Shape shape, const float* q, const float* k, const float* v, float* o,
                       float* lse, float scale) {
    const long long index = thread_in_grid(), width = shape.width;
    if (index >= shape.query_rows()) return;
    const Place query{index / shape.heads(), index % shape.heads()};
    const Range seen = shape.keys_seen_by(query.row);
    float* const output = o + shape.of_query(query);
    const auto score_of = [&](long long key_at) {
        return shape.score(scale * product(q + shape.of_query(query), k + key_at, width));
    };
    float largest = -INFINITY, sum = 0.0f;
    for (long long j = seen.first; j < seen.end; ++j)
        largest = fmaxf(largest, score_of(shape.of_key({j, query.head / shape.group})));
    for (long long c = 0; c < width; ++c) output[c] = 0.0f;
    for (long long j = seen.first; j < seen.end; ++j) {
        const long long at = shape.of_key({j, query.head / shape.group});
        const float weight = expf(score_of(at) - largest);
        sum += weight;
        add_scaled(output, weight, v + at, width);
    }
    for (long long c = 0; c < width && sum > 0.0f; ++c) output[c] /= sum;
    lse[shape.of_sum(query)] = largest + logf(sum);
}

void forward(const varlen_attention::Forward& call) {
    const Shape shape(call);
    const long long rows = shape.query_rows();
    if (rows == 0) return;
    attend<<<blocks_of(rows, 128), 128, 0, call.launch.stream>>>(
        shape, call.q.as<const float>(), call.k.as<const float>(), call.v.as<const float>(),
        call.o.as<float>(), call.lse.as<float>(), shape.scale());
}

/// What the backward pass reads.
struct Inputs {
    const float *grad_o, *q, *k, *v, *o, *lse;
    float scale;
};

/// A key's weight for a query, and the gradient by their product.
struct Weight {
    float value, gradient;

    __device__ Weight(const Shape& shape, const Inputs& in, Place query, Place key) {
        const long long at = shape.of_query(query), key_at = shape.of_key(key);
        const float score = shape.score(in.scale * product(in.q + at, in.k + key_at, shape.width));
        value = expf(score - in.lse[shape.of_sum(query)]);
        gradient = in.scale * shape.slope(score) * value *
                   (product(in.grad_o + at, in.v + key_at, shape.width) -
                    product(in.grad_o + at, in.o + at, shape.width));
    }
};

__global__ void gradients_by_queries(const Shape shape, const Inputs in, float* dq) {
    const long long index = thread_in_grid();
    if (index >= shape.query_rows()) return;
    const Place query{index / shape.heads(), index % shape.heads()};
    float* const sum = dq + shape.of_query(query);
    for (long long c = 0; c < shape.width; ++c) sum[c] = 0.0f;
    const Range seen = shape.keys_seen_by(query.row);
    for (long long j = seen.first; j < seen.end; ++j) {
        const Place key{j, query.head / shape.group};
        const Weight weight(shape, in, query, key);
        add_scaled(sum, weight.gradient, in.k + shape.of_key(key), shape.width);
    }
}

__global__ void gradients_by_keys(const Shape shape, const Inputs in, float* dk, float* dv) {
    const long long index = thread_in_grid();
    if (index >= shape.key_rows()) return;
    const Place key{index / shape.key_heads, index % shape.key_heads};
    const long long at = shape.of_key(key);
    for (long long c = 0; c < shape.width; ++c) dk[at + c] = dv[at + c] = 0.0f;
    const Range seeing = shape.queries_that_see(key.row);
    for (long long i = seeing.first; i < seeing.end; ++i)
        for (long long h = key.head * shape.group; h < (key.head + 1) * shape.group; ++h) {
            const Weight weight(shape, in, {i, h}, key);
            add_scaled(dk + at, weight.gradient, in.q + shape.of_query({i, h}), shape.width);
            add_scaled(dv + at, weight.value, in.grad_o + shape.of_query({i, h}), shape.width);
        }
}

void backward(const varlen_attention::Backward& call) {
    const Shape shape(call);
    const Inputs in{call.grad_o.as<const float>(),
                    call.q.as<const float>(),
                    call.k.as<const float>(),
                    call.v.as<const float>(),
                    call.o.as<const float>(),
                    call.lse.as<const float>(),
                    shape.scale()};
    if (shape.query_rows() > 0)
        gradients_by_queries<<<blocks_of(shape.query_rows(), 128), 128, 0, call.launch.stream>>>(
            shape, in, call.dq.as<float>());
    if (shape.key_rows() > 0)
        gradients_by_keys<<<blocks_of(shape.key_rows(), 128), 128, 0, call.launch.stream>>>(
            shape, in, call.dk.as<float>(), call.dv.as<float>());
}

}  // namespace

GRADVERIFY_KERNEL(varlen_attention::Forward, "naive", forward)
    .with(declare_elements_on_stream<float>);
GRADVERIFY_KERNEL(varlen_attention::Backward, "naive", backward)
    .with(declare_elements_on_stream<float>);
