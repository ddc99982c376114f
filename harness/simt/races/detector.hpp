// SPDX-License-Identifier: Apache-2.0
// Checks the accesses, barriers and warp primitives of the checked variant's kernels. One for
// all OS threads. May have threads give way, and ends a launch that would end the process.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gradverify_simt/state.hpp"
#include "harness/simt/execute/watcher.hpp"
#include "harness/simt/races/async_operations.hpp"
#include "harness/simt/races/findings.hpp"
#include "harness/simt/races/happens_before.hpp"
#include "harness/simt/races/shadow.hpp"
#include "harness/simt/races/works.hpp"
#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

class Detector;
/// `watching`, for the path of one plain access.
GRADVERIFY_SIMT_STATIC_TLS extern constinit thread_local Detector* detecting;

class Detector final : public Watcher {
  public:
    Detector();

    // The executor's side, and ptx/'s.
    void begin_launch(const Launch& launch) override;
    std::uint64_t end_launch() override;
    void begin_block(bool begins_cluster) override;
    void leave_cluster_block() override;
    void resume_cluster_block() override;
    void end_cluster_block() override;
    void arrive_at_cluster_barrier(bool releases) override;
    void wait_at_cluster_barrier() override;
    void cluster_barrier_released() override;
    void leave_cluster_barrier() override;
    void resume_block() override;
    void barrier_released() override;
    void warp_synchronised(std::uint32_t lanes) override;
    void check_mask(const WarpMask& warp) override;
    void arrive_at_named_barrier(unsigned id) override;
    void leave_named_barrier(unsigned id, unsigned rank) override;
    void shuffle_from_absent_lane(unsigned source_lane, unit::Place place) override;
    void access(const Request& request) override;
    void arrive_at_barrier(unit::Place place) override;
    void place_shared(const void* address, std::size_t bytes, std::size_t element_bytes,
                      const char* function) override;
    void begin_async(const AsyncWrite& write) override;
    void end_async(const AsyncWrite& write) override;
    void hand_over_async(const AsyncWrite& write, unsigned operation) override;
    void forget_async() override;
    void begin_product(const std::shared_ptr<const AsyncProduct>& product) override;
    void wait_for_products(const std::vector<std::shared_ptr<const AsyncProduct>>& products,
                           unsigned warp) override;
    void end_product(const std::shared_ptr<const AsyncProduct>& product) override;
    void fence_registers(unsigned warpgroup) override;
    unsigned begin_operation(unsigned earlier) override { return operations_.begin(earlier); }
    unsigned begin_operation_of_product() override { return operations_.begin_product(); }
    void access_by_operation(const Request& request) override;
    void read_tensor_map(const Request& request) override;
    void access_mbarrier(std::uintptr_t mbarrier, const void* pc, bool makes) override;
    void arrive_at_mbarrier(std::uintptr_t mbarrier, bool phase, bool releases) override;
    void end_phase(std::uintptr_t mbarrier) override { operations_.end_phase(mbarrier); }
    void wait_for_phase(std::uintptr_t mbarrier, bool phase, bool acquires) override;
    void complete_in_phase(unsigned operation, std::uintptr_t mbarrier) override {
        operations_.complete_in_phase(operation, mbarrier);
    }
    void wait_for_operation(unsigned operation, bool reads_only) override {
        operations_.wait_for(operation, unit::state.thread.rank, reads_only);
    }
    bool is_waited_for(unsigned operation) const override {
        return operations_.is_waited_for(operation);
    }
    void outlives_block(const void* pc, unsigned rank) override;
    void fence_proxy(unsigned accesses) override {
        happens_before_.fence_proxy(unit::state.thread.rank, accesses);
    }
    void acquire_tensor_map(std::uintptr_t map) override;
    void fence(bool is_of_block) override;
    void launch_dependents() override {
        resolve_pending();
        works_.launch_dependents();
    }
    void wait_for_grids() override {
        resolve_pending();
        works_.wait_for_grids();
    }
    /// The same for the most frequent accesses.
    template <unsigned bytes, bool writes>
    void plain_access(std::uintptr_t address, const void* pc);

    /// What an access by the asynchronous proxy is of.
    static std::string operation_text(const Access& access);

