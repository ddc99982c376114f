// SPDX-License-Identifier: Apache-2.0
// The text of a deadlock: which threads wait where, grouped by source line.
#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "gradverify_simt/runtime_types.hpp"
#include "harness/simt/execute/executor.hpp"
#include "harness/simt/races/findings.hpp"

namespace gradverify::simt {

std::string Executor::who_waits() const {
    constexpr std::size_t threads_shown = 4;
    std::map<std::string, std::vector<unsigned>> ranks_at;
    for (unsigned i = 0; i < threads_; ++i) {
        if (fiber_of_[i] == nullptr) continue;
        const Wait& wait = fiber_of_[i]->wait;
        std::ostringstream place;
        if (wait.mask == 0) {
            place << "at the barrier of " << wait.file << ':' << wait.line;
        } else {
            place << "at the warp collective of " << wait.file << ':' << wait.line
                  << " with mask 0x" << std::hex << wait.mask;
        }
        ranks_at[place.str()].push_back(order_[i].rank);
    }
    std::ostringstream out;
    unsigned waiting = 0;
    for (auto& [place, ranks] : ranks_at) {
        std::sort(ranks.begin(), ranks.end());
        waiting += static_cast<unsigned>(ranks.size());
        out << "; " << ranks.size() << (ranks.size() == 1 ? " waits " : " wait ") << place << ": ";
        for (std::size_t i = 0; i < ranks.size() && i < threads_shown; ++i) {
            if (i > 0) out << ", ";
            out << text_of(by_rank_[ranks[i]].index);
        }
        if (ranks.size() > threads_shown) out << " ...";
    }
    out << "; " << threads_ - waiting << " exited";
    return out.str();
}

[[gnu::noinline]] void Executor::record_deadlock() {
    std::ostringstream out;
    out << launch_text() << ": deadlock in block " << text_of(unit::state.block_index) << " of "
        << threads_ << " threads" << who_waits();
    fail(cudaErrorLaunchTimeout, out.str());
}

void Executor::deadlock() {
    record_deadlock();
    abandon_launch();
}

}  // namespace gradverify::simt
