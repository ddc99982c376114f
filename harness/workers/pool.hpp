// SPDX-License-Identifier: Apache-2.0
// Gives cases to a crew of workers, and decides which case is to blame for the death of one:
//
//   - the case that it was running, if it was its first or kills a fresh worker as well;
//   - else an earlier case of that worker that kills a fresh one (it damages the heap, say): its
//     answer is taken back;
//   - a kernel that the case only borrowed is blamed on its own rows: the case is run without it.
//
// A failure behind other kernels' cases is judged likewise, and so is a death that none of these
// explains: by the case alone, by the cases of its own kernel before it, then by each other
// kernel's.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/workers/run_alone.hpp"

namespace gradverify {

struct RunOptions {
    Patience patience = Patience::full;
    bool alone = false;  ///< in a worker of its own, by `run_alone`
    /// Called now and then, to take answers and submit more cases, which the other workers run.
    /// Without it, nothing else is looked after.
    std::function<void()> meanwhile{};
};

class WorkerPool {
  public:
    struct Answer {
        std::int64_t ticket = 0;
        std::optional<Case> drawn;
        Outcome outcome;
        /// The case was answered before, and is a failure after all: it killed its worker later.
        bool late = false;
        /// It took longer than a trial may, which the outcome tells.
        bool is_put_off = false;
    };

    /// **Errors** EnvironmentError when a worker can't be started; below also Interrupted.
    explicit WorkerPool(WorkerPoolOptions options);

    /// From now on until `finish`, called now and then while it is looked for who is to blame for a
    /// death on a GPU, so that the other workers have cases; a death meanwhile is judged after
    /// that. On the CPU device it takes less time than what kernels that end processes would do
    /// meanwhile.
    void keep_busy(std::function<void()> meanwhile) { keep_busy_ = std::move(meanwhile); }

    int jobs() const { return std::max(crew_.options().jobs, 1); }
    bool has_room() const { return crew_.has_room(); }
    bool is_left(const WorkRow& row) const { return crew_.is_left(row); }
    std::int64_t changes_of_left() const { return crew_.changes_of_left(); }
    bool has_room_for_left() const { return crew_.has_room_for_left(); }
    /// Cases whose answer `wait` has not yet returned; of these, those that no worker has any more,
    /// since it is looked for who is to blame for a death or a failure.
    std::size_t in_flight() const { return in_flight_; }
    std::size_t judged() const { return deferred_.size() + (is_judging_ ? 1 : 0); }

    /// Gives a case to the worker with the fewest. Tickets are not negative. A trial that takes
    /// long is ended and answered as put off.
    void submit(std::int64_t ticket, Work work, Patience patience = Patience::full);
    /// Takes a case back that no worker has yet been given; false when one has.
    bool withdraw(std::int64_t ticket);
    /// The next answer; nothing when none came in time or none is due.
    std::optional<Answer> wait(double seconds);
    /// Ends the workers, once nothing is in flight, or at once where it `gives_up` what is; one
    /// that ends badly while it is idle gives a case a late answer.
    void finish(bool gives_up = false);

    /// Runs one case and waits for it; answers to others are kept for `wait`.
    Outcome run(const Work& work, const RunOptions& how = {});
    /// Runs trials of these cases beside those that `run` is asked for, for the ones that it will
    /// be asked for next, in place of those that were expected before.
    void expect(const std::vector<Work>& next);
    /// Why the device can't be used; empty when it can. To be asked before any case is submitted.
    std::string probe(const std::string& device);

  private:
    static constexpr std::int64_t ticket_of_run = -1;
    class Meanwhile;

    /// A trial that was not yet asked for.
    struct Expected {
        std::int64_t ticket = 0;
        std::optional<Outcome> outcome;
    };

    void drop(const Expected& expected);
    std::optional<Outcome> outcome_if_expected(const Work& work, const RunOptions& how);
    void answer(const Task& task, Outcome outcome, bool is_put_off = false);
    /// Waits for the crew's next event, and takes note of it.
    void attend(double seconds);
    void take(Crew::Event event);
    void take(const Crew::Answered& answered);
    void take(const Crew::Ended& ended);

    LoneResult alone(const std::vector<Work>& works, Patience patience,
                     const std::set<std::string>& without = {});
    /// The outcome of a case whose worker died, of it or of an earlier one.
    Outcome judge(const WorkerHistory& history, const Task& task, const WorkerEnd& end);
    /// The outcome of a case that failed in a process that had answered these.
    Outcome judge(const WorkerHistory& before, const Task& task, const Outcome& failed);
    /// The same, also of one that died or hung; nothing where it comes to that neither alone, nor
    /// behind cases of its own kernel, nor behind one of another's.
    std::optional<Outcome> explained(const WorkerHistory& before, const Work& work,
                                     const Outcome& failed, Patience patience);
    /// Its outcome in a fresh process that runs these before; a death of any is a failure.
    Outcome run_behind(std::vector<Work> before, const Work& work, Patience patience);
    /// The outcome of a case that alone has killed its worker.
    Outcome blame(const Task& task, WorkerEnd end);
    /// The outcome of a case that has killed its worker by itself.
    Outcome charged(const WorkerEnd& end, const Work& work) const;
    /// Looks for an answered case that is to blame, and gives it a late answer; false without one.
    bool find_culprit(const WorkerHistory& history, std::chrono::seconds time);
    Outcome unexplained(const std::vector<Task>& before, const Work& work, const WorkerEnd& end,
                        const Outcome& alone_it);
    /// The last case of the one other kernel without whose cases these no longer end in a death;
    /// nothing where it takes several, or none.
    std::optional<Task> only_culprit(const std::vector<Task>& before, const Work& work);
    /// Whether a process dies at one of the others behind this one, and not at that alone.
    bool ends_others(const Work& before, const std::vector<Work>& others);
    /// Whether one of these is of another kernel that was charged with the death of a process.
    bool has_harmful(const std::vector<Task>& tasks, const Kernel* other_than);
    /// Notes that a kernel ended a process, or made another's case do so.
    void note_harm(const Work& work);
    /// Gives an answered case of a kernel a late answer: what it leaves makes this work fail.
    void accuse(const Task& suspect, const Work& work, const std::string& what);
    /// Runs a case alone of each kernel whose processes were all ended by others, and which may end
    /// its process itself when that exits. On a GPU that takes too long.
    void see_exits();
    void end_without_a_case(const Crew::Ended& ended);

    TimeLimits limits_;
    Crew crew_;
    struct KnownKernel {
        bool fails_alone = false;          ///< or behind cases of its own
        bool is_harmful = false;           ///< was charged with the death of a process
        std::set<std::string> causes;      ///< of these, of cases that died alone
        std::optional<Task> first_passed;  ///< on the CPU device
    };
    std::map<const Kernel*, KnownKernel> known_;
    std::deque<Answer> answers_;
    std::map<std::string, Expected> expected_;    ///< by printed case
    std::int64_t last_expected_ = ticket_of_run;  ///< their tickets count down
    std::size_t in_flight_ = 0;
    bool is_late_ = false;  ///< nobody waits long for a culprit
    /// Of the `run` that is going on; null where it has none.
    const std::function<void()>* meanwhile_ = nullptr;
    std::function<void()> keep_busy_;
    bool is_judging_ = false;
    std::deque<Crew::Event> deferred_;  ///< what happened meanwhile, and is to be judged
};

}  // namespace gradverify