    // The harness's side.
    std::vector<Finding> take_findings() {
        works_.end_call();
        return findings_.take();
    }

  private:
    struct Conflict {
        Access earlier, now;
        bool earlier_writes, now_writes;
        std::uintptr_t address;
        MemoryKind kind;
    };
    /// A write over another's: an alarm only if it changes the value.
    struct PendingWrite {
        Conflict conflict;
        Cell* cell;
        std::uint32_t old_value;
    };
    /// A race of a plain read with an atomic update, or a read of a word that ends in a tensor,
    /// reported at the launch's end unless the read was a guess for an atomicCAS, which checks it.
    struct DeferredRace {
        std::string here, there, text;
        std::uint64_t reader_pc;
        FindingKind kind = FindingKind::race;
    };
    struct CellAccess {
        ShadowPage& page;
        std::uintptr_t address;  ///< of the cell
        unsigned mask;
        Access now;
        unsigned ranks = 1;  ///< threads from `now` on that ask for it together
        bool is_of_map = false;
    };

    /// Whether it holds for one of the threads that ask for an access.
    template <class Holds>
    static bool any_asks(const CellAccess& access, Holds holds) {
        unsigned i = 0;
        while (i < access.ranks && !holds(access.now.rank + i)) ++i;
        return i < access.ranks;
    }
    void maybe_give_way() {
        if (accesses_left_ != 0 && --accesses_left_ == 0) [[unlikely]]
            give_way();
    }
    void give_way();
    void draw_accesses_left();
    void resolve_pending() {
        if (!pending_.empty()) [[unlikely]]
            resolve_pending_now();
    }
    void resolve_pending_now();
    void classify(ShadowPage& page);
    void classify_global(ShadowPage& page, const DeviceAllocation& memory);

    /// Whether a plain access is in cells of its own size, and nothing but an access is to be
    /// noted.
    template <unsigned bytes>
    bool is_simple(const ShadowPage& page, std::uintptr_t address) const {
        return page.is_checked() && accesses_left_ == 0 && pending_.empty() &&
               (bytes < cell_bytes ? address % cell_bytes + bytes <= cell_bytes
                                   : address % cell_bytes == 0 &&
                                         address % shadow_page_bytes + bytes <= shadow_page_bytes);
    }
    /// Whether it is clear at once that an earlier access does not race with the running thread's.
    bool is_clearly_ordered(const Access& earlier, std::uint32_t since, unsigned rank) const {
        return earlier.segment < since || happens_before_.is_clearly_ordered(earlier, rank);
    }
    /// Whether it is clear at once that nothing is wrong with an access of these bytes of a cell.
    template <bool writes>
    bool is_clearly_right(const ShadowPage& page, std::size_t index, unsigned mask) const {
        const Cell& cell = page.cells[index];
        const std::uint32_t first = since(page);
        const unsigned rank = unit::state.thread.rank;
        if ((page.forbidden[index] & (mask | mask * in_flight_bit)) != 0 ||
            !is_clearly_ordered(cell.write, first, rank))
            return false;
        if constexpr (writes)
            return is_clearly_ordered(cell.read, first, rank) &&
                   is_clearly_ordered(cell.earlier_read, first, rank);
        return page.kind != MemoryKind::shared || shared_is_restored_ ||
               (cell.written_by_block == happens_before_.cluster_first() &&
                (cell.written & mask) != 0);
    }
    void remember_write(const ShadowPage& page, Cell& cell, const Access& now) const {
        if (page.kind == MemoryKind::shared) {
            if (cell.written_by_block != happens_before_.cluster_first()) {
                cell.written_by_block = happens_before_.cluster_first();
                cell.written = 0;
            }
            cell.written = static_cast<std::uint8_t>(cell.written | now.bytes);
        }
        cell.write = now;
        cell.proxy_state = 0;
    }
    void remember_read(const ShadowPage& page, Cell& cell, const Access& now) const {
        if (cell.read.segment != now.segment || cell.read.rank != now.rank) {
            // The read of a work that is beside this one must be met by all that follow.
            if (!works_.may_be_beside(cell.earlier_read) || page.kind != MemoryKind::global)
                cell.earlier_read = cell.read;
        } else if (cell.read.clock == now.clock && cell.read.fences == now.fences &&
                   cell.read.pc == now.pc) {
            cell.read.bytes |= now.bytes;
            return;
        }
        cell.read = now;
    }
    Access access_now(const void* pc) const {
        Access now = happens_before_.access_of(unit::state.thread.rank);
        now.pc = reinterpret_cast<std::uintptr_t>(pc) & 0xffffffffffffu;
        return now;
    }

