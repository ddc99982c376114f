// SPDX-License-Identifier: Apache-2.0
// Who is told of a launch of the checked variant: what threads, copies and products do, which order
// they have, and how a block ends. The race detector is told; a plain access does not come by here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gradverify_simt/state.hpp"
#include "harness/simt/execute/shared_memory.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

/// A product that a warpgroup goes on without.
struct AsyncProduct {
    struct Read {
        std::uintptr_t begin, end;
        unsigned rank;  ///< of the first thread of the warp that reads
    };
    unsigned operation;   ///< of AsyncOperations
    unsigned first_rank;  ///< of the warpgroup
    const void* pc;
    std::vector<Read> reads;
    static constexpr unsigned warps = 4;
    /// By warp, the variables that stand for the registers of its accumulator, and of A.
    std::array<std::vector<std::uintptr_t>, warps> sums, factors;
};

class Watcher {
  public:
    /// An access as the compiled code reports it.
    struct Request {
        std::uintptr_t address;
        std::size_t bytes;
        const void* pc;
        bool reads, writes;
        bool is_atomic = false, is_volatile = false;
        bool is_of_block = false;  ///< an atomic's scope
        unsigned operation = 0;    ///< of the asynchronous proxy, by number; 0: the thread's own
        int warp = -1;             ///< all of whose lanes ask for it; -1: the running thread does
        bool is_of_map = false;    ///< a tensor map's, by its own proxy
        std::uintptr_t end() const { return address + bytes; }
    };
    struct Launch {
        std::vector<SharedArenas> arenas;  ///< by rank in the cluster
        const char* kernel = "";
        unit::Place place{};
        Schedule schedule;
        std::uint64_t number = 0;  ///< since the schedule was set
    };

    struct WarpMask {
        unit::WarpOp op;
        std::uint32_t mask, absent;  ///< absent: exited, or not in the block
        unit::Place place;
    };
    /// A copy that the thread goes on without: its place belongs to no thread until it is waited
    /// for.
    struct AsyncWrite {
        std::uintptr_t to, from;
        std::size_t bytes, source_bytes;
        const void* pc;
        unsigned rank;
    };
    virtual ~Watcher() = default;

    virtual void begin_launch(const Launch& launch) = 0;
    /// How many accesses the launch made.
    virtual std::uint64_t end_launch() = 0;
    virtual void begin_block(bool begins_cluster) = 0;
    // A block of a cluster is left for another, goes on, or ends before others.
    virtual void leave_cluster_block() = 0;
    virtual void resume_cluster_block() = 0;
    virtual void end_cluster_block() = 0;
    virtual void arrive_at_cluster_barrier(bool releases) = 0;
    /// It is not complete yet.
    virtual void wait_at_cluster_barrier() = 0;
    virtual void cluster_barrier_released() = 0;
    virtual void leave_cluster_barrier() = 0;
    /// The executor goes on with a block that it had left: earlier accesses no longer count.
    virtual void resume_block() = 0;
    virtual void barrier_released() = 0;
    virtual void warp_synchronised(std::uint32_t lanes) = 0;
    virtual void check_mask(const WarpMask& warp) = 0;
    virtual void arrive_at_named_barrier(unsigned id) = 0;
    /// All threads have come, and `rank` is one of those that wait.
    virtual void leave_named_barrier(unsigned id, unsigned rank) = 0;
    virtual void shuffle_from_absent_lane(unsigned source_lane, unit::Place place) = 0;

    // The compiled code's side.
    virtual void access(const Request& request) = 0;
    virtual void arrive_at_barrier(unit::Place place) = 0;
    virtual void place_shared(const void* address, std::size_t bytes, std::size_t element_bytes,
                              const char* function) = 0;
    virtual void begin_async(const AsyncWrite& write) = 0;
    /// The running thread has waited for it.
    virtual void end_async(const AsyncWrite& write) = 0;
    /// It ends when an operation does: cp.async.mbarrier.arrive.
    virtual void hand_over_async(const AsyncWrite& write, unsigned operation) = 0;
    /// No copy is in flight any more, as the block has ended.
    virtual void forget_async() = 0;
    /// The product's registers are its own until it ends.
    virtual void begin_product(const std::shared_ptr<const AsyncProduct>& product) = 0;
    /// One of the four warps of their warpgroup has waited for them.
    virtual void wait_for_products(const std::vector<std::shared_ptr<const AsyncProduct>>& products,
                                   unsigned warp) = 0;
    /// Nothing waits for it any more.
    virtual void end_product(const std::shared_ptr<const AsyncProduct>& product) = 0;
    /// wgmma.fence of a warpgroup.
    virtual void fence_registers(unsigned warpgroup) = 0;
    // The asynchronous proxy's operations: their numbers stand for them.
    /// What knows that it has ended, knows so of `earlier`.
    virtual unsigned begin_operation(unsigned earlier = 0) = 0;
    virtual unsigned begin_operation_of_product() = 0;
    virtual void access_by_operation(const Request& request) = 0;
    virtual void read_tensor_map(const Request& request) = 0;
    virtual void access_mbarrier(std::uintptr_t mbarrier, const void* pc, bool makes) = 0;
    virtual void arrive_at_mbarrier(std::uintptr_t mbarrier, bool phase, bool releases) = 0;
    virtual void end_phase(std::uintptr_t mbarrier) = 0;
    virtual void wait_for_phase(std::uintptr_t mbarrier, bool phase, bool acquires) = 0;
    virtual void complete_in_phase(unsigned operation, std::uintptr_t mbarrier) = 0;
    virtual void wait_for_operation(unsigned operation, bool reads_only) = 0;
    virtual bool is_waited_for(unsigned operation) const = 0;
    /// The block has ended while the operation may still read or write its shared memory.
    virtual void outlives_block(const void* pc, unsigned rank) = 0;
    /// Of the running thread, for kinds of accesses, a bit each: those of ptx::ProxyAccesses.
    virtual void fence_proxy(unsigned accesses) = 0;
    virtual void acquire_tensor_map(std::uintptr_t map) = 0;
    virtual void fence(bool is_of_block) = 0;
    /// griddepcontrol, of the running thread.
    virtual void launch_dependents() = 0;
    virtual void wait_for_grids() = 0;
};

/// Null unless a launch of the checked variant runs.
GRADVERIFY_SIMT_STATIC_TLS extern constinit thread_local Watcher* watching;
/// races/ has it.
Watcher& watcher_of_process();

}  // namespace gradverify::simt
