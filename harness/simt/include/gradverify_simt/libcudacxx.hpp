// SPDX-License-Identifier: Apache-2.0
// Declares what libcu++ has of clusters: it runs on cuda only.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gradverify_simt/cuda_barrier.hpp"
#include "gradverify_simt/cuda_only.hpp"
#include "gradverify_simt/cuda_ptx.hpp"

namespace cuda {

#define GRADVERIFY_SIMT_LIBCUDACXX(SCOPE, RETURN, ...) \
    GRADVERIFY_SIMT_CUDA_ONLY("libcu++", SCOPE, RETURN, __VA_ARGS__)

namespace ptx {
GRADVERIFY_SIMT_LIBCUDACXX("cuda::ptx::", void, barrier_cluster_arrive, barrier_cluster_wait,
                           cp_reduce_async_bulk, cp_reduce_async_bulk_tensor)
}  // namespace ptx

#undef GRADVERIFY_SIMT_LIBCUDACXX

}  // namespace cuda
