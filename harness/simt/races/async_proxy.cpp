// SPDX-License-Identifier: Apache-2.0
// The asynchronous proxy for the race detector: what bulk copies read and write, mbarriers, and the
// fences between a thread's own writes and an operation that meets them (PTX ISA, 8.9 and 9.7.13).
#include <algorithm>

#include "gradverify_simt/ptx/bulk.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/detector.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

/// A key of HappensBefore that is the address of no memory, for each phase's parity.
std::uintptr_t place_of(std::uintptr_t mbarrier, bool phase) { return ~mbarrier - (phase ? 1 : 0); }

}  // namespace

void Detector::access_by_operation(const Request& request) {
    ++accesses_;
    resolve_pending();
    if (request.operation == 0) return forget_accesses(request);
    check_pages(request);
}

/// After more operations than have numbers, what one more does is taken to be right.
void Detector::forget_accesses(const Request& request) {
    for_each_cell(request.address, request.end(), [&](std::uintptr_t at, unsigned bytes) {
        const ShadowPage& page = shadow_.page_of(at);
        if (!page.is_checked()) return;
        Cell& cell = page.cells[Shadow::cell_index(at)];
        cell.read = cell.earlier_read = {};
        if (!request.writes) return;
        Access none;
        none.bytes = bytes & 0xfu;
        remember_write(page, cell, none);
    });
}

void Detector::access_mbarrier(std::uintptr_t mbarrier, const void* pc, bool makes) {
    resolve_pending();
    if (makes) {
        operations_.forget_phases(mbarrier);
        mbarriers_[mbarrier] = access_now(pc);
    } else {
        check_made(mbarrier, pc);
    }
    check_pages({.address = mbarrier,
                 .bytes = sizeof(std::uint64_t),
                 .pc = pc,
                 .reads = !makes,
                 .writes = true,
                 .is_atomic = !makes});
}

/// The making is kept apart, as each use is a later access.
void Detector::check_made(std::uintptr_t mbarrier, const void* pc) {
    const unsigned rank = unit::state.thread.rank;
    const auto made = mbarriers_.find(mbarrier);
    if (made == mbarriers_.end() || happens_before_.is_ordered(made->second, rank)) return;
    const std::string there = line_of(std::uint64_t{made->second.pc});
    const std::string here = line_of(std::uint64_t{number(pc)});
    findings_.add({FindingKind::race, here, there}, [&] {
        return "data race on " + memory_text(mbarrier, MemoryKind::shared) +
               " in shared memory: " + thread_text(rank) + " uses the mbarrier at " + here + ", " +
               thread_text(made->second.rank) + " makes it at " + there +
               ", and nothing orders these" + where();
    });
}

void Detector::arrive_at_mbarrier(std::uintptr_t mbarrier, bool phase, bool releases) {
    const unsigned rank = unit::state.thread.rank;
    resolve_pending();
    // Of whatever scope, as kernels arrive at other blocks' by the narrowest, which is the default.
    if (releases) happens_before_.fence(rank, unit::state.cluster_size == 1);
    happens_before_.synchronise(place_of(mbarrier, phase), rank, {.reads = false, .writes = true});
}

void Detector::fence(bool is_of_block) {
    const unsigned rank = unit::state.thread.rank;
    happens_before_.fence(rank, is_of_block);
    if (relaxed_waits_.empty()) return;
    std::erase_if(relaxed_waits_, [&](const RelaxedWait& wait) {
        if (wait.thread != thread_of_cluster()) return false;
        wait_for_phase(wait.mbarrier, wait.phase, true);
        return true;
    });
}

void Detector::wait_for_phase(std::uintptr_t mbarrier, bool phase, bool acquires) {
    const unsigned rank = unit::state.thread.rank;
    if (!acquires) return relaxed_waits_.push_back({thread_of_cluster(), mbarrier, phase});
    happens_before_.synchronise(place_of(mbarrier, phase), rank, {.reads = true, .writes = false});
    operations_.wait_for_phase(mbarrier, rank);
}

bool Detector::is_operation_before(const Access& earlier, const CellAccess& access,
                                   bool earlier_writes) {
    if (access.now.is_async && access.now.operation() == earlier.operation()) return true;
    return any_asks(access, [&](unsigned rank) {
        return operations_.is_before(earlier.operation(), earlier_writes, rank);
    });
}

void Detector::check_proxies(const Cell& cell, const CellAccess& access) {
    const Access &now = access.now, &write = cell.write;
    if (!now.is_async || access.is_of_map || write.is_async ||
        cell.proxy_state == Cell::by_cp_async || (write.bytes & access.mask) == 0 ||
        !happens_before_.is_of_running_block(write) || any_asks(access, [&](unsigned rank) {
            return happens_before_.is_proxy_fenced(
                write, rank,
                access.page.kind == MemoryKind::shared ? ptx::async_shared : ptx::async_global);
        }))
        return;
    const std::string there = line_of(std::uint64_t{write.pc}),
                      here = line_of(std::uint64_t{now.pc});
    findings_.add({FindingKind::race, here, there}, [&] {
        return thread_text(now.rank) + "'s " + operation_text(now) + " at " + here + " meets " +
               memory_text(access.address, access.page.kind) + ", which " +
               thread_text(write.rank) + " writes at " + there +
               ", with no fence.proxy.async between them" + where();
    });
}

