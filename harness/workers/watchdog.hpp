// SPDX-License-Identifier: Apache-2.0
// Decides when a worker is to be killed: when its case takes more time or memory than is allowed,
// or so many threads and processes that a machine runs out of them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gradverify {

/// What a worker may use for the case in hand.
struct WorkerAllowance {
    /// Processor time since it began its last block of threads, and for the whole case.
    double cpu_seconds = 0.0, cpu_seconds_in_all = 0.0;
    double sleep_seconds = 0.0;
    std::size_t memory_bytes = 0;
    bool operator==(const WorkerAllowance&) const = default;
};

class Watchdog {
  public:
    /// A case begins: its worker's use counts from the next look on.
    void case_begins() { has_looked_ = false; }
    /// Why a worker that has begun this many blocks of threads is to be killed, as a clause (`no
    /// end after 12 s of CPU time`); nothing while it may go on.
    std::optional<std::string> why_kill(pid_t worker, std::uint64_t blocks,
                                        const WorkerAllowance& allowed);

  private:
    using Clock = std::chrono::steady_clock;

    bool has_looked_ = false;
    double cpu_at_start_ = 0.0, cpu_at_block_ = 0.0, cpu_last_ = 0.0, slept_ = 0.0;
    std::uint64_t blocks_ = 0;  ///< begun by the last look
    Clock::time_point last_look_{};
};

}  // namespace gradverify
