// SPDX-License-Identifier: Apache-2.0
// Decides how tasks reach workers and answers come back: keeps a few tasks in each worker's pipe,
// watches the first, starts processes, and tells what was answered and which process ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "harness/workers/history.hpp"
#include "harness/workers/process.hpp"
#include "harness/workers/time_limit.hpp"
#include "harness/workers/work.hpp"

namespace gradverify {

struct WorkerPoolOptions {
    /// Program and arguments of a worker, such as {"/proc/self/exe", "worker"}.
    std::vector<std::string> command;
    int jobs = 1;
    /// Cases in a worker's pipe; more than one hides the latency of the pipe.
    std::size_t depth = 6;
    /// A case that takes longer has failed, and its worker is ended.
    TimeLimitOptions time{};
    /// The same for memory that is resident; 0 is this machine's, shared by the jobs.
    std::size_t memory_bytes = 0;
    double start_seconds = 60.0;
    /// The first cases of a worker run with a heap that is checked: most kernels that damage it do
    /// so always, and this finds them at once. Its end is checked too; then it is replaced.
    std::int64_t strict_cases = 200;
};

class Crew {
  public:
    struct Answered {
        Task task;
        Answer answer;          ///< a Probed for a Probe, else an Outcome
        bool is_first = false;  ///< its process had answered no other: it opened the device too
    };
    /// A worker's process did not end in good order, or not before it had answered.
    struct Ended {
        WorkerEnd end;
        WorkerHistory history;      ///< what the process had answered
        std::optional<Task> fatal;  ///< what it had in hand; nothing if it was idle
    };
    using Event = std::variant<Answered, Ended>;

    /// The limits must outlive the crew, which reads them when a task is watched. Of the options
    /// it leaves `time` alone.
    ///
    /// **Errors** EnvironmentError when a worker can't be started. So do `give` and `next`, the
    /// latter also when several workers in a row can't reach their device, and Interrupted.
    Crew(WorkerPoolOptions options, const TimeLimits& limits,
         std::set<std::string> distrusted = {});
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// With the memory that there is for each worker.
    const WorkerPoolOptions& options() const { return options_; }
    /// Whether some worker's pipe has room.
    bool has_room() const;
    /// Gives a task to the worker with the fewest.
    void give(Task task);
    /// Takes a task back that no worker has yet been given; false when one has.
    bool withdraw(std::int64_t ticket);
    /// Kernels that all workers are told not to call on another's behalf.
    const std::set<std::string>& distrusted() const { return distrusted_; }
    void distrust(const std::vector<std::string>& kernels);
    /// What happened next; nothing when nothing did for so long, or a little while.
    std::optional<Event> next(double seconds);
    /// Ends the workers, which have nothing in hand; those that do so badly.
    std::vector<Ended> finish();

  private:
    struct Worker;
    using Clock = std::chrono::steady_clock;

    void start(Worker& worker);
    void send(Worker& worker);
    void receive(Worker& worker);
    /// Whether the line is one that a worker says here.
    bool take(Worker& worker, const std::string& line);
    void await_device(const std::string& why);
    void watch(Worker& worker);
    void bury(Worker& worker, const std::string& overstepped = "");
    void poll_once(double seconds);

    WorkerPoolOptions options_;
    const TimeLimits& limits_;
    std::set<std::string> distrusted_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::deque<Event> events_;
    int unreachable_ = 0;  ///< workers in a row that could not reach their device
    Clock::time_point last_look_{};
};

struct LoneResult {
    /// What the last work came to, unless the worker died.
    Outcome outcome;
    /// How the worker died, at some work or at its exit.
    std::optional<WorkerEnd> death;
};

/// Runs work in this order in a crew of one, which serves nothing else, checks its heap and must
/// end in good order: what goes wrong there is the doing of this work.
LoneResult run_alone(WorkerPoolOptions options, const TimeLimits& limits,
                     const std::vector<Work>& works, Patience patience = Patience::full,
                     std::set<std::string> distrusted = {});

}  // namespace gradverify
