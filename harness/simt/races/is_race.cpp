// SPDX-License-Identifier: Apache-2.0
// Decides whether an access races with an earlier one, is out of bounds, or reads unwritten memory.
// Accesses are reported before they happen, so only the next report shows what a write changed.
#include <algorithm>

#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/detector.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

// A copy of a structure also copies its padding, which nobody writes: in a read wider than any
// scalar one written byte in each chunk is enough.
constexpr std::size_t widest_scalar_bytes = 8;
constexpr std::size_t chunk_bytes = 16;

std::uint32_t load(std::uintptr_t address) {
    std::uint32_t value = 0;
    std::memcpy(&value, pointer_to(address), sizeof value);
    return value;
}

std::uint32_t bits_of(unsigned byte_mask) {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < cell_bytes; ++i) bits |= (byte_mask >> i & 1u) * (0xffu << 8 * i);
    return bits;
}

bool is_strong(const Access& access) { return access.is_atomic || access.is_volatile; }

}  // namespace

void Detector::access(const Request& request) {
    ++accesses_;
    maybe_give_way();
    resolve_pending();
    if (request.is_atomic || request.is_volatile) {
        happens_before_.synchronise(request.address, unit::state.thread.rank,
                                    {.reads = request.reads, .writes = request.writes});
    }
    check_pages(request);
}

void Detector::check_pages(const Request& request) {
    Request part = request;
    while (part.address < request.end()) {
        const std::uintptr_t page_end = (part.address | (shadow_page_bytes - 1)) + 1;
        part.bytes = std::min(request.end(), page_end) - part.address;
        ShadowPage& page = shadow_.page_of(part.address);
        if (page.is_checked()) [[likely]] {
            check_cells(page, part);
        } else if (page.kind != MemoryKind::private_to) {
            return report_foreign(page, part);
        } else if (watches_registers_) {
            access_registers(page, part);
        }
        part.address = page_end;
    }
}

void Detector::check_cells(ShadowPage& page, const Request& request) {
    check_forbidden(page, request);
    check_in_flight(page, request);
    if (request.reads && page.kind == MemoryKind::shared && !shared_is_restored_)
        check_written(page, request);
    Access now = access_now(request.pc);
    now.is_atomic = request.is_atomic;
    now.is_volatile = request.is_volatile;
    now.is_of_block = request.is_of_block;
    if (request.operation != 0) now.set_operation(request.operation);
    if (request.warp >= 0) now.rank = static_cast<unsigned>(request.warp) * warp_lanes & 1023u;
    for_each_cell(request.address, request.end(), [&](std::uintptr_t cell, unsigned bytes) {
        now.bytes = bytes & 0xfu;
        const CellAccess access{
            page, cell, bytes, now, request.warp < 0 ? 1 : warp_lanes, request.is_of_map};
        if (request.writes) return write_cell(access);
        read_cell(access);
    });
}

void Detector::check_forbidden(const ShadowPage& page, const Request& request) {
    std::uintptr_t first = 0;
    for_each_cell(request.address, request.end(), [&](std::uintptr_t cell, unsigned bytes) {
        const unsigned forbidden = page.forbidden[Shadow::cell_index(cell)] & bytes;
        if (forbidden != 0 && first == 0)
            first = cell + static_cast<unsigned>(std::countr_zero(forbidden));
    });
    if (first == 0) return;
    // Memory is given in whole words, so one that ends in a tensor may be updated as a whole, as
    // 16-bit atomics are made of atomicCAS; that it keeps the other bytes is the guards' to see.
    const unsigned forbidden = page.forbidden[Shadow::cell_index(request.address)] & 0xfu;
    const bool is_odd_end = page.kind == MemoryKind::global && request.bytes == cell_bytes &&
                            request.address % cell_bytes == 0 && forbidden != 0xfu;
    if (is_odd_end && request.is_atomic) return;
    if (is_odd_end && !request.writes) return defer_read(request, first);
    report_out_of_bounds(page.kind, request, first);
}

