// SPDX-License-Identifier: Apache-2.0
// Reads of the async proxy: of a product by a warpgroup, or of a copy out of shared memory. Each is
// checked when it is asked for; no write may come before it has been waited for.
#include <algorithm>

#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/detector.hpp"

namespace gradverify::simt {

void Detector::fence_proxies() {
    const unsigned rank = unit::state.thread.rank;
    proxy_fences_.fence(rank, happens_before_.access_of(rank).segment);
}

bool Detector::is_visible_to_async_proxy(const Cell& cell, unsigned rank) const {
    if (proxy_fences_.is_fenced(cell)) return true;
    // Within a segment, a fence of the reading warp behind an order that is no barrier of the
    // block.
    const unsigned first = rank / warp_lanes * warp_lanes;
    for (unsigned lane = first; lane < first + warp_lanes; ++lane)
        if (proxy_fences_.fenced_in_segment(lane, cell) &&
            happens_before_.is_ordered(cell.write, lane))
            return true;
    return false;
}

void Detector::check_async_read(std::uintptr_t begin, std::uintptr_t end, const void* pc,
                                unsigned rank) {
    Request request{begin, end - begin, pc, true, false};
    while (request.address < end) {
        const std::uintptr_t page_end = (request.address | (shadow_page_bytes - 1)) + 1;
        request.bytes = std::min(end, page_end) - request.address;
        ShadowPage& page = shadow_.page_of(request.address);
        if (!page.is_checked()) return report_foreign(page, request);
        check_forbidden(page, request);
        check_in_flight(page, request);
        if (page.kind == MemoryKind::shared && !shared_is_restored_) check_written(page, request);
        for_each_cell(request.address, request.end(), [&](std::uintptr_t cell, unsigned bytes) {
            check_async_cell(page, {cell, bytes}, pc, rank);
        });
        request.address = page_end;
    }
}

void Detector::check_async_cell(ShadowPage& page, const CellBytes& bytes, const void* pc,
                                unsigned rank) {
    const Cell& cell = page.cells[Shadow::cell_index(bytes.cell)];
    const Access& write = cell.write;
    if (write.segment < since(page) || (write.bytes & bytes.mask) == 0) return;
    Access now = happens_before_.access_of(rank);
    now.pc = reinterpret_cast<std::uintptr_t>(pc) & 0xffffffffffffu;
    now.bytes = bytes.mask & 0xfu;
    // Each lane asks for the read, so that its own writes and what it has acquired come before.
    const unsigned first = rank / warp_lanes * warp_lanes;
    bool is_ordered = write.rank / warp_lanes == rank / warp_lanes;
    for (unsigned lane = first; lane < first + warp_lanes && !is_ordered; ++lane)
        is_ordered = happens_before_.is_ordered(write, lane);
    if (!is_ordered) return report_race({write, now, true, false, bytes.cell, page.kind});
    if (page.kind == MemoryKind::shared && !is_visible_to_async_proxy(cell, rank))
        report_unfenced(cell, now, bytes.cell);
}

void Detector::report_unfenced(const Cell& cell, const Access& now, std::uintptr_t address) {
    const std::string here = line_of(std::uint64_t{now.pc});
    const std::string there = line_of(std::uint64_t{cell.write.pc});
    findings_.add({FindingKind::race, here, there}, [&] {
        return "data race on " + memory_text(address, MemoryKind::shared) +
               " in shared memory: the async proxy reads it at " + here + ", " +
               thread_text(cell.write.rank) + " wrote it at " + there +
               ", with no fence.proxy.async between them" + where();
    });
}

void Detector::mark_reads(const AsyncProduct& product, int change) {
    for (const AsyncProduct::Read& read : product.reads)
        for_each_cell(read.begin, read.end, [&](std::uintptr_t cell, unsigned) {
            ShadowPage& page = shadow_.page_of(cell);
            const std::size_t index = Shadow::cell_index(cell);
            if (page.async_readers.empty()) page.async_readers.resize(cells_per_page);
            auto& readers = page.async_readers[index];
            readers = static_cast<std::uint16_t>(readers + change);
            auto& marks = page.forbidden[index];
            constexpr unsigned all = 0xfu * in_flight_bit;
            marks = static_cast<std::uint8_t>(readers != 0 ? marks | all : marks & ~all);
        });
}

void Detector::check_written_while_read(const Request& request, MemoryKind kind) {
    for (const auto& product : products_)
        for (const AsyncProduct::Read& read : product->reads)
            if (read.begin < request.end() && request.address < read.end)
                return report_written_while_read(*product, request, kind);
}

void Detector::report_written_while_read(const AsyncProduct& product, const Request& request,
                                         MemoryKind kind) {
    const std::string here = line_of(std::uint64_t{reinterpret_cast<std::uintptr_t>(request.pc)});
    const std::string there = line_of(std::uint64_t{reinterpret_cast<std::uintptr_t>(product.pc)});
    findings_.add({FindingKind::race, here, there}, [&] {
        return "data race on " + memory_text(request.address, kind) +
               " in shared memory: " + thread_text(unit::state.thread.rank) + " writes it at " +
               here + ", while the product of " + there +
               " may still read it: its warpgroup has not waited for the product's group" + where();
    });
}

}  // namespace gradverify::simt
