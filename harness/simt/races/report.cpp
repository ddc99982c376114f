// SPDX-License-Identifier: Apache-2.0
// The detector's findings as sentences.
#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/detector.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/host_memory.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

std::string verb(const Access& access, bool writes) {
    if (access.is_async)
        return "'s " + Detector::operation_text(access) +
               (writes ? " writes it at " : " reads it at ");
    if (access.is_atomic) return " updates it atomically at ";
    return writes ? " writes it at " : " reads it at ";
}

}  // namespace

std::string Detector::thread_text(unsigned rank) {
    const dim3& block = unit::state.block_dim;
    return "thread " +
           text_of({rank % block.x, rank / block.x % block.y, rank / block.x / block.y});
}

std::string Detector::operation_text(const Access& access) {
    return AsyncOperations::is_product(access.operation()) ? "product" : "asynchronous copy";
}

std::string Detector::where() const {
    return "; in block " + text_of(unit::state.block_index) + ", " + line_of(launch_.place) +
           ": launch of " + launch_.kernel + shape_text();
}

std::string Detector::memory_text(std::uintptr_t address, MemoryKind kind) const {
    const bool is_shared = kind == MemoryKind::shared;
    std::string name = name_of(is_shared ? shared_variables_ : named_buffers(), address);
    if (!name.empty()) return name;
    return is_shared ? "shared memory" : "device memory";
}

void Detector::report_race(const Conflict& conflict) {
    const Access &earlier = conflict.earlier, &now = conflict.now;
    if ((earlier.is_atomic && !conflict.now_writes) || (now.is_atomic && !conflict.earlier_writes))
        return defer_race(conflict);
    const std::string there = line_of(std::uint64_t{earlier.pc}),
                      here = line_of(std::uint64_t{now.pc});
    findings_.add({FindingKind::race, here, there},
                  [&] { return race_text(conflict, here, there); });
}

void Detector::defer_race(const Conflict& conflict) {
    const std::uint64_t now = conflict.now.pc, earlier = conflict.earlier.pc;
    if (!deferred_pcs_.insert({now, earlier}).second) return;
    const std::string there = line_of(earlier), here = line_of(now);
    deferred_.push_back(
        {here, there, race_text(conflict, here, there), conflict.now_writes ? earlier : now});
}

void Detector::defer_read(const Request& request, std::uintptr_t at) {
    const std::uint64_t pc = number(request.pc) & 0xffffffffffffu;
    if (!deferred_pcs_.insert({pc, 0}).second) return;
    deferred_.push_back(
        {line_of(pc), "r",
         access_text(request, "out of bounds: " + memory_text(at, MemoryKind::global)), pc,
         FindingKind::out_of_bounds});
}

void Detector::report_deferred_races() {
    for (const DeferredRace& race : deferred_) {
        if (!guess_pcs_.contains(race.reader_pc))
            findings_.add({race.kind, race.here, race.there}, [&] { return race.text; });
    }
    deferred_.clear();
    deferred_pcs_.clear();
}

std::string Detector::race_text(const Conflict& conflict, const std::string& here,
                                const std::string& there) const {
    const Access &earlier = conflict.earlier, &now = conflict.now;
    if (works_.is_beside(earlier) && conflict.kind == MemoryKind::global)
        return works_text(conflict);
    const bool between_blocks = !happens_before_.is_of_running_block(earlier);
    const bool in_cluster = between_blocks && earlier.segment >= happens_before_.cluster_first();
    const unsigned both = earlier.bytes & now.bytes;
    const auto skipped = static_cast<unsigned>(std::countr_zero(both));
    std::string text = "data race on " + memory_text(conflict.address + skipped, conflict.kind) +
                       (conflict.kind == MemoryKind::shared ? " in shared memory: " : ": ");
    const auto who = [&](const Access& access) {
        std::string thread = thread_text(access.rank);
        if (between_blocks)
            thread += " of block " + text_of(happens_before_.block_index_of(access.segment));
        return thread;
    };
    text += who(now) + verb(now, conflict.now_writes) + here + ", " + who(earlier) +
            verb(earlier, conflict.earlier_writes) + there;
    if (earlier.is_async) {
        text += AsyncOperations::is_product(earlier.operation())
                    ? ", and the product has not been waited for"
                    : ", and the copy has not been waited for";
    } else if (in_cluster) {
        text += ", with no barrier of the cluster between them";
    } else if (between_blocks) {
        text += "; nothing orders these blocks";
    } else if (earlier.rank / warp_lanes == now.rank / warp_lanes) {
        text += ", with neither __syncwarp() nor a barrier between them";
    } else {
        text += ", with no barrier between them";
    }
    if (between_blocks && earlier.is_atomic && now.is_atomic)
        text += ", and an atomic operation of a block's scope is atomic within it alone";
    return text + where();
}

