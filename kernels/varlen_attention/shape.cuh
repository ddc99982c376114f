// SPDX-License-Identifier: Apache-2.0
// varlen_attention's passes as a kernel author sees them, where their rows lie, and which keys a
// query sees.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "harness/kernel.hpp"
#include "harness/pass.hpp"

namespace gradverify::varlen_attention {

/// **Shapes** q, o `total_q, hk * group, d`; k, v `total_k, hk, d`; lse `hk * group, total_q`;
/// cu_seqlens_q, cu_seqlens_k `seqs + 1`.
struct Forward : Pass<"varlen_attention", "forward"> {
    using Pass::Pass;
    TensorView q = tensor("q"), k = tensor("k"), v = tensor("v");
    TensorView cu_seqlens_q = tensor("cu_seqlens_q"), cu_seqlens_k = tensor("cu_seqlens_k");
    TensorView o = tensor("o"), lse = tensor("lse");
    std::int64_t group = size("group"), window = size("window");
    bool is_causal = size("causal") == 1;
    float softcap = static_cast<float>(size("softcap"));
};

/// The same; grad_o, dq as q, and dk, dv as k.
struct Backward : Pass<"varlen_attention", "backward"> {
    using Pass::Pass;
    TensorView grad_o = tensor("do"), q = tensor("q"), k = tensor("k"), v = tensor("v");
    TensorView cu_seqlens_q = tensor("cu_seqlens_q"), cu_seqlens_k = tensor("cu_seqlens_k");
    TensorView o = tensor("o"), lse = tensor("lse");
    TensorView dq = tensor("dq"), dk = tensor("dk"), dv = tensor("dv");
    std::int64_t group = size("group"), window = size("window");
    bool is_causal = size("causal") == 1;
    float softcap = static_cast<float>(size("softcap"));
};

/// Rows from the first to the one before the end.
struct Range {
    long long first, end;
};

/// A query or a key, and its head.
struct Place {
    long long row, head;
};

struct Shape {
    const int *cu_seqlens_q, *cu_seqlens_k;
    long long seqs, queries, keys, key_heads, group, width, window;
    bool is_causal;
    float softcap;

    template <class Pass>
    explicit Shape(const Pass& call)
        : cu_seqlens_q(call.cu_seqlens_q.template as<const int>()),
          cu_seqlens_k(call.cu_seqlens_k.template as<const int>()),
          seqs(call.cu_seqlens_q.elements() - 1),
          queries(call.q.size(0)),
          keys(call.k.size(0)),
          key_heads(call.k.size(1)),
          group(call.group),
          width(call.q.size(2)),
          window(call.window),
          is_causal(call.is_causal),
          softcap(call.softcap) {}

    __host__ __device__ long long heads() const { return key_heads * group; }
    __host__ __device__ long long query_rows() const { return queries * heads(); }
    __host__ __device__ long long key_rows() const { return keys * key_heads; }
    float scale() const { return 1.0f / sqrtf(static_cast<float>(width)); }

    /// The first elements of a query's row and of a key's, and a query's element of lse.
    __device__ long long of_query(Place at) const { return (at.row * heads() + at.head) * width; }
    __device__ long long of_key(Place at) const { return (at.row * key_heads + at.head) * width; }
    __device__ long long of_sum(Place at) const { return at.head * queries + at.row; }

    /// The sequence that a row lies in: the last that begins at the row or before.
    __device__ long long sequence_of(long long row, const int* starts) const {
        long long first = 0, behind = seqs;
        while (behind - first > 1) {
            const long long middle = (first + behind) / 2;
            (starts[middle] <= row ? first : behind) = middle;
        }
        return first;
    }
    __device__ Range keys_seen_by(long long query) const {
        const long long s = sequence_of(query, cu_seqlens_q);
        const long long first = cu_seqlens_k[s], end = cu_seqlens_k[s + 1];
        const long long beside = end - (cu_seqlens_q[s + 1] - query);
        const long long first_in_window = beside - window + 1;
        return {window > 0 && first_in_window > first ? first_in_window : first,
                is_causal && beside + 1 < end ? beside + 1 : end};
    }
    __device__ Range queries_that_see(long long key) const {
        const long long s = sequence_of(key, cu_seqlens_k);
        const long long first = cu_seqlens_q[s], end = cu_seqlens_q[s + 1];
        const long long beside = end - (cu_seqlens_k[s + 1] - key);
        return {is_causal && beside > first ? beside : first,
                window > 0 && beside + window < end ? beside + window : end};
    }

    /// The score of a scaled product, and its derivative by that.
    __device__ float score(float product) const {
        return softcap == 0.0f ? product : softcap * tanhf(product / softcap);
    }
    __device__ float slope(float score) const {
        return softcap == 0.0f ? 1.0f : 1.0f - score / softcap * (score / softcap);
    }
};

}  // namespace gradverify::varlen_attention
