// SPDX-License-Identifier: Apache-2.0
// What the blocks of a cluster of four do together: each hands numbers of its lanes to its
// neighbour, or to all. Fences stand where a hand-over needs them.
#include "harness/simt/tests/ptx/conformance/blocks.hpp"
#include "harness/simt/tests/tensor_maps.hpp"

namespace conformance {
namespace {

constexpr u32 blocks_of_cluster = 4;

struct Member {
    u64 a;  ///< of this lane
    u32 lane, rank, next;
    u64 *own, *received;  ///< of each lane: its number, and what is handed to it
    std::uint64_t* mbarrier;
    u64* global;  ///< the numbers of all lanes of the block, and of all blocks
    u32 block;
    const CUtensorMap* map;  ///< of all numbers, sixteen in a box
    /// The neighbour's `received`, or its mbarrier.
    __device__ u32 of_next(const void* own_address) const {
        u32 address = 0;
        PTX_90("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(
                   shared_address(own_address)),
               "r"(next));
        return address;
    }
};
__device__ void meet() {
    PTX_90("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ void give(u32 to, u64 number) {
    PTX_90("st.shared::cluster.b64 [%0], %1;" ::"r"(to), "l"(number) : "memory");
}

template <class Form>
__global__ void apply_to_clusters(const Operands* operands, u64* results, u64* numbers, u32 count,
                                  const __grid_constant__ CUtensorMap map) {
    __shared__ __align__(128) u64 own[32], received[64];
    __shared__ std::uint64_t mbarrier;
    const u32 i = blockIdx.x * 32 + threadIdx.x, rank = blockIdx.x % blocks_of_cluster;
    const u64 a = operands[i % count].a;
    own[threadIdx.x] = a;
    received[threadIdx.x] = 0;
    numbers[i] = a;
    if (threadIdx.x == 0)
        PTX_90("mbarrier.init.shared::cta.b64 [%0], %1; fence.mbarrier_init.release.cluster;" ::"r"(
                   shared_address(&mbarrier)),
               "r"(Form::arrivals) : "memory");
    __threadfence();
    PTX_90("fence.proxy.async;" :: : "memory");
    meet();
    const u64 result =
        Form::apply({a, threadIdx.x, rank, (rank + 1) % blocks_of_cluster, own, received, &mbarrier,
                     numbers + blockIdx.x * 32, blockIdx.x, &map});
    meet();
    if (i < count) results[i] = result;
}

template <class Form>
std::vector<u64> run_clusters(const std::vector<Operands>& operands) {
    const std::size_t in_cluster = 32 * blocks_of_cluster;
    const std::size_t threads = (operands.size() + in_cluster - 1) / in_cluster * in_cluster;
    const Array<Operands> in(operands);
    const Array<u64> out(static_cast<int>(operands.size())), numbers(static_cast<int>(threads));
    CUtensorMap map;
    if (encode<u64>(map, numbers, CU_TENSOR_MAP_DATA_TYPE_UINT64, {{threads}, {16}, {1}},
                    CU_TENSOR_MAP_SWIZZLE_NONE) != CUDA_SUCCESS)
        throw std::runtime_error("a tensor map is refused");
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<u32>(threads / 32));
    config.blockDim = dim3(32);
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = blocks_of_cluster;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = 1;
    const Operands* const operands_in = in;
    u64 *const results = out, *const all_numbers = numbers;
    CHECK_CUDA(cudaLaunchKernelEx(&config, apply_to_clusters<Form>, operands_in, results,
                                  all_numbers, static_cast<u32>(operands.size()), map));
    return out.host();
}

/// The number of a lane of the block so many places on; or, of all blocks, their first eight.
template <u32 distance>
std::vector<u64> want_of_neighbour(const std::vector<Operands>& operands) {
    std::vector<u64> want;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::size_t lane = i % 32, rank = i / 32 % blocks_of_cluster,
                          first = i - rank * 32 - lane;
        const std::size_t from = (rank + distance) % blocks_of_cluster * 32 + lane;
        want.push_back(operands[(first + from) % operands.size()].a);
    }
    return want;
}
std::vector<u64> want_of_all(const std::vector<Operands>& operands) {
    std::vector<u64> want;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const std::size_t lane = i % 32, first = i / 128 * 128;
        want.push_back(operands[(first + lane / 8 * 32 + lane % 8) % operands.size()].a);
    }
    return want;
}