std::string Detector::works_text(const Conflict& conflict) const {
    const Access &earlier = conflict.earlier, &now = conflict.now;
    const unsigned both = earlier.bytes & now.bytes;
    const auto skipped = static_cast<unsigned>(std::countr_zero(both));
    return "data race on " + memory_text(conflict.address + skipped, conflict.kind) + ": " +
           works_.text(now, conflict.now_writes) + ", " +
           works_.text(earlier, conflict.earlier_writes) +
           (works_.may_go_on(earlier)
                ? "; the launch may begin before that one ends, and nothing says that a thread has "
                  "met griddepcontrol.wait by then"
                : "; nothing orders these two works") +
           where();
}

void Detector::report_access(FindingKind kind, const Request& request, const std::string& what) {
    findings_.add({kind, line_of(number(request.pc)), request.writes ? "w" : "r"},
                  [&] { return access_text(request, what); });
}

std::string Detector::access_text(const Request& request, const std::string& what) const {
    return thread_text(unit::state.thread.rank) + (request.writes ? " writes " : " reads ") + what +
           " at " + line_of(number(request.pc)) + where();
}

void Detector::report_out_of_bounds(MemoryKind kind, const Request& request, std::uintptr_t at) {
    const unsigned rank = rank_of(at);
    if (kind == MemoryKind::shared && (running_ranks_ >> rank & 1u) == 0)
        return report_access(FindingKind::race, request,
                             memory_text(at, kind) + " in the shared memory of block " +
                                 std::to_string(rank) +
                                 " of its cluster, which has not begun or has ended, as no barrier "
                                 "of the cluster orders them,");
    report_access(
        FindingKind::out_of_bounds, request,
        (kind == MemoryKind::shared ? "out of bounds of shared memory: " : "out of bounds: ") +
            memory_text(at, kind));
}

void Detector::report_unwritten(const Request& request, std::uintptr_t at) {
    report_access(FindingKind::uninitialised, request,
                  memory_text(at, MemoryKind::shared) +
                      " in shared memory, which no thread of the block has written,");
}

// No string may live in the frame of the trap, which is never unwound.
[[gnu::noinline]] void Detector::report_foreign_memory(const ShadowPage& page,
                                                       const Request& request) {
    if (const std::string near = element_text(pointer_to(request.address)); !near.empty())
        return report_access(FindingKind::out_of_bounds, request, near);
    if (page.kind == MemoryKind::unknown)
        return report_access(
            FindingKind::host_pointer, request,
            "memory that is not the device's (a host pointer, or memory that was freed)");
    if (const std::string host = host_memory_text(request.address); !host.empty())
        return report_access(FindingKind::host_pointer, request, host);
    std::string what = memory_text(request.address, MemoryKind::global);
    if (what == "device memory") {
        const std::string lies_in =
            Executor::of_this_thread().describe(pointer_to(request.address));
        what = lies_in.empty() ? "unmapped memory" : lies_in;
    }
    report_access(FindingKind::out_of_bounds, request, "out of bounds: " + what);
}

void Detector::report_foreign(const ShadowPage& page, const Request& request) {
    report_foreign_memory(page, request);
    if (page.kind == MemoryKind::unknown) return;
    // The access itself would end the process, and the finding with it.
    Executor::of_this_thread().trap(cudaErrorIllegalAddress,
                                    {"an illegal memory access was encountered"}, launch_.place);
}

void Detector::report_at(FindingKind kind, unit::Place place, const std::string& text) {
    const std::string here = line_of(place);
    findings_.add({kind, here, ""}, [&] { return text + ", at " + here + where(); });
}

}  // namespace gradverify::simt
