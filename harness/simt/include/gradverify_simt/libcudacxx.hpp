// SPDX-License-Identifier: Apache-2.0
// Declares what there is of libcu++ beside its atomics and barriers: it runs on cuda only.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gradverify_simt/cuda_barrier.hpp"
#include "gradverify_simt/cuda_only.hpp"

namespace cuda {

#define GRADVERIFY_SIMT_LIBCUDACXX(SCOPE, RETURN, ...) \
    GRADVERIFY_SIMT_CUDA_ONLY("libcu++", SCOPE, RETURN, __VA_ARGS__)
#define GRADVERIFY_SIMT_LIBCUDACXX_PLAIN(SCOPE, RETURN, NAME) \
    GRADVERIFY_SIMT_CUDA_ONLY_PLAIN("libcu++", SCOPE, RETURN, NAME)

namespace device {
GRADVERIFY_SIMT_LIBCUDACXX("cuda::device::", std::uint64_t*, barrier_native_handle)
GRADVERIFY_SIMT_LIBCUDACXX("cuda::device::", void, memcpy_async_tx)
template <thread_scope scope>
[[noreturn]] typename barrier<scope>::arrival_token barrier_arrive_tx(barrier<scope>&,
                                                                      std::ptrdiff_t,
                                                                      std::ptrdiff_t,
                                                                      GRADVERIFY_SIMT_PLACE) {
    GRADVERIFY_SIMT_REFUSE("libcu++", "cuda::device::barrier_arrive_tx", file, line);
}
}  // namespace device

namespace ptx {
enum sem_t { sem_acq_rel, sem_acquire, sem_relaxed, sem_release };
enum scope_t { scope_cluster, scope_cta, scope_gpu, scope_sys };
enum space_t { space_cluster, space_global, space_shared };
template <int n>
using n32_t = std::integral_constant<int, n>;
GRADVERIFY_SIMT_LIBCUDACXX("cuda::ptx::", bool, mbarrier_test_wait, mbarrier_test_wait_parity,
                           mbarrier_try_wait, mbarrier_try_wait_parity)
GRADVERIFY_SIMT_LIBCUDACXX("cuda::ptx::", std::uint64_t, mbarrier_arrive, mbarrier_arrive_expect_tx,
                           mbarrier_arrive_no_complete)
GRADVERIFY_SIMT_LIBCUDACXX("cuda::ptx::", void, barrier_cluster_arrive, barrier_cluster_wait,
                           cp_async_bulk, cp_async_bulk_commit_group, cp_async_bulk_tensor,
                           cp_async_bulk_wait_group, cp_async_bulk_wait_group_read,
                           cp_reduce_async_bulk, fence, fence_mbarrier_init, fence_proxy_async,
                           mbarrier_expect_tx, mbarrier_init)
GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::ptx::", void, cp_async_bulk_commit_group)
GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::ptx::", void, fence_proxy_async)
}  // namespace ptx

#undef GRADVERIFY_SIMT_LIBCUDACXX
#undef GRADVERIFY_SIMT_LIBCUDACXX_PLAIN

}  // namespace cuda
