// SPDX-License-Identifier: Apache-2.0
// What the tests of the pool share: a pool of fake workers, and what its cases came to.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/testing/fake_worker.hpp"
#include "harness/testing/made_operator.hpp"
#include "harness/workers/pool.hpp"

namespace gradverify::testing {

inline WorkerPoolOptions options(int jobs = 1) {
    return {.command = test_worker_command(), .jobs = jobs};
}

/// A word for the fake worker, which is no case.
inline Work told(const std::string& word) {
    Work work(RunCase{word});
    work.property = word;
    return work;
}

/// Submits the words, with their positions as tickets, and collects the outcomes by ticket; late
/// answers apart, where some are expected.
inline std::map<std::int64_t, Outcome> outcomes_of(
    WorkerPool& pool, const std::vector<std::string>& words,
    std::vector<WorkerPool::Answer>* late = nullptr) {
    for (std::size_t i = 0; i < words.size(); ++i)
        pool.submit(static_cast<std::int64_t>(i), told(words[i]));
    std::map<std::int64_t, Outcome> outcomes;
    while (const auto answer = pool.wait(30.0)) {
        if (late && answer->late) {
            late->push_back(*answer);
            continue;
        }
        const bool is_first = outcomes.emplace(answer->ticket, answer->outcome).second;
        CHECK_MESSAGE(is_first, "two answers to one case");
    }
    CHECK(outcomes.size() == words.size());
    return outcomes;
}

inline const std::string segfault =
    "the kernel's process was killed by SIGSEGV (a wild pointer, or recursion without end)";

}  // namespace gradverify::testing
