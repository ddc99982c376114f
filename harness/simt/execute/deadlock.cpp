// SPDX-License-Identifier: Apache-2.0
// A deadlock in words: which threads of the block wait, and for what.
#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/executor.hpp"

namespace gradverify::simt {

std::string Executor::wait_text(unsigned position) const {
    const Wait& wait = fiber_of_[position]->wait;
    const std::string at = line_of({wait.file, wait.line});
    for (const SuspendedThread& thread : suspended_)
        if (thread.position == position) return "at " + at + " for " + thread.text(thread.key);
    if (wait.mask == 0) return "at the barrier of " + at;
    return "at the warp collective of " + at + " with mask " + hex_text(wait.mask);
}

/// Which threads wait where, by source line.
std::string Executor::who_waits() const {
    constexpr std::size_t threads_shown = 4;
    std::map<std::string, std::vector<unsigned>> ranks_at;
    for (unsigned i = 0; i < threads_; ++i) {
        if (fiber_of_[i] == nullptr) continue;
        ranks_at[wait_text(i)].push_back(order_[i].rank);
    }
    std::ostringstream out;
    unsigned waiting = 0;
    for (auto& [place, ranks] : ranks_at) {
        std::sort(ranks.begin(), ranks.end());
        waiting += static_cast<unsigned>(ranks.size());
        out << "; " << ranks.size() << (ranks.size() == 1 ? " waits " : " wait ") << place << ": ";
        for (std::size_t i = 0; i < ranks.size() && i < threads_shown; ++i) {
            if (i > 0) out << ", ";
            out << text_of(thread_order_.index_of(ranks[i]));
        }
        if (ranks.size() > threads_shown) out << " ...";
    }
    out << "; " << threads_ - waiting << " exited";
    return out.str();
}

[[gnu::noinline]] void Executor::record_deadlock() {
    fail(cudaErrorLaunchTimeout, launch_.text() + ": deadlock in block " +
                                     text_of(unit::state.block_index) + " of " +
                                     std::to_string(threads_) + " threads" + who_waits());
}

void Executor::deadlock() {
    record_deadlock();
    abandon_launch();
}

}  // namespace gradverify::simt
