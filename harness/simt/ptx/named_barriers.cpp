// SPDX-License-Identifier: Apache-2.0
// bar.sync and bar.arrive of numbered barriers (PTX ISA, 9.7.13.1), which may be for some of the
// block's warps. To the race detector each is a release and an acquire.
#include "gradverify_simt/ptx/warps.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/detector.hpp"

namespace gradverify::simt {

std::uintptr_t Detector::place_of_named_barrier(unsigned id) const {
    // Below all memory, and of this block alone.
    return static_cast<std::uintptr_t>(happens_before_.block_first()) * named_barriers + id;
}

void Detector::arrive_at_named_barrier(unsigned id) {
    const unsigned rank = unit::state.thread.rank;
    resolve_pending();
    happens_before_.fence(rank);
    happens_before_.synchronise(place_of_named_barrier(id), rank, {.reads = false, .writes = true});
}

void Detector::leave_named_barrier(unsigned id) {
    happens_before_.synchronise(place_of_named_barrier(id), unit::state.thread.rank,
                                {.reads = true, .writes = false});
}

namespace ptx {
extern "C" void gradverify_simt_named_barrier(unsigned id, unsigned count, bool waits,
                                              const char* file, int line) {
    Executor::of_this_thread().named_barrier(id, count, waits, {file, line});
}
}  // namespace ptx

}  // namespace gradverify::simt
