// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/process_usage.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// A driver that was stopped, or a machine that was suspended, must not count as a worker's sleep.
constexpr double longest_look_seconds = 0.5;
// Pools of a library have a thread for each core, more than once.
constexpr std::size_t most_threads = 1000;
constexpr double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;

}  // namespace

std::optional<std::string> Watchdog::why_kill(pid_t worker, std::uint64_t blocks,
                                              const WorkerAllowance& allowed) {
    const auto usage = usage_of(worker);
    if (!usage) return std::nullopt;
    const auto now = Clock::now();
    if (blocks != std::exchange(blocks_, blocks)) cpu_at_block_ = usage->cpu_seconds;
    if (!has_looked_) {
        has_looked_ = true;
        cpu_at_start_ = cpu_at_block_ = cpu_last_ = usage->cpu_seconds;
        slept_ = 0.0;
        last_look_ = now;
        return std::nullopt;
    }
    const double looked =
        std::min(std::chrono::duration<double>(now - last_look_).count(), longest_look_seconds);
    // A worker that waits for a core or a page does not sleep.
    if (!usage->wants_to_run && usage->cpu_seconds - cpu_last_ < 0.2 * looked) slept_ += looked;
    cpu_last_ = usage->cpu_seconds;
    last_look_ = now;
    if (usage->memory_bytes > allowed.memory_bytes)
        return fmt::format("used more than {:.2g} GiB of memory",
                           static_cast<double>(allowed.memory_bytes) / bytes_per_gib);
    if (usage->threads > most_threads)
        return fmt::format("started more than {} threads and processes", most_threads);
    for (const auto& [since, limit] : {std::pair(cpu_at_block_, allowed.cpu_seconds),
                                       std::pair(cpu_at_start_, allowed.cpu_seconds_in_all)})
        if (usage->cpu_seconds - since > limit)
            return fmt::format("no end after {} of CPU time", print_seconds(limit));
    if (slept_ > allowed.sleep_seconds)
        return fmt::format("no end after {} in which it slept",
                           print_seconds(allowed.sleep_seconds));
    return std::nullopt;
}

}  // namespace gradverify
