// SPDX-License-Identifier: Apache-2.0
// Decides how cases reach workers and answers come back: starts the workers as clean processes
// (fork and exec, never fork alone), keeps a few cases in each one's pipe, restarts one that died,
// and says which case it died of. Knows lines and outcomes, not what a case means.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/outcome.hpp"

namespace gradverify {

struct WorkerPoolOptions {
    /// Program and arguments of a worker, such as {"/proc/self/exe", "worker"}.
    std::vector<std::string> command;
    int jobs = 1;
    /// Cases in a worker's pipe; more than one hides the latency of the pipe.
    std::size_t depth = 6;
    /// A worker without an answer for so long is ended, and its case has failed.
    double timeout_seconds = 60.0;
};

class WorkerPool {
  public:
    struct Answer {
        std::int64_t ticket = 0;
        Outcome outcome;
    };

    /// **Errors** EnvironmentError when a worker can't be started.
    explicit WorkerPool(WorkerPoolOptions options);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Whether some worker's pipe has room.
    bool has_room() const;
    /// Cases whose answer `wait` has not yet returned.
    std::size_t in_flight() const { return in_flight_; }

    /// Gives a case to the worker with the fewest.
    void submit(std::int64_t ticket, std::string printed_case);
    /// The next answer; nothing when none came in time or none is due.
    std::optional<Answer> wait(double seconds);

    /// Runs one case and waits for it; answers to others are kept for `wait`.
    Outcome run(const std::string& printed_case);
    /// Why the device can't be used; empty when it can. To be asked before any case is submitted.
    std::string probe(const std::string& device);

  private:
    struct Worker;
    using Clock = std::chrono::steady_clock;

    void start(Worker& worker);
    void stop(Worker& worker);
    void stop_all();
    void send(Worker& worker);
    void receive(Worker& worker);
    /// Whether the line is one that a worker says here.
    bool take_line(Worker& worker, const std::string& line);
    void bury(Worker& worker, const std::string& cause_if_killed);
    void poll_once(double seconds);
    Worker& least_busy();

    WorkerPoolOptions options_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::deque<Answer> answers_;
    std::optional<std::string> probe_answer_;
    std::size_t in_flight_ = 0;
};

}  // namespace gradverify
