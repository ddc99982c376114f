// SPDX-License-Identifier: Apache-2.0
// Declares the atomics, barriers, pipelines and PTX of libcu++, which run on cuda only.
#pragma once
#pragma GCC system_header

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gradverify_simt/cuda_only.hpp"

namespace cuda {

enum thread_scope {
    thread_scope_system,
    thread_scope_device,
    thread_scope_block,
    thread_scope_thread
};
using std::memory_order, std::memory_order_acq_rel, std::memory_order_acquire,
    std::memory_order_relaxed, std::memory_order_release, std::memory_order_seq_cst;

#define GRADVERIFY_SIMT_LIBCUDACXX(SCOPE, RETURN, ...) \
    GRADVERIFY_SIMT_CUDA_ONLY("libcu++", SCOPE, RETURN, __VA_ARGS__)
#define GRADVERIFY_SIMT_LIBCUDACXX_PLAIN(SCOPE, RETURN, NAME) \
    GRADVERIFY_SIMT_CUDA_ONLY_PLAIN("libcu++", SCOPE, RETURN, NAME)

#define GRADVERIFY_SIMT_ATOMIC(NAME, HELD)                                                      \
    template <class T, thread_scope = thread_scope_system>                                      \
    class NAME {                                                                                \
      public:                                                                                   \
        NAME() = default;                                                                       \
        constexpr explicit NAME(HELD value) : held_(value) {}                                   \
        GRADVERIFY_SIMT_LIBCUDACXX("cuda::" #NAME "::", T, exchange, fetch_add, fetch_and,      \
                                   fetch_max, fetch_min, fetch_or, fetch_sub, fetch_xor)        \
        GRADVERIFY_SIMT_LIBCUDACXX("cuda::" #NAME "::", bool, compare_exchange_strong,          \
                                   compare_exchange_weak)                                       \
        GRADVERIFY_SIMT_LIBCUDACXX("cuda::" #NAME "::", void, store, wait)                      \
        [[noreturn]] T load(memory_order = memory_order_seq_cst, GRADVERIFY_SIMT_PLACE) const { \
            GRADVERIFY_SIMT_REFUSE("libcu++", "cuda::" #NAME "::load", file, line);             \
        }                                                                                       \
        GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::" #NAME "::", void, notify_all)                 \
        GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::" #NAME "::", void, notify_one)                 \
                                                                                                \
      private:                                                                                  \
        HELD held_;                                                                             \
    };
GRADVERIFY_SIMT_ATOMIC(atomic, T)
GRADVERIFY_SIMT_ATOMIC(atomic_ref, T&)
#undef GRADVERIFY_SIMT_ATOMIC
GRADVERIFY_SIMT_LIBCUDACXX("cuda::", void, atomic_thread_fence)

template <thread_scope, class = void>
class barrier {
  public:
    struct arrival_token {};
    GRADVERIFY_SIMT_LIBCUDACXX("cuda::barrier::", void, wait, wait_parity)
    [[noreturn]] arrival_token arrive(std::ptrdiff_t = 1, GRADVERIFY_SIMT_PLACE) {
        GRADVERIFY_SIMT_REFUSE("libcu++", "cuda::barrier::arrive", file, line);
    }
    GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::barrier::", void, arrive_and_drop)
    GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::barrier::", void, arrive_and_wait)

  private:
    std::uint64_t word_;
};
template <thread_scope scope>
[[noreturn]] void init(barrier<scope>*, std::ptrdiff_t, GRADVERIFY_SIMT_PLACE) {
    GRADVERIFY_SIMT_REFUSE("libcu++", "cuda::barrier", file, line);
}

template <thread_scope, int stages>
struct pipeline_shared_state {};
enum class pipeline_role { producer, consumer };
template <thread_scope>
class pipeline {
  public:
    GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::pipeline::", void, consumer_release)
    GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::pipeline::", void, consumer_wait)
    GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::pipeline::", void, producer_acquire)
    GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::pipeline::", void, producer_commit)
    GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::pipeline::", void, quit)
};
GRADVERIFY_SIMT_LIBCUDACXX_PLAIN("cuda::", pipeline<thread_scope_thread>, make_pipeline)
template <thread_scope scope, int stages, class Role = int>
[[noreturn]] pipeline<scope> make_pipeline(const auto& /*group*/,
                                           pipeline_shared_state<scope, stages>*, Role = {},
                                           GRADVERIFY_SIMT_PLACE) {
    GRADVERIFY_SIMT_REFUSE("libcu++", "cuda::make_pipeline", file, line);
}
template <int>
[[noreturn]] void pipeline_consumer_wait_prior(const auto&, GRADVERIFY_SIMT_PLACE) {
    GRADVERIFY_SIMT_REFUSE("libcu++", "cuda::pipeline_consumer_wait_prior", file, line);
}

template <std::size_t>
struct aligned_size_t {
    std::size_t value;
    constexpr explicit aligned_size_t(std::size_t bytes) : value(bytes) {}
    constexpr operator std::size_t() const { return value; }
};
GRADVERIFY_SIMT_LIBCUDACXX("cuda::", void, memcpy_async)

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