// clang-format off
#define CLUSTER_FORM(...) CLUSTER_FORM_NUMBERED(__COUNTER__, __VA_ARGS__)
#define CLUSTER_FORM_NUMBERED(N, TEXT, NEEDS, ARRIVALS, WANT_ALL, ...) \
    struct FORM_NAME(Form, N) { \
        static constexpr u32 arrivals = ARRIVALS; \
        static __device__ u64 apply(const Member& m) { __VA_ARGS__ } \
    }; \
    ADD_FORM(N, TEXT, "lll", 64, (&run_clusters<FORM_NAME(Form, N)>), nullptr, NEEDS, (WANT_ALL))
#define TAKES_FROM_NEXT &want_of_neighbour<1>
#define GETS_FROM_LAST &want_of_neighbour<3>

#define MAPA(TEXT, LOAD, C, T, AT) \
    CLUSTER_FORM(TEXT, sm_90, 1, TAKES_FROM_NEXT, \
        T there = 0; \
        u64 number = 0; \
        PTX_90(TEXT " %0, %1, %2;" : "=" C(there) : C(T(AT)), "r"(m.next)); \
        PTX_90(LOAD " %0, [%1];" : "=l"(number) : C(there) : "memory"); \
        return number;)
MAPA("mapa.shared::cluster.u32", "ld.shared::cluster.b64", "r", u32, shared_address(m.own + m.lane))
MAPA("mapa.shared::cluster.u64", "ld.shared::cluster.b64", "l", u64, shared_address(m.own + m.lane))
MAPA("mapa.u64", "ld.b64", "l", u64, m.own + m.lane)
// Of an address of the neighbour's.
#define GETCTARANK(TEXT, MAP, C, T, AT) \
    CLUSTER_FORM(TEXT, sm_90, 1, TAKES_FROM_NEXT, \
        u32 rank = 9; \
        u64 number = 0; \
        PTX_90("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(rank) : "r"(shared_address(m.own + m.lane)), "r"(m.next)); \
        PTX_90("ld.shared::cluster.b64 %0, [%1];" : "=l"(number) : "r"(rank) : "memory"); \
        T there = 0; \
        PTX_90(MAP " %0, %1, %2;" : "=" C(there) : C(T(AT)), "r"(m.next)); \
        PTX_90(TEXT " %0, %1;" : "=r"(rank) : C(there)); \
        return number + rank - m.next;)
GETCTARANK("getctarank.shared::cluster.u32", "mapa.shared::cluster.u32", "r", u32, shared_address(m.own + m.lane))
GETCTARANK("getctarank.shared::cluster.u64", "mapa.shared::cluster.u64", "l", u64, shared_address(m.own + m.lane))
GETCTARANK("getctarank.u64", "mapa.u64", "l", u64, m.own + m.lane)

#define HAND_OVER(TEXT, ARRIVE, WAIT) \
    CLUSTER_FORM(TEXT, sm_90, 1, GETS_FROM_LAST, \
        give(m.of_next(m.received + m.lane), m.a); \
        PTX_90(ARRIVE ";" ::: "memory"); \
        PTX_90(WAIT ";" ::: "memory"); \
        return m.received[m.lane];)
#define ARRIVE(TEXT, ...) HAND_OVER(TEXT, TEXT, "barrier.cluster.wait.acquire")
#define WAIT(TEXT, ...) HAND_OVER(TEXT, "barrier.cluster.arrive.release", TEXT)
EACH(ARRIVE, (), "barrier.cluster.arrive", "barrier.cluster.arrive.aligned", "barrier.cluster.arrive.release", "barrier.cluster.arrive.release.aligned")
HAND_OVER("barrier.cluster.arrive.relaxed", "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed", "barrier.cluster.wait.acquire")
HAND_OVER("barrier.cluster.arrive.relaxed.aligned", "fence.acq_rel.cluster; barrier.cluster.arrive.relaxed.aligned", "barrier.cluster.wait.acquire")
EACH(WAIT, (), "barrier.cluster.wait", "barrier.cluster.wait.aligned", "barrier.cluster.wait.acquire", "barrier.cluster.wait.acquire.aligned")
#define FENCE(TEXT, ...) HAND_OVER(TEXT, TEXT "; barrier.cluster.arrive.relaxed", "barrier.cluster.wait.acquire")
EACH(FENCE, (), "fence.acq_rel.cluster", "fence.acq_rel.gpu", "fence.acq_rel.sys", "fence.sc.cluster", "fence.sc.gpu", "fence.sc.sys",
     "membar.gl", "membar.sys")
// What needs no other block: from lane to lane.
#define FENCE_IN_BLOCK(TEXT, NEEDS, PTX, OPERANDS, ...) \
    LANE_FORM(TEXT, NEEDS, WANT(a), \
        u64* const numbers = reinterpret_cast<u64*>(block.shared); \
        numbers[31 - lane] = a; \
        PTX(TEXT OPERANDS ";" ::__VA_ARGS__ : "memory"); \
        __syncwarp(); \
        const u64 other = numbers[lane]; \
        return __shfl_sync(0xffffffff, other, 31 - int(lane));)
#define FENCE_ALONE(TEXT, ...) FENCE_IN_BLOCK(TEXT, sm_90, PTX_90, "", "r"(0))
EACH(FENCE_IN_BLOCK, (any, asm volatile, "", "r"(0)), "fence.acq_rel.cta", "fence.sc.cta", "membar.cta")
EACH(FENCE_ALONE, (), "fence.mbarrier_init.release.cluster", "fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.global",
     "fence.proxy.async.shared::cta", "fence.proxy.async.shared::cluster",
     "fence.proxy.tensormap::generic.release.cta", "fence.proxy.tensormap::generic.release.cluster",
     "fence.proxy.tensormap::generic.release.gpu", "fence.proxy.tensormap::generic.release.sys")
EACH(FENCE_IN_BLOCK, (sm_90, PTX_90, " [%0], 128", "l"(block.global)),
     "fence.proxy.tensormap::generic.acquire.cta", "fence.proxy.tensormap::generic.acquire.cluster",
     "fence.proxy.tensormap::generic.acquire.gpu", "fence.proxy.tensormap::generic.acquire.sys")
// Kernels in order: what this one depends on has ended, and none depends on it.
EACH(FENCE_ALONE, (), "griddepcontrol.wait", "griddepcontrol.launch_dependents")

// Arrivals at the neighbour's mbarrier.
#define ARRIVE_THERE(TEXT, BEFORE, COUNT) \
    CLUSTER_FORM(TEXT, sm_90, 32, GETS_FROM_LAST, \
        give(m.of_next(m.received + m.lane), m.a); \
        BEFORE; \
        PTX_90(TEXT " _, [%0]" COUNT ";" ::"r"(m.of_next(m.mbarrier)) : "memory"); \
        u32 has = 0; \
        for (int tries = 0; has == 0 && tries < 1 << 16; ++tries) \
            PTX_90("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" \
                   : "=r"(has) : "r"(shared_address(m.mbarrier)) : "memory"); \
        return has != 0 ? m.received[m.lane] : 0;)
EACH(ARRIVE_THERE, (, ""), "mbarrier.arrive.release.cluster.shared::cluster.b64", "mbarrier.arrive_drop.release.cluster.shared::cluster.b64")
EACH(ARRIVE_THERE, (PTX_90("fence.acq_rel.cluster;" ::: "memory"), ""),
     "mbarrier.arrive.relaxed.cluster.shared::cluster.b64", "mbarrier.arrive.shared::cluster.b64")
EACH(ARRIVE_THERE, (, ", 0"),
     "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64", "mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64")

// Copies into the neighbour's shared memory complete at its mbarrier; those for all at everyone's.
#define EXPECT(BYTES) \
        if (m.lane == 0) PTX_90("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], " #BYTES ";" ::"r"(shared_address(m.mbarrier)) : "memory"); \
        meet();
CLUSTER_FORM("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", sm_90, 1, GETS_FROM_LAST,
    EXPECT(256)
    if (m.lane == 0)
        PTX_90("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
               ::"r"(m.of_next(m.received)), "r"(shared_address(m.own)), "r"(m.of_next(m.mbarrier)) : "memory");
    return has_ended(m.mbarrier, 0) ? m.received[m.lane] : 0;)
CLUSTER_FORM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", sm_90a, 1, &want_of_all,
    EXPECT(512)
    if (m.lane == 0)
        PTX_90A("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;"
                ::"r"(shared_address(m.received + 16 * m.rank)), "l"(m.global), "r"(shared_address(m.mbarrier)), "h"(u16(15)) : "memory");
    return has_ended(m.mbarrier, 0) ? m.received[m.lane / 8 * 16 + m.lane % 8] : 0;)
CLUSTER_FORM("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster", sm_90a, 1, &want_of_all,
    EXPECT(512)
    if (m.lane == 0)
        PTX_90A("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2}], [%3], %4;"
                ::"r"(shared_address(m.received + 16 * m.rank)), "l"(m.map), "r"(m.block * 32), "r"(shared_address(m.mbarrier)), "h"(u16(15)) : "memory");
    return has_ended(m.mbarrier, 0) ? m.received[m.lane / 8 * 16 + m.lane % 8] : 0;)
// clang-format on

}  // namespace
}  // namespace conformance
