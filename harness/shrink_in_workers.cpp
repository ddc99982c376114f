// SPDX-License-Identifier: Apache-2.0
#include "harness/shrink_in_workers.hpp"

#include "harness/interrupt.hpp"

namespace gradverify {

Shrunk shrink_in_workers(const Suite& suite, WorkerPool& pool, const Case& found,
                         const Outcome& outcome) {
    const bool alone = outcome.discovery == Discovery::damaged;
    const CaseRunner runner = [&](const Case& candidate) {
        return pool.run(candidate.print(), {.patience = Patience::trial, .alone = alone});
    };
    Shrunk as_found{.smallest = found, .outcome = outcome, .minimal = false, .runs = 0};
    try {
        Shrunk shrunk = suite.shrink(found, outcome, runner);
        if (shrunk.outcome.discovery != Discovery::overstepped) return shrunk;
        shrunk.outcome = pool.run(shrunk.smallest.print(), {.alone = alone});
        return shrunk.outcome.verdict == Verdict::failed ? shrunk : as_found;
    } catch (const Interrupted&) {
        return as_found;
    }
}

}  // namespace gradverify