void Detector::check_written(const ShadowPage& page, const Request& request) {
    const std::size_t chunk =
        request.bytes <= widest_scalar_bytes ? std::size_t{cell_bytes} : chunk_bytes;
    for (std::uintptr_t at = request.address; at < request.end();) {
        const std::uintptr_t chunk_end = std::min(request.end(), at / chunk * chunk + chunk);
        bool any = false;
        for (std::uintptr_t byte = at; byte < chunk_end && !any; ++byte) {
            const std::size_t index = Shadow::cell_index(byte);
            const Cell& cell = page.cells[index];
            // Bytes out of bounds have been reported already.
            any = (page.forbidden[index] >> byte % cell_bytes & 1u) != 0 ||
                  (cell.written_by_block == happens_before_.cluster_first() &&
                   (cell.written >> byte % cell_bytes & 1u) != 0);
        }
        if (!any) return report_unwritten(request, at);
        at = chunk_end;
    }
}

bool Detector::is_race(const Access& earlier, const CellAccess& access, bool earlier_writes) {
    const Access& now = access.now;
    if (earlier.segment < since(access.page) || (earlier.bytes & access.mask) == 0) return false;
    // Lanes of a warp that pass values by volatile variables alone would have to run in step.
    const bool in_step = access.page.kind == MemoryKind::shared && earlier.is_volatile &&
                         now.is_volatile && earlier.rank / warp_lanes == now.rank / warp_lanes;
    const bool is_too_narrow = access.page.kind == MemoryKind::global &&
                               (earlier.is_of_block || now.is_of_block) &&
                               !happens_before_.is_of_running_block(earlier);
    if (is_strong(earlier) && is_strong(now) && !in_step && !is_too_narrow) return false;
    if (earlier.segment < happens_before_.launch_first()) return works_.is_beside(earlier);
    if (earlier.is_async) return !is_operation_before(earlier, access, earlier_writes);
    return !any_asks(access,
                     [&](unsigned rank) { return happens_before_.is_ordered(earlier, rank); });
}

void Detector::read_cell(const CellAccess& access) {
    Cell& cell = access.page.cells[Shadow::cell_index(access.address)];
    const Access& now = access.now;
    const bool wrote_it_too = (cell.same_value_writers >> now.rank % 32 & 1u) != 0;
    if (!wrote_it_too && is_race(cell.write, access, true)) {
        report_race({cell.write, now, true, false, access.address, access.page.kind});
    } else {
        check_proxies(cell, access);
    }
    if (now.is_async || cell.read.is_async || cell.earlier_read.is_async)
        remember_async_read(access);
    else
        remember_read(access.page, cell, now);
}

void Detector::note_guesses(const Cell& cell, const Access& atomic) {
    for (const Access* read : {&cell.read, &cell.earlier_read}) {
        if (read->rank == atomic.rank && read->segment >= happens_before_.block_first() &&
            !read->is_atomic)
            guess_pcs_.insert(read->pc);
    }
}

void Detector::write_cell(const CellAccess& access) {
    Cell& cell = access.page.cells[Shadow::cell_index(access.address)];
    const Access& now = access.now;
    if (now.is_atomic) note_guesses(cell, now);
    if (is_race(cell.write, access, true)) {
        const Conflict conflict{cell.write, now, true, true, access.address, access.page.kind};
        // What a copy writes can't be told from memory.
        if (now.is_async || cell.write.is_async)
            report_race(conflict);
        else
            pending_.push_back({conflict, &cell, load(access.address)});
    } else {
        check_proxies(cell, access);
        cell.same_value_writers = 0;
        for (const Access* read : {&cell.read, &cell.earlier_read}) {
            if (!is_race(*read, access, false)) continue;
            report_race({*read, now, false, true, access.address, access.page.kind});
        }
    }
    // Updates beside each other are right; who follows one of them alone must meet the other.
    const bool stays = access.page.kind == MemoryKind::global && is_strong(now) &&
                       is_strong(cell.write) && works_.is_beside(cell.write);
    if (!stays) remember_write(access.page, cell, now);
    mark_async(access);
}

void Detector::resolve_pending_now() {
    for (const PendingWrite& pending : pending_) {
        const Conflict& conflict = pending.conflict;
        const std::uint32_t changed = (load(conflict.address) ^ pending.old_value) &
                                      bits_of(conflict.earlier.bytes & conflict.now.bytes);
        if (changed != 0) {
            pending.cell->same_value_writers = 0;
            report_race(conflict);
            continue;
        }
        pending.cell->same_value_writers |=
            1u << conflict.earlier.rank % 32 | 1u << conflict.now.rank % 32;
    }
    pending_.clear();
}

}  // namespace gradverify::simt