template <class Visit>
void Detector::for_each_written_of_map(std::uintptr_t map, Visit visit) {
    constexpr std::uintptr_t map_bytes = 128;
    for_each_cell(map, map + map_bytes, [&](std::uintptr_t at, unsigned) {
        const ShadowPage& page = shadow_.page_of(at);
        // Others are a kernel's parameters, or constant.
        if (page.kind != MemoryKind::global) return;
        Cell& cell = page.cells[Shadow::cell_index(at)];
        if (cell.write.segment >= since(page) && happens_before_.is_of_running_block(cell.write))
            visit(cell);
    });
}

void Detector::acquire_tensor_map(std::uintptr_t map) {
    resolve_pending();
    const unsigned rank = unit::state.thread.rank;
    std::vector<Access>& acquires = map_acquires_[map];
    for_each_written_of_map(map, [&](Cell& cell) {
        if (cell.proxy_state == Cell::is_acquired_map ||
            !happens_before_.is_proxy_fenced(cell.write, rank, ptx::tensor_maps))
            return;
        if (cell.proxy_state == 0) acquires.clear();
        cell.proxy_state = Cell::is_acquired_map;
    });
    const Access now = access_now(nullptr);
    // A thread's first is before what others may have learnt of it.
    if (std::ranges::none_of(acquires, [&](const Access& fence) {
            return fence.rank == now.rank && fence.block == now.block;
        }))
        acquires.push_back(now);
}

void Detector::read_tensor_map(const Request& request) {
    if (shadow_.page_of(request.address).kind != MemoryKind::global) return;
    access_by_operation(request);
    const unsigned rank = unit::state.thread.rank;
    const auto acquires = map_acquires_.find(request.address);
    const bool is_acquired = acquires != map_acquires_.end() &&
                             std::ranges::any_of(acquires->second, [&](const Access& fence) {
                                 return happens_before_.is_ordered(fence, rank);
                             });
    for_each_written_of_map(request.address, [&](const Cell& cell) {
        if (is_acquired && cell.proxy_state == Cell::is_acquired_map) return;
        const std::string there = line_of(std::uint64_t{cell.write.pc});
        const std::string here = line_of(std::uint64_t{number(request.pc)});
        findings_.add({FindingKind::race, here, there}, [&] {
            return thread_text(rank) + "'s asynchronous copy at " + here +
                   " reads a tensor map that " + thread_text(cell.write.rank) + " writes at " +
                   there +
                   ", without fence.proxy.tensormap::generic.release after the write and .acquire "
                   "before the copy" +
                   where();
        });
    });
}

/// Keeps the reads of operations, which a barrier alone doesn't order. What orders those of other
/// clusters is not asked for here, as it takes long.
void Detector::remember_async_read(const CellAccess& access) {
    Cell& cell = access.page.cells[Shadow::cell_index(access.address)];
    const Access& now = access.now;
    const auto is_over = [&](const Access& read) {
        return read.segment < since(access.page) ||
               (read.is_async && read.segment >= happens_before_.cluster_first() &&
                is_operation_before(read, access, false));
    };
    const bool is_same_thread = !now.is_async && !cell.read.is_async &&
                                cell.read.rank == now.rank && cell.read.segment == now.segment;
    if (!is_same_thread && !is_over(cell.read) &&
        (!cell.earlier_read.is_async || is_over(cell.earlier_read)))
        cell.earlier_read = cell.read;
    cell.read = now;
    mark_async(access);
}

/// Cells with accesses of operations are looked at closely.
void Detector::mark_async(const CellAccess& access) {
    const std::size_t index = Shadow::cell_index(access.address);
    const Cell& cell = access.page.cells[index];
    std::uint8_t& marks = access.page.forbidden[index];
    const auto counts = [&](const Access& one) {
        return one.is_async && one.segment >= since(access.page);
    };
    const bool any = counts(cell.write) || counts(cell.read) || counts(cell.earlier_read);
    if (any)
        marks = static_cast<std::uint8_t>(marks | 0xfu * in_flight_bit);
    else if (in_flight_.empty())
        marks = static_cast<std::uint8_t>(marks & (in_flight_bit - 1));
}

void Detector::outlives_block(const void* pc, unsigned rank) {
    const std::string here = line_of(std::uint64_t{reinterpret_cast<std::uintptr_t>(pc)});
    findings_.add({FindingKind::race, here, "end"}, [&] {
        return thread_text(rank) + "'s asynchronous copy at " + here +
               " may still use shared memory when its block has ended: nobody has waited for it" +
               where();
    });
}

}  // namespace gradverify::simt
