// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/alone.hpp"

#include <poll.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "harness/base/errors.hpp"
#include "harness/base/interrupt.hpp"
#include "harness/workers/worker.hpp"

namespace gradverify {

namespace {

constexpr int look_interval_ms = 20;
// As in worker_pool.cpp.
constexpr double death_seconds = 1.0, exit_seconds = 5.0;
constexpr int device_attempts = 3;
constexpr auto device_pause = std::chrono::milliseconds(500);

/// Conducts one worker through the cases.
class Conductor {
  public:
    explicit Conductor(const LoneRun& run) : run_(run) {
        worker_.start(run.command, true);
        for (const std::string& kernel : run.distrusted) worker_.send(worker_distrust + kernel);
    }

    /// Nothing when the device can't be reached; `why_unreachable` then says why.
    std::optional<LoneResult> conduct() {
        const WorkerAllowance start{run_.start_seconds, run_.start_seconds, run_.start_seconds,
                                    run_.memory_bytes};
        LoneResult result;
        if (const auto greeting = next_line(start); !greeting || *greeting != worker_greeting)
            throw EnvironmentError("a worker ended before its first case: " + death().cause());
        for (const std::string& printed : run_.cases) {
            // One of the many trials of a shrink adds nothing to what the first failure said.
            worker_.begin_case(run_.patience == Patience::full);
            worker_.send(printed);
            const auto line =
                next_line({run_.limits.cpu_seconds(printed, run_.patience),
                           run_.limits.cpu_seconds_in_all(printed, run_.patience),
                           run_.limits.sleep_seconds(printed, run_.patience), run_.memory_bytes});
            if (line && unreachable_device(*line)) {
                why_unreachable = *unreachable_device(*line);
                return std::nullopt;
            }
            try {
                if (line) result.outcome = Outcome::from_json(*line);
            } catch (const std::invalid_argument&) {
                overstepped_ = "the kernel wrote to a descriptor of the harness";
            }
            if (!line || !overstepped_.empty()) {
                result.death = death();
                return result;
            }
        }
        result.death = worker_.end_idle(exit_seconds);
        return result;
    }

    std::string why_unreachable;

  private:
    WorkerEnd death() {
        return worker_.end(overstepped_.empty() ? death_seconds : 0.0, overstepped_);
    }

    /// Nothing when the worker ended, or took more than it is allowed.
    std::optional<std::string> next_line(const WorkerAllowance& allowed) {
        for (;;) {
            if (auto line = worker_.next_line()) return line;
            throw_if_interrupted();
            const short to_send = worker_.has_unsent() ? POLLOUT : 0;
            std::array<pollfd, 3> fds{{{worker_.answer_fd(), POLLIN, 0},
                                       {worker_.print_fd(), POLLIN, 0},
                                       {to_send != 0 ? worker_.request_fd() : -1, to_send, 0}}};
            poll(fds.data(), fds.size(), look_interval_ms);
            if (fds[1].revents != 0) worker_.read_prints();
            if (fds[2].revents != 0) worker_.flush();
            if (fds[0].revents != 0 && !worker_.read_answers()) return std::nullopt;
            if (fds[0].revents != 0) continue;
            if (worker_.has_ended()) {
                worker_.read_answers();
                return worker_.next_line();
            }
            if (const auto overstepped = worker_.oversteps(allowed)) {
                overstepped_ = *overstepped;
                return std::nullopt;
            }
        }
    }

    const LoneRun& run_;
    WorkerProcess worker_;
    std::string overstepped_;
};

}  // namespace

LoneResult run_alone(const LoneRun& run) {
    for (int failures = 0;;) {
        Conductor conductor(run);
        if (auto result = conductor.conduct()) return *result;
        await_device(failures, conductor.why_unreachable);
    }
}

std::optional<std::string> unreachable_device(const std::string& line) {
    const std::string_view prefix = worker_unreachable;
    if (!line.starts_with(prefix)) return std::nullopt;
    return line.substr(prefix.size());
}

void await_device(int& failures, const std::string& why) {
    if (++failures == device_attempts)
        throw EnvironmentError(why + " (in " + std::to_string(failures) + " new workers in a row)");
    std::this_thread::sleep_for(device_pause);
}

}  // namespace gradverify
