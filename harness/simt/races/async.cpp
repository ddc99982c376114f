// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies for the race detector. One counts as its thread's write when it is asked for
// and when it has been waited for; between, its place is in flight, and every access is a race; to
// its source, every write.
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/detector.hpp"

namespace gradverify::simt {

void Detector::access_as(const AsyncWrite& write) {
    if (write.source_bytes > 0) access({write.from, write.source_bytes, write.pc, true, false});
    access({write.to, write.bytes, write.pc, false, true});
    for_each_cell(write.to, write.to + write.bytes, [&](std::uintptr_t cell, unsigned) {
        const ShadowPage& page = shadow_.page_of(cell);
        if (page.is_checked()) page.cells[Shadow::cell_index(cell)].proxy_state = Cell::by_cp_async;
    });
}

void Detector::begin_async(const AsyncWrite& write) {
    access_as(write);
    add_in_flight({write.to, write.bytes, false, write});
    if (write.source_bytes > 0) add_in_flight({write.from, write.source_bytes, true, write});
}

void Detector::end_async(const AsyncWrite& write) {
    remove_in_flight(write);
    access_as(write);
}

void Detector::hand_over_async(const AsyncWrite& write, unsigned operation) {
    remove_in_flight(write);
    Request request{.address = write.from,
                    .bytes = write.source_bytes,
                    .pc = write.pc,
                    .reads = true,
                    .writes = false,
                    .operation = operation};
    if (write.source_bytes > 0) access_by_operation(request);
    request.address = write.to;
    request.bytes = write.bytes;
    std::swap(request.reads, request.writes);
    access_by_operation(request);
}

void Detector::add_in_flight(const InFlight& place) {
    in_flight_.emplace(place.begin, place);
    longest_in_flight_ = std::max<std::uintptr_t>(longest_in_flight_, place.bytes);
    mark_in_flight(place, true);
}

void Detector::remove_in_flight(const AsyncWrite& write) {
    remove_in_flight({write.to, write.bytes, false, write});
    if (write.source_bytes > 0) remove_in_flight({write.from, write.source_bytes, true, write});
}

void Detector::remove_in_flight(const InFlight& place) {
    auto [first, last] = in_flight_.equal_range(place.begin);
    while (first != last && (first->second.copy.rank != place.copy.rank ||
                             first->second.is_source != place.is_source))
        ++first;
    if (first != last) in_flight_.erase(first);
    mark_in_flight(place, false);
    // What else is in flight there stays so.
    for_each_in_flight(place.begin, place.begin + place.bytes,
                       [&](const InFlight& other) { mark_in_flight(other, true); });
}

template <class Function>
void Detector::for_each_in_flight(std::uintptr_t begin, std::uintptr_t end,
                                  Function function) const {
    auto at = in_flight_.upper_bound(begin - longest_in_flight_);
    for (; at != in_flight_.end() && at->first < end; ++at)
        if (begin < at->first + at->second.bytes) function(at->second);
}

void Detector::forget_async() {
    for (const auto& [begin, place] : in_flight_) mark_in_flight(place, false);
    in_flight_.clear();
    forget_products();
}

void Detector::mark_in_flight(const InFlight& place, bool in_flight) {
    for_each_cell(place.begin, place.begin + place.bytes, [&](std::uintptr_t cell, unsigned bytes) {
        std::uint8_t& marks = shadow_.page_of(cell).forbidden[Shadow::cell_index(cell)];
        const unsigned mark = bytes * in_flight_bit;
        marks = static_cast<std::uint8_t>(in_flight ? marks | mark : marks & ~mark);
    });
}

void Detector::check_in_flight(const ShadowPage& page, const Request& request) {
    if (in_flight_.empty()) return;
    bool any = false;
    for_each_cell(request.address, request.end(), [&](std::uintptr_t cell, unsigned bytes) {
        any = any || (page.forbidden[Shadow::cell_index(cell)] & bytes * in_flight_bit) != 0;
    });
    if (!any) return;
    const InFlight* first = nullptr;
    for_each_in_flight(request.address, request.end(), [&](const InFlight& place) {
        if (first == nullptr && (request.writes || !place.is_source)) first = &place;
    });
    if (first != nullptr) report_in_flight(*first, request, page.kind);
}

void Detector::report_in_flight(const InFlight& place, const Request& request, MemoryKind kind) {
    const AsyncWrite& write = place.copy;
    const std::string here = line_of(std::uint64_t{reinterpret_cast<std::uintptr_t>(request.pc)});
    const std::string there = line_of(std::uint64_t{reinterpret_cast<std::uintptr_t>(write.pc)});
    findings_.add({FindingKind::race, here, there + (place.is_source ? "'s source" : "")}, [&] {
        return "data race on " + memory_text(std::max(request.address, place.begin), kind) +
               (kind == MemoryKind::shared ? " in shared memory: " : ": ") +
               thread_text(unit::state.thread.rank) +
               (request.writes ? " writes it at " : " reads it at ") + here + ", while " +
               thread_text(write.rank) + "'s asynchronous copy of " + there +
               (place.is_source ? " may still read it: " : " may still write it: ") +
               (write.rank == unit::state.thread.rank
                    ? "it did not wait for the copy's group"
                    : "that thread must wait for the copy's group, and a barrier follow, before "
                      "this access; or a barrier lie between this access and the copy") +
               where();
    });
}

}  // namespace gradverify::simt