    void check_cells(ShadowPage& page, const Request& request);
    void check_forbidden(const ShadowPage& page, const Request& request);
    void check_in_flight(const ShadowPage& page, const Request& request);
    /// A place that a copy in flight writes, or reads.
    struct InFlight {
        std::uintptr_t begin;
        std::size_t bytes;
        bool is_source;
        AsyncWrite copy;
    };
    void report_in_flight(const InFlight& place, const Request& request, MemoryKind kind);
    void add_in_flight(const InFlight& place);
    void remove_in_flight(const InFlight& place);
    void remove_in_flight(const AsyncWrite& write);
    void mark_in_flight(const InFlight& place, bool in_flight);
    template <class Function>
    void for_each_in_flight(std::uintptr_t begin, std::uintptr_t end, Function function) const;
    void access_as(const AsyncWrite& write);
    void check_written(const ShadowPage& page, const Request& request);
    // Registers (registers.cpp).
    void check_registers(const AsyncProduct& product);
    void release_registers(const AsyncProduct& product, unsigned warp);
    void mark_registers(const std::vector<std::uintptr_t>& places, unsigned mark, bool set);
    void access_registers(ShadowPage& page, const Request& request);
    void report_register_in_flight(std::uintptr_t cell, const Request& request);
    void forget_products();
    void check_pages(const Request& request);
    void check_made(std::uintptr_t mbarrier, const void* pc);
    /// `visit` for the cells of a tensor map that a thread of the running block has written.
    template <class Visit>
    void for_each_written_of_map(std::uintptr_t map, Visit visit);
    bool is_operation_before(const Access& earlier, const CellAccess& access, bool earlier_writes);
    void forget_accesses(const Request& request);
    void check_proxies(const Cell& cell, const CellAccess& access);
    void remember_async_read(const CellAccess& access);
    void mark_async(const CellAccess& access);
    void read_cell(const CellAccess& access);
    void write_cell(const CellAccess& access);
    bool is_race(const Access& earlier, const CellAccess& access, bool earlier_writes);
    std::uint32_t since(const ShadowPage& page) const {
        return page.kind == MemoryKind::shared ? happens_before_.cluster_first()
                                               : works_.first_unordered();
    }

    void report_race(const Conflict& conflict);
    std::string race_text(const Conflict& conflict, const std::string& here,
                          const std::string& there) const;
    std::string works_text(const Conflict& conflict) const;
    void defer_race(const Conflict& conflict);
    void defer_read(const Request& request, std::uintptr_t at);
    void report_deferred_races();
    /// Notes the cell's reads by the thread that now accesses it atomically.
    void note_guesses(const Cell& cell, const Access& atomic);
    std::string access_text(const Request& request, const std::string& what) const;
    void report_access(FindingKind kind, const Request& request, const std::string& what);
    void report_out_of_bounds(MemoryKind kind, const Request& request, std::uintptr_t at);
    void report_unwritten(const Request& request, std::uintptr_t at);
    void report_foreign(const ShadowPage& page, const Request& request);
    void report_foreign_memory(const ShadowPage& page, const Request& request);
    void report_at(FindingKind kind, unit::Place place, const std::string& text);
    void allow_shared(unsigned rank, bool allowed);
    /// The rank of the block whose shared memory this is.
    unsigned rank_of(std::uintptr_t address) const;
    std::string memory_text(std::uintptr_t address, MemoryKind kind) const;
    std::uintptr_t place_of_named_barrier(unsigned id) const;
    std::string where() const;
    static unsigned thread_of_cluster() {
        return unit::state.cluster_rank * 1024 + unit::state.thread.rank;
    }
    static std::string thread_text(unsigned rank);

