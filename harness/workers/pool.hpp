// SPDX-License-Identifier: Apache-2.0
// Decides how cases reach workers and answers come back, keeps a few cases in each worker's pipe,
// restarts one that died, and decides which case is to blame for it:
//
//   - the case that it was running, if that was its first, or if the case kills a worker that runs
//     nothing else;
//   - else an earlier case of that worker that does so (it has damaged the heap, say), whose
//     answer is taken back;
//   - a kernel that the case only borrowed is blamed on its own rows: the case is run without it.
//
// Knows lines and outcomes, not what a case means.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/cases/outcome.hpp"
#include "harness/workers/alone.hpp"
#include "harness/workers/history.hpp"
#include "harness/workers/process.hpp"
#include "harness/workers/time_limit.hpp"

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

/// How `WorkerPool::run` runs a case.
struct RunOptions {
    Patience patience = Patience::full;
    /// In a worker of its own whose heap and end are checked, as `run_alone` does.
    bool alone = false;
};

class WorkerPool {
  public:
    struct Answer {
        std::int64_t ticket = 0;
        Outcome outcome;
        /// A failure of a case that was answered before: it killed its worker after its answer.
        bool late = false;
    };

    /// **Errors** EnvironmentError when a worker can't be started. So do the functions below, which
    /// also throw Interrupted.
    explicit WorkerPool(WorkerPoolOptions options);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Whether some worker's pipe has room.
    bool has_room() const;
    /// Cases whose answer `wait` has not yet returned.
    std::size_t in_flight() const { return in_flight_; }

    /// Gives a case to the worker with the fewest. Tickets are not negative.
    void submit(std::int64_t ticket, std::string printed_case);
    /// Takes a case back that no worker has yet been given; false when one has.
    bool withdraw(std::int64_t ticket);
    /// The next answer; nothing when none came in time or none is due.
    std::optional<Answer> wait(double seconds);
    /// Ends the workers, once nothing is in flight; a case for which one does not end in good order
    /// gets a late answer.
    void finish();

    /// Runs one case and waits for it; answers to others are kept for `wait`.
    Outcome run(const std::string& printed_case, RunOptions how = {});
    /// Why the device can't be used; empty when it can. To be asked before any case is submitted.
    std::string probe(const std::string& device);

  private:
    struct Request;
    struct Worker;
    using Clock = std::chrono::steady_clock;

    void start(Worker& worker);
    void send(Worker& worker);
    void receive(Worker& worker);
    /// Whether the line is one that a worker says here.
    bool take_line(Worker& worker, const std::string& line);
    void retire_if_due(Worker& worker);
    void watch(Worker& worker);
    void bury(Worker& worker, const std::string& overstepped = "");
    void poll_once(double seconds);
    Worker& least_busy();

    LoneResult alone(std::vector<std::string> cases, Patience patience,
                     const std::vector<std::string>& without = {}) const;
    /// The outcome of a case whose worker died of it or of an earlier one.
    Outcome judge(const WorkerHistory& history, const Request& request, const WorkerEnd& end);
    /// The outcome of a case that alone has killed its worker.
    Outcome blame(const Request& request, WorkerEnd end);
    /// Tells all workers of kernels that others' cases die of.
    void spread_distrust(const std::vector<std::string>& kernels);
    /// Whether an answered case was found to be to blame, which then has its late answer.
    bool find_culprit(const WorkerHistory& history);
    Outcome unexplained(const WorkerHistory& history, const std::string& line,
                        const WorkerEnd& end) const;
    void end_without_a_case(const WorkerHistory& history, const WorkerEnd& end);

    WorkerPoolOptions options_;
    TimeLimits limits_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::deque<Answer> answers_;
    std::optional<std::string> probe_answer_;
    std::set<std::string> distrusted_;
    int unreachable_ = 0;  ///< workers in a row that could not reach their device
    std::size_t in_flight_ = 0;
    Clock::time_point last_look_{};
};

}  // namespace gradverify
