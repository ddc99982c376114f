// SPDX-License-Identifier: Apache-2.0
// The museum's pieces of attention's gradients.
#include <cmath>

#include "kernels/attention/shape.cuh"
#include "properties/tests/museum/pair.cuh"
#include "reference/attention.hpp"

namespace {

using gradverify::declare_piece;
using gradverify::Problem;
using gradverify::attention::Backward;
using gradverify::attention::Position;
using gradverify::attention::Shape;

__device__ float product(const float* x, const float* y, long long width) {
    float sum = 0.0f;
    for (long long c = 0; c < width; ++c) sum += x[c] * y[c];
    return sum;
}

/// What the gradients by q, k and v have in common.
struct Inputs {
    Shape shape;
    const float *grad_o, *q, *k, *v, *o, *lse;
    float scale;

    explicit Inputs(const Backward& call)
        : shape(call),
          grad_o(call.grad_o.as<const float>()),
          q(call.q.as<const float>()),
          k(call.k.as<const float>()),
          v(call.v.as<const float>()),
          o(call.o.as<const float>()),
          lse(call.lse.as<const float>()),
          scale(shape.scale()) {}

    __device__ float weight(const Position& query, const Position& key) const {
        const float* const row = q + shape.of_query(query);
        return expf(scale * product(row, k + shape.of_key(key), shape.width) -
                    lse[shape.of_sum(query)]);
    }
    /// The gradient by a scaled product; `of_output` is that of do and o.
    __device__ float slope(const Position& query, const Position& key, float of_output) const {
        const float* const row = grad_o + shape.of_query(query);
        return scale * weight(query, key) *
               (product(row, v + shape.of_key(key), shape.width) - of_output);
    }
    __device__ float of_output(const Position& query) const {
        const long long at = shape.of_query(query);
        return product(grad_o + at, o + at, shape.width);
    }
};

__device__ void keys_and_values(long long i, Inputs in, float* dk, float* dv) {
    const Position key = in.shape.key_at(i);
    const long long at = in.shape.of_key(key);
    for (long long c = 0; c < in.shape.width; ++c) dk[at + c] = dv[at + c] = 0.0f;
    for (long long row = in.shape.first_query_that_sees(key.row); row < in.shape.queries; ++row) {
        const Position query{key.sample, row, key.head};
        const long long from = in.shape.of_query(query);
        const float weight = in.weight(query, key);
        const float slope = in.slope(query, key, in.of_output(query));
        for (long long c = 0; c < in.shape.width; ++c) {
            dk[at + c] += slope * in.q[from + c];
            dv[at + c] += weight * in.grad_o[from + c];
        }
    }
}

__host__ __device__ long long rounded(long long width, long long to) {
    return (width + to - 1) / to * to;
}

// dq is summed in rows of a multiple of 16 elements, and read in rows of a multiple of 32.
template <bool is_fixed>
__device__ void sum_queries(long long i, Inputs in, float* sums) {
    const Position query = in.shape.query_at(i);
    float* const row = sums + i * rounded(in.shape.width, is_fixed ? 32 : 16);
    for (long long j = 0; j < in.shape.keys_seen_by(query.row); ++j) {
        const Position key{query.sample, j, query.head};
        const float slope = in.slope(query, key, in.of_output(query));
        for (long long c = 0; c < in.shape.width; ++c)
            row[c] += slope * in.k[in.shape.of_key(key) + c];
    }
}
__device__ void read_queries(long long i, Inputs in, const float* sums, float* dq) {
    const long long at = in.shape.of_query(in.shape.query_at(i));
    for (long long c = 0; c < in.shape.width; ++c)
        dq[at + c] = sums[i * rounded(in.shape.width, 32) + c];
}

void declare_padded_sums(gradverify::KernelDeclaration& kernel) {
    kernel.with(declare_piece).workspace([](const Problem& problem) -> std::int64_t {
        return problem.scalar("b") * problem.scalar("sq") * problem.scalar("h") *
               rounded(problem.scalar("d"), 32) * static_cast<std::int64_t>(sizeof(float));
    });
}

template <bool is_fixed>
void launch_padded_sums(const Backward& call) {
    const Inputs in(call);
    auto* const sums = static_cast<float*>(call.launch.workspace);
    cudaMemsetAsync(sums, 0, static_cast<std::size_t>(call.launch.workspace_bytes),
                    call.launch.stream);
    launch_each<sum_queries<is_fixed>>(call.launch, in.shape.query_rows(), in, sums);
    launch_each<read_queries>(call.launch, in.shape.query_rows(), in, sums, call.dq);
    launch_each<keys_and_values>(call.launch, in.shape.key_rows(), in, call.dk, call.dv);
}

constexpr int warp = 32, warps = 2;

// The first warp clears the sums of warps, and the others may have stored theirs by then.
template <bool is_fixed>
__global__ void block_for_query(Inputs in, float* dq) {
    __shared__ float sums[warp];
    const Position query = in.shape.query_at(blockIdx.x);
    const long long at = in.shape.of_query(query);
    const int lane = threadIdx.x % warp, of_warp = threadIdx.x / warp;
    if (of_warp == 0) sums[lane] = 0.0f;
    if (is_fixed) __syncthreads();
    float sum = 0.0f;
    for (long long c = threadIdx.x; c < in.shape.width; c += blockDim.x)
        sum += in.grad_o[at + c] * in.o[at + c];
    for (int step = warp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) sums[of_warp] = sum;
    __syncthreads();
    const float of_output = sums[0] + sums[1];
    for (long long c = threadIdx.x; c < in.shape.width; c += blockDim.x) {
        float element = 0.0f;
        for (long long j = 0; j < in.shape.keys_seen_by(query.row); ++j) {
            const Position key{query.sample, j, query.head};
            element += in.slope(query, key, of_output) * in.k[in.shape.of_key(key) + c];
        }
        dq[at + c] = element;
    }
}

template <bool is_fixed>
void launch_block_for_query(const Backward& call) {
    const Inputs in(call);
    launch_blocks(call.launch, block_for_query<is_fixed>,
                  static_cast<unsigned>(in.shape.query_rows()), warps * warp, in, call.dq);
    launch_each<keys_and_values>(call.launch, in.shape.key_rows(), in, call.dk, call.dv);
}

}  // namespace

GRADVERIFY_MUSEUM_PAIR(Backward, "padded_sums", launch_padded_sums, declare_padded_sums);
GRADVERIFY_MUSEUM_PAIR(Backward, "cleared_after_store", launch_block_for_query, declare_piece);
