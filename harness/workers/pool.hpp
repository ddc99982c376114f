// SPDX-License-Identifier: Apache-2.0
// Gives cases to a crew of workers, and decides which case is to blame for the death of one:
//
//   - the case that it was running, if that was its first, or if the case kills a worker that runs
//     nothing else;
//   - else an earlier case of that worker that does so (it has damaged the heap, say), whose
//     answer is taken back;
//   - a kernel that the case only borrowed is blamed on its own rows: the case is run without it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "harness/workers/crew.hpp"

namespace gradverify {

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
        std::optional<Case> drawn;  ///< what was answered
        Outcome outcome;
        /// A failure of a case that was answered before: it killed its worker after its answer.
        bool late = false;
    };

    /// **Errors** EnvironmentError when a worker can't be started; below also Interrupted.
    explicit WorkerPool(WorkerPoolOptions options);

    /// Whether some worker's pipe has room.
    bool has_room() const { return crew_.has_room(); }
    /// Cases whose answer `wait` has not yet returned.
    std::size_t in_flight() const { return in_flight_; }

    /// Gives a case to the worker with the fewest. Tickets are not negative.
    void submit(std::int64_t ticket, Work work);
    /// Takes a case back that no worker has yet been given; false when one has.
    bool withdraw(std::int64_t ticket);
    /// The next answer; nothing when none came in time or none is due.
    std::optional<Answer> wait(double seconds);
    /// Ends the workers, once nothing is in flight; one that ends badly gives a case a late answer.
    void finish();

    /// Runs one case and waits for it; answers to others are kept for `wait`.
    Outcome run(const Work& work, RunOptions how = {});
    /// Why the device can't be used; empty when it can. To be asked before any case is submitted.
    std::string probe(const std::string& device);

  private:
    /// Waits for what the crew tells next, and takes note of it.
    void attend(double seconds);
    void take(const Crew::Answered& answered);
    void take(const Crew::Ended& ended);

    LoneResult alone(const std::vector<Work>& works, Patience patience,
                     const std::vector<std::string>& without = {}) const;
    /// The outcome of a case whose worker died of it or of an earlier one.
    Outcome judge(const WorkerHistory& history, const Task& task, const WorkerEnd& end);
    /// The outcome of a case that alone has killed its worker.
    Outcome blame(const Task& task, WorkerEnd end);
    /// Whether an answered case was found to be to blame, which then has its late answer.
    bool find_culprit(const WorkerHistory& history);
    Outcome unexplained(const WorkerHistory& history, const Work& work, const WorkerEnd& end) const;
    void end_without_a_case(const WorkerHistory& history, const WorkerEnd& end);

    TimeLimits limits_;
    Crew crew_;
    std::deque<Answer> answers_;
    std::optional<std::string> probe_answer_;
    std::size_t in_flight_ = 0;
};

}  // namespace gradverify
