// SPDX-License-Identifier: Apache-2.0
// What the four warps of a warpgroup do together.
#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/executor.hpp"

namespace gradverify::simt {

void Executor::meet_in_warpgroup(void (*act)(unsigned), unit::Place place) {
    if (fast_) leave_fast_mode(place);
    const unsigned warpgroup = unit::state.thread.rank / warpgroup_threads;
    if ((warpgroup + 1) * warpgroup_threads > threads_)
        trap(cudaErrorIllegalInstruction, {"wgmma by fewer than the 128 threads of a warpgroup"},
             place);
    NamedBarrier& meeting = warpgroup_meetings_[warpgroup];
    current_->wait = {place.file, place.line, 0};
    if (++meeting.arrived < warpgroup_threads) {
        meeting.waiting.push_back(static_cast<std::uint16_t>(running_));
        return stop_elsewhere();
    }
    act(warpgroup);
    for (const std::uint16_t position : meeting.waiting) ready_.insert(position);
    meeting = {};
    thread_got_on();
}

}  // namespace gradverify::simt
