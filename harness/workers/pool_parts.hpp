// SPDX-License-Identifier: Apache-2.0
// What the two source files of WorkerPool share.
#pragma once

#include "harness/workers/pool.hpp"

namespace gradverify {

// Tickets of the pool's own.
inline constexpr std::int64_t ticket_of_run = -1;
inline constexpr std::int64_t ticket_of_probe = -2;

struct WorkerPool::Request {
    std::int64_t ticket = 0;
    std::string line;
    Patience patience = Patience::full;
};

struct WorkerPool::Worker {
    WorkerProcess process;
    bool greeted = false;
    bool retiring = false;         ///< to be replaced once it has answered what it has
    bool is_unreachable = false;   ///< it could not reach its device, and ends
    std::int64_t strict_left = 0;  ///< cases yet to be run with a checked heap
    std::deque<Request> waiting;   ///< not yet written to the pipe
    std::deque<Request> running;   ///< written, not yet answered; the first one is being run
    WorkerHistory history;         ///< answered by this process

    std::size_t load() const { return waiting.size() + running.size(); }
};

}  // namespace gradverify
