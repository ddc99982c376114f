// SPDX-License-Identifier: Apache-2.0
// libcu++'s functions for PTX of mbarriers and the asynchronous proxy. Scopes are taken and have
// no effect.
#pragma once
#pragma GCC system_header

#include <cstdint>
#include <type_traits>

#include "gradverify_simt/each.hpp"
#include "gradverify_simt/forced.hpp"

namespace cuda::ptx {

namespace gradverify_detail {
namespace ptx = gradverify::simt::ptx;
}  // namespace gradverify_detail

enum class dot_sem { acq_rel, acquire, relaxed, release };
enum class dot_scope { cluster, cta, gpu, sys };
enum class dot_space { cluster, global, shared };
template <auto value>
using gradverify_tag = std::integral_constant<decltype(value), value>;

#define GRADVERIFY_SIMT_TAG(NAME, KIND)                         \
    using KIND##_##NAME##_t = gradverify_tag<dot_##KIND::NAME>; \
    inline constexpr KIND##_##NAME##_t KIND##_##NAME{};
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_TAG, (sem), acq_rel, acquire, relaxed, release)
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_TAG, (scope), cluster, cta, gpu, sys)
GRADVERIFY_SIMT_EACH(GRADVERIFY_SIMT_TAG, (space), cluster, global, shared)
#undef GRADVERIFY_SIMT_TAG
template <int n>
using n32_t = std::integral_constant<int, n>;
template <dot_sem sem>
using sem_t = gradverify_tag<sem>;
template <dot_scope scope>
using scope_t = gradverify_tag<scope>;
template <dot_space space>
using space_t = gradverify_tag<space>;

GRADVERIFY_SIMT_ACCESS void mbarrier_init(std::uint64_t* at, const std::uint32_t& count,
                                          GRADVERIFY_SIMT_PLACE) {
    gradverify_detail::ptx::gradverify_simt_mbarrier_init(at, count, file, line);
}
GRADVERIFY_SIMT_ACCESS std::uint64_t mbarrier_arrive(std::uint64_t* at, std::uint32_t count = 1,
                                                     GRADVERIFY_SIMT_PLACE) {
    return gradverify_detail::ptx::gradverify_simt_mbarrier_arrive(
        at, count, 0, gradverify_detail::ptx::MbarrierArrival::plain, file, line);
}
template <dot_sem sem, dot_scope scope, dot_space space>
GRADVERIFY_SIMT_ACCESS std::uint64_t mbarrier_arrive(sem_t<sem>, scope_t<scope>, space_t<space>,
                                                     std::uint64_t* at, std::uint32_t count = 1,
                                                     GRADVERIFY_SIMT_PLACE) {
    return gradverify_detail::ptx::gradverify_simt_mbarrier_arrive(
        at, count, 0, gradverify_detail::ptx::MbarrierArrival::plain, file, line,
        sem != dot_sem::relaxed);
}
template <dot_sem sem, dot_scope scope, dot_space space>
GRADVERIFY_SIMT_ACCESS std::uint64_t mbarrier_arrive_expect_tx(sem_t<sem>, scope_t<scope>,
                                                               space_t<space>, std::uint64_t* at,
                                                               std::uint32_t bytes,
                                                               GRADVERIFY_SIMT_PLACE) {
    return gradverify_detail::ptx::gradverify_simt_mbarrier_arrive(
        at, 1, bytes, gradverify_detail::ptx::MbarrierArrival::plain, file, line,
        sem != dot_sem::relaxed);
}
GRADVERIFY_SIMT_ACCESS std::uint64_t mbarrier_arrive_no_complete(std::uint64_t* at,
                                                                 std::uint32_t count,
                                                                 GRADVERIFY_SIMT_PLACE) {
    return gradverify_detail::ptx::gradverify_simt_mbarrier_arrive(
        at, count, 0, gradverify_detail::ptx::MbarrierArrival::no_complete, file, line);
}
template <dot_sem sem, dot_scope scope, dot_space space>
GRADVERIFY_SIMT_ACCESS void mbarrier_expect_tx(sem_t<sem>, scope_t<scope>, space_t<space>,
                                               std::uint64_t* at, std::uint32_t bytes,
                                               GRADVERIFY_SIMT_PLACE) {
    gradverify_detail::ptx::gradverify_simt_mbarrier_expect(at, bytes, file, line);
}

// Waits by a state and by a parity, each with and without an order, and a time that is not kept.
#define GRADVERIFY_SIMT_WAIT(NAME, T, CALL, SUSPENDS)                                            \
    GRADVERIFY_SIMT_ACCESS bool NAME(std::uint64_t* at, const T& phase, GRADVERIFY_SIMT_PLACE) { \
        return gradverify_detail::ptx::CALL(at, phase, file, line, true, SUSPENDS);              \
    }                                                                                            \
    template <dot_sem sem, dot_scope scope>                                                      \
    GRADVERIFY_SIMT_ACCESS bool NAME(sem_t<sem>, scope_t<scope>, std::uint64_t* at,              \
                                     const T& phase, GRADVERIFY_SIMT_PLACE) {                    \
        return gradverify_detail::ptx::CALL(at, phase, file, line, sem != dot_sem::relaxed,      \
                                            SUSPENDS);                                           \
    }
