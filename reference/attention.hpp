// SPDX-License-Identifier: Apache-2.0
// The operator attention as a kernel author sees it. Each head of each sample is by itself:
//
//   p[i,j] = exp(s[i,j] - lse[i]),  s[i,j] = sum over c of q[i,c] k[j,c] / sqrt(d)
//   lse[i] = log of the sum of exp(s[i,j]) over the keys j that query i sees
//   o[i,c] = sum over j of p[i,j] v[j,c]
//
// A query sees all keys, or, where it is causal, those up to i + sk - sq: the last query sees all
// keys, and the one before it a key less. The backward pass takes o and lse:
//
//   ds[i,j] = p[i,j] (sum over c of do[i,c] v[j,c] - sum over c of do[i,c] o[i,c])
//   dq[i,c] = sum over j of ds[i,j] k[j,c] / sqrt(d),  dk[j,c] = sum over i of ds[i,j] q[i,c] /
//   sqrt(d) dv[j,c] = sum over i of p[i,j] do[i,c]
#pragma once

#include "harness/pass.hpp"

namespace gradverify::attention {

/// **Shapes** q, o `b, sq, h, d`; k, v `b, sk, h, d`; lse `b, h, sq`.
struct Forward : Pass<"attention", "forward"> {
    using Pass::Pass;
    TensorView q = tensor("q"), k = tensor("k"), v = tensor("v");
    TensorView o = tensor("o"), lse = tensor("lse");
    std::int64_t b = size("b"), sq = size("sq"), sk = size("sk"), h = size("h"), d = size("d");
    bool is_causal = size("causal") == 1;
};

/// **Shapes** grad_o, q, o, dq `b, sq, h, d`; k, v, dk, dv `b, sk, h, d`; lse `b, h, sq`.
struct Backward : Pass<"attention", "backward"> {
    using Pass::Pass;
    TensorView grad_o = tensor("do"), q = tensor("q"), k = tensor("k"), v = tensor("v");
    TensorView o = tensor("o"), lse = tensor("lse");
    TensorView dq = tensor("dq"), dk = tensor("dk"), dv = tensor("dv");
    std::int64_t b = size("b"), sq = size("sq"), sk = size("sk"), h = size("h"), d = size("d");
    bool is_causal = size("causal") == 1;
};

}  // namespace gradverify::attention