    Shadow shadow_;
    HappensBefore happens_before_;
    AsyncOperations operations_{happens_before_};
    std::unordered_map<std::uintptr_t, Access> mbarriers_;  ///< of the block, and who made each
    Findings findings_;
    Works works_{shadow_, happens_before_, findings_};
    std::vector<NamedBuffer> shared_variables_;  ///< of the launch
    std::vector<PendingWrite> pending_;
    std::multimap<std::uintptr_t, InFlight> in_flight_;  ///< by place
    std::uintptr_t longest_in_flight_ = 0;               ///< bytes
    struct ProductInFlight {
        std::shared_ptr<const AsyncProduct> product;
        unsigned warps;  ///< that have not waited for it, a bit each
    };
    std::vector<ProductInFlight> products_;
    /// Threads that have passed the fence for a tensor map, since it was last written.
    std::unordered_map<std::uintptr_t, std::vector<Access>> map_acquires_;
    struct RelaxedWait {
        unsigned thread;  ///< of the cluster
        std::uintptr_t mbarrier;
        bool phase;
    };
    std::vector<RelaxedWait> relaxed_waits_;  ///< until their threads' next fences
    bool watches_registers_ = false;          ///< since the launch's first wgmma.fence
    std::uint32_t register_time_ = 0;
    struct RegisterFences {
        std::uint32_t block_began_at = 0;
        std::array<std::uint32_t, 8> at{};  ///< by warpgroup
    };
    std::array<RegisterFences, unit::max_cluster_size>
        register_fences_{};  ///< by rank in a cluster
    std::array<std::shared_ptr<const HappensBefore::Saved>, unit::max_cluster_size> left_blocks_;
    unsigned running_ranks_ =
        0;  ///< blocks of the cluster that have begun and not ended, a bit each
    /// The cluster's barrier is one in time where all threads arrive with .release and wait before
    /// their next access; else each thread's arrival is a release, and its wait an acquire.
    struct ClusterBarrier {
        unsigned arrivals = 0, waits = 0;  ///< waits: those that no access came before
        bool all_release = true;
        unsigned last_thread = 0;  ///< that arrived, and how many accesses there had been
        std::uint64_t accesses = 0;
    };
    ClusterBarrier cluster_barrier_;
    bool cluster_barrier_is_split_ = false,
         has_split_ = false;  ///< the last one, any of the launch
    std::vector<DeferredRace> deferred_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> deferred_pcs_;
    std::set<std::uint64_t> guess_pcs_;  ///< of reads that an atomic of their thread followed
    std::uint64_t memory_generation_ = 0, executor_ = 0;  ///< of which kinds of pages are known

    Launch launch_;
    bool shared_is_restored_ = false;  ///< its writers are no longer known
    unit::Place first_arrival_{};
    unsigned first_arrival_rank_ = 0;
    std::uint64_t accesses_ = 0;
    std::uint64_t random_ = 0;
    std::uint32_t accesses_left_ = 0;
};

template <unsigned bytes, bool writes>
[[gnu::always_inline]] inline void Detector::plain_access(std::uintptr_t address, const void* pc) {
    ShadowPage& page = shadow_.page_of(address);
    if (page.kind == MemoryKind::private_to) {
        if (watches_registers_) [[unlikely]]
            access_registers(page, {address, bytes, pc, !writes, writes});
        return;
    }
    constexpr std::size_t cells = bytes < cell_bytes ? 1 : bytes / cell_bytes;
    constexpr unsigned bits = bytes < cell_bytes ? (1u << bytes) - 1u : 0xfu;
    const unsigned mask = bytes < cell_bytes ? bits << address % cell_bytes : bits;
    const std::size_t first = Shadow::cell_index(address);
    bool is_clear = is_simple<bytes>(page, address);
    for (std::size_t i = 0; i < cells && is_clear; ++i)
        is_clear = is_clearly_right<writes>(page, first + i, mask);
    if (!is_clear) [[unlikely]]
        return access({address, bytes, pc, !writes, writes});
    ++accesses_;
    Access now = access_now(pc);
    now.bytes = mask & 0xfu;
    for (std::size_t i = 0; i < cells; ++i) {
        Cell& cell = page.cells[first + i];
        if constexpr (writes) {
            cell.same_value_writers = 0;
            remember_write(page, cell, now);
        } else {
            remember_read(page, cell, now);
        }
    }
}

}  // namespace gradverify::simt
