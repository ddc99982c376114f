// SPDX-License-Identifier: Apache-2.0
// varlen_attention.forward/warp: a warp for each query, which reads its keys once and scales what
// it has when a larger score comes.
// varlen_attention.backward/warp: a warp for each query, and one for each key. Lanes share a row's
// elements, up to eight each; sums are float.
#include "kernels/element.cuh"
#include "kernels/grids.cuh"
#include "kernels/varlen_attention/shape.cuh"

namespace {

using namespace gradverify;
using varlen_attention::Place;
using varlen_attention::Range;
using varlen_attention::Shape;

constexpr int lanes = 32, warps = 4, per_lane = 8;
constexpr int most_width = lanes * per_lane;

/// A lane's share of a row: the elements lane, lane + 32, ...
struct Share {
    float elements[per_lane];

    __device__ float& operator[](int i) { return elements[i]; }
    __device__ float operator[](int i) const { return elements[i]; }
};

__device__ Share zeros() {
    Share share;
    for (int i = 0; i < per_lane; ++i) share[i] = 0.0f;
    return share;
}

template <class T>
__device__ Share load(const T* row, long long width) {
    Share share;
    for (int i = 0; i < per_lane; ++i) {
        const long long c = threadIdx.x + i * lanes;
        share[i] = c < width ? static_cast<float>(row[c]) : 0.0f;
    }
    return share;
}

template <class T>
__device__ void store(T* row, const Share& share, long long width) {
    for (int i = 0; i < per_lane; ++i) {
        const long long c = threadIdx.x + i * lanes;
        if (c < width) row[c] = static_cast<T>(share[i]);
    }
}

/// The product of two rows, in every lane.
__device__ float product(const Share& x, const Share& y) {
    float sum = 0.0f;
    for (int i = 0; i < per_lane; ++i) sum += x[i] * y[i];
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    return sum;
}

__device__ void add_scaled(Share& sum, float factor, const Share& x) {
    for (int i = 0; i < per_lane; ++i) sum[i] += factor * x[i];
}

__device__ long long row_of_warp() {
    return static_cast<long long>(blockIdx.x) * warps + threadIdx.y;
}

template <class T>
__global__ void attend(const Shape shape, const T* q, const T* k, const T* v, T* o, float* lse,
                       float scale) {
    const long long index = row_of_warp();
    if (index >= shape.query_rows()) return;
    const Place query{index / shape.heads(), index % shape.heads()};
    const Range seen = shape.keys_seen_by(query.row);
    const Share row = load(q + shape.of_query(query), shape.width);
    Share output = zeros();
    float largest = -INFINITY, sum = 0.0f;
    for (long long j = seen.first; j < seen.end; ++j) {
        const long long at = shape.of_key({j, query.head / shape.group});
        const float score = shape.score(scale * product(row, load(k + at, shape.width)));
        const float larger = fmaxf(largest, score);
        const float shrunk = expf(largest - larger), weight = expf(score - larger);
        largest = larger;
        sum = sum * shrunk + weight;
        for (int i = 0; i < per_lane; ++i) output[i] *= shrunk;
        add_scaled(output, weight, load(v + at, shape.width));
    }
    for (int i = 0; i < per_lane && sum > 0.0f; ++i) output[i] /= sum;
    store(o + shape.of_query(query), output, shape.width);
    if (threadIdx.x == 0) lse[shape.of_sum(query)] = largest + logf(sum);
}

/// What the backward pass reads.
template <class T>
struct Inputs {
    const T *grad_o, *q, *k, *v, *o;
    const float* lse;
    float scale;
};

template <class T>
__global__ void gradients_by_queries(const Shape shape, const Inputs<T> in, T* dq) {
    const long long index = row_of_warp();
    if (index >= shape.query_rows()) return;
    const Place query{index / shape.heads(), index % shape.heads()};
    const long long at = shape.of_query(query);
    const Share row = load(in.q + at, shape.width), grad_o = load(in.grad_o + at, shape.width);
    const float of_output = product(grad_o, load(in.o + at, shape.width));
    const float lse = in.lse[shape.of_sum(query)];
    const Range seen = shape.keys_seen_by(query.row);
    Share sum = zeros();
    for (long long j = seen.first; j < seen.end; ++j) {
        const long long key_at = shape.of_key({j, query.head / shape.group});
        const Share key = load(in.k + key_at, shape.width);
        const float score = shape.score(in.scale * product(row, key));
        const float of_value = product(grad_o, load(in.v + key_at, shape.width));
        const float gradient = expf(score - lse) * (of_value - of_output) * shape.slope(score);
        add_scaled(sum, in.scale * gradient, key);
    }
    store(dq + at, sum, shape.width);
}

template <class T>
__global__ void gradients_by_keys(const Shape shape, const Inputs<T> in, T* dk, T* dv) {
    const long long index = row_of_warp();
    if (index >= shape.key_rows()) return;
    const Place key{index / shape.key_heads, index % shape.key_heads};
    const long long at = shape.of_key(key);
    const Share row = load(in.k + at, shape.width), value = load(in.v + at, shape.width);
    const Range seeing = shape.queries_that_see(key.row);
    Share sum_k = zeros(), sum_v = zeros();
    for (long long i = seeing.first; i < seeing.end; ++i)
        for (long long h = key.head * shape.group; h < (key.head + 1) * shape.group; ++h) {
            const long long query_at = shape.of_query({i, h});
            const Share query = load(in.q + query_at, shape.width);
            const Share grad_o = load(in.grad_o + query_at, shape.width);
            const float score = shape.score(in.scale * product(query, row));
            const float weight = expf(score - in.lse[shape.of_sum({i, h})]);
            const float of_output = product(grad_o, load(in.o + query_at, shape.width));
            const float gradient =
                weight * (product(grad_o, value) - of_output) * shape.slope(score);
            add_scaled(sum_k, in.scale * gradient, query);
            add_scaled(sum_v, weight, grad_o);
        }
    store(dk + at, sum_k, shape.width);
    store(dv + at, sum_v, shape.width);
}

template <class T>
void forward(const varlen_attention::Forward& call) {
    const Shape shape(call);
    if (shape.query_rows() == 0) return;
    attend<<<blocks_of(shape.query_rows(), warps), dim3(lanes, warps), 0, call.launch.stream>>>(
        shape, call.q.as<const T>(), call.k.as<const T>(), call.v.as<const T>(), call.o.as<T>(),
        call.lse.as<float>(), shape.scale());
}

template <class T>
void backward(const varlen_attention::Backward& call) {
    const Shape shape(call);
    const Inputs<T> in{call.grad_o.as<const T>(),
                       call.q.as<const T>(),
                       call.k.as<const T>(),
                       call.v.as<const T>(),
                       call.o.as<const T>(),
                       call.lse.as<const float>(),
                       shape.scale()};
    const dim3 block(lanes, warps);
    if (shape.query_rows() > 0)
        gradients_by_queries<<<blocks_of(shape.query_rows(), warps), block, 0,
                               call.launch.stream>>>(shape, in, call.dq.as<T>());
    if (shape.key_rows() > 0)
        gradients_by_keys<<<blocks_of(shape.key_rows(), warps), block, 0, call.launch.stream>>>(
            shape, in, call.dk.as<T>(), call.dv.as<T>());
}

/// The saved lse stays float.
template <class T>
void declare(KernelDeclaration& kernel) {
    declare_elements_on_stream<T>(kernel);
    kernel.where("d", between(1, most_width)).costs({.threads_per_output = lanes});
}

}  // namespace

GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(varlen_attention::Forward, "warp", forward, declare);
GRADVERIFY_KERNEL_OF_FLOAT_AND_BF16(varlen_attention::Backward, "warp", backward, declare);
