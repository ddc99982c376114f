// SPDX-License-Identifier: Apache-2.0
// Where the rows of attention's tensors lie, and which keys a query sees.
#pragma once

#include <cmath>

#include <cuda_runtime.h>

namespace gradverify::attention {

/// A query or a key of one head of one sample.
struct Position {
    long long sample, row, head;
};

struct Shape {
    long long samples, queries, keys, heads, width;
    bool is_causal;

    template <class Pass>
    explicit Shape(const Pass& call)
        : samples(call.b),
          queries(call.sq),
          keys(call.sk),
          heads(call.h),
          width(call.d),
          is_causal(call.is_causal) {}

    __host__ __device__ long long query_rows() const { return samples * heads * queries; }
    __host__ __device__ long long key_rows() const { return samples * heads * keys; }

    /// The query, or the key, whose row is the one of this number.
    __device__ Position query_at(long long index) const {
        return {index / heads / queries, index / heads % queries, index % heads};
    }
    __device__ Position key_at(long long index) const {
        return {index / heads / keys, index / heads % keys, index % heads};
    }

    /// The first element of a query's row in q, o, do and dq.
    __device__ long long of_query(const Position& at) const {
        return ((at.sample * queries + at.row) * heads + at.head) * width;
    }
    /// The first element of a key's row in k, v, dk and dv.
    __device__ long long of_key(const Position& at) const {
        return ((at.sample * keys + at.row) * heads + at.head) * width;
    }
    /// A query's element of lse.
    __device__ long long of_sum(const Position& at) const {
        return (at.sample * heads + at.head) * queries + at.row;
    }

    __device__ long long keys_seen_by(long long query) const {
        return is_causal ? query + 1 + keys - queries : keys;
    }
    __device__ long long first_query_that_sees(long long key) const {
        const long long first = is_causal ? key - (keys - queries) : 0;
        return first > 0 ? first : 0;
    }

    float scale() const { return 1.0f / sqrtf(static_cast<float>(width)); }
};

}  // namespace gradverify::attention