GRADVERIFY_SIMT_WAIT(mbarrier_test_wait, std::uint64_t, gradverify_simt_mbarrier_wait_state, false)
GRADVERIFY_SIMT_WAIT(mbarrier_try_wait, std::uint64_t, gradverify_simt_mbarrier_wait_state, true)
GRADVERIFY_SIMT_WAIT(mbarrier_test_wait_parity, std::uint32_t, gradverify_simt_mbarrier_wait, false)
GRADVERIFY_SIMT_WAIT(mbarrier_try_wait_parity, std::uint32_t, gradverify_simt_mbarrier_wait, true)
#undef GRADVERIFY_SIMT_WAIT

template <dot_space to_space, dot_space from_space>
GRADVERIFY_SIMT_ACCESS void cp_async_bulk(space_t<to_space>, space_t<from_space>, void* to,
                                          const void* from, std::uint32_t bytes,
                                          std::uint64_t* mbarrier, GRADVERIFY_SIMT_PLACE) {
    gradverify_detail::ptx::gradverify_simt_copy_bulk(to, from, bytes, mbarrier, file, line);
}
GRADVERIFY_SIMT_ACCESS void cp_async_bulk(space_cluster_t, space_global_t, void* to,
                                          const void* from, std::uint32_t bytes,
                                          std::uint64_t* mbarrier, const std::uint16_t& blocks,
                                          GRADVERIFY_SIMT_PLACE) {
    gradverify_detail::ptx::gradverify_simt_multicast_bulk(to, from, bytes, mbarrier, blocks, file,
                                                           line);
}
GRADVERIFY_SIMT_ACCESS void cp_async_bulk(space_global_t, space_shared_t, void* to,
                                          const void* from, std::uint32_t bytes,
                                          GRADVERIFY_SIMT_PLACE) {
    gradverify_detail::ptx::gradverify_simt_copy_bulk(to, from, bytes, nullptr, file, line);
}
inline void cp_async_bulk_commit_group() { gradverify_detail::ptx::gradverify_simt_bulk_commit(); }
template <int groups>
void cp_async_bulk_wait_group(n32_t<groups>) {
    gradverify_detail::ptx::gradverify_simt_bulk_wait(groups, false);
}
template <int groups>
void cp_async_bulk_wait_group_read(n32_t<groups>) {
    gradverify_detail::ptx::gradverify_simt_bulk_wait(groups, true);
}

template <std::size_t rank>
gradverify_detail::ptx::Coordinates gradverify_coordinates(const std::int32_t (&at)[rank]) {
    gradverify_detail::ptx::Coordinates coordinates{{}, rank, false};
    for (std::size_t i = 0; i < rank; ++i) coordinates.at[i] = at[i];
    return coordinates;
}
template <dot_space to_space, std::size_t rank>
GRADVERIFY_SIMT_ACCESS void cp_async_bulk_tensor(space_t<to_space>, space_global_t, void* to,
                                                 const void* map, const std::int32_t (&at)[rank],
                                                 std::uint64_t* mbarrier, GRADVERIFY_SIMT_PLACE) {
    gradverify_detail::ptx::gradverify_simt_tensor_load(to, map, gradverify_coordinates(at), {},
                                                        mbarrier, 0, file, line);
}
template <std::size_t rank>
GRADVERIFY_SIMT_ACCESS void cp_async_bulk_tensor(space_cluster_t, space_global_t, void* to,
                                                 const void* map, const std::int32_t (&at)[rank],
                                                 std::uint64_t* mbarrier,
                                                 const std::uint16_t& blocks,
                                                 GRADVERIFY_SIMT_PLACE) {
    gradverify_detail::ptx::gradverify_simt_tensor_load(to, map, gradverify_coordinates(at), {},
                                                        mbarrier, blocks, file, line);
}
template <std::size_t rank>
GRADVERIFY_SIMT_ACCESS void cp_async_bulk_tensor(space_global_t, space_shared_t, const void* map,
                                                 const std::int32_t (&at)[rank], const void* from,
                                                 GRADVERIFY_SIMT_PLACE) {
    gradverify_detail::ptx::gradverify_simt_tensor_store(map, gradverify_coordinates(at), from,
                                                         file, line);
}

GRADVERIFY_SIMT_ACCESS void fence_proxy_async() { gradverify_detail::ptx::fence_proxy_async(); }
template <dot_space space>
GRADVERIFY_SIMT_ACCESS void fence_proxy_async(space_t<space>) {
    using namespace gradverify_detail::ptx;
    fence_proxy<space == dot_space::global ? async_global : async_shared>();
}
inline void fence_mbarrier_init(sem_release_t, scope_cluster_t) { __threadfence(); }
template <dot_sem sem, dot_scope scope>
void fence(sem_t<sem>, scope_t<scope>) {
    gradverify::simt::unit::fence(scope == dot_scope::cta);
}

}  // namespace cuda::ptx
