// SPDX-License-Identifier: Apache-2.0
// Decides which case is run next: the rows of a run in turn, and each row's cases until it has had
// them or something has stopped it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/check_rows.hpp"
#include "harness/run/draw_ahead.hpp"
#include "harness/run/time_budget.hpp"
#include "harness/run/turns.hpp"

namespace gradverify {

/// What ends a row: a case that failed or errored, or one that could not be drawn.
struct Stop {
    std::optional<Case> drawn;
    Outcome outcome;
};

/// A case that took longer than a trial may, and what it came to there.
struct PutOff {
    std::int64_t index = 0;
    int redraws = 0;
    Case drawn;
    Outcome outcome;
};

/// What is known of a kernel on a device: how its cases end.
struct ServedKernel {
    std::vector<std::size_t> rows;  ///< their places
    std::int64_t in_flight = 0;     ///< cases
    /// Cases that came to an end; one that died or hung counts against several.
    std::int64_t ends = 0;
    bool may_hang = false;       ///< a case was put off
    bool is_waited_for = false;  ///< one that was has all its time
    bool is_hanging = false;     ///< it took more than that
    bool has_passed = false;

    bool is_known() const { return ends > 0; }
};

/// A row that is being served.
struct Serving {
    RowResult result;
    ServedKernel* kernel = nullptr;
    std::vector<Problem> problems;   ///< the user's that the kernel supports
    std::set<std::size_t> compared;  ///< of these
    std::int64_t cases = 0;          ///< at most, over all shards
    std::int64_t next_index = 0;
    std::int64_t in_flight = 0;
    std::deque<Case> known;  ///< that have failed before
    /// Those drawn that are too dear for a row's first, with their index; the number of the others,
    /// and what the first of these cost, in ascending order.
    std::deque<std::pair<std::int64_t, Work>> dear;
    std::int64_t usual = 0;
    std::vector<double> shares;
    std::optional<ExhaustiveWalk> walk;
    std::deque<PutOff> put_off;  ///< while there are some, it takes no other case
    bool open = false;           ///< takes more cases
    bool runs_alone = false;     ///< its cases never run beside one of another such row
    bool ended = false;
    /// By index: the first one decides the row, whatever the order of the answers.
    std::map<std::int64_t, Stop> stops;
    std::optional<Shrunk> begun;  ///< after its first share shrinking goes on here
};

/// A kernel's first failure, until one of it is reported.
struct SeenFailure {
    Case found;
    Outcome outcome;
    TimeBudget::Clock::time_point seen = TimeBudget::Clock::now();
    bool is_told = false;
};

class Rows {
  public:
    /// All that is given must outlive this.
    Rows(const Suite& suite, const std::vector<Row>& rows, const CheckOptions& options,
         WorkerPool& pool, const CheckObserver& observer, const TimeBudget& time);

    std::vector<Serving>& all() { return rows_; }
    /// First failures, by kernel and device.
    std::map<std::pair<const Kernel*, std::string>, SeenFailure>& seen() { return seen_; }
    std::int64_t most() const { return most_; }  ///< cases
    std::int64_t done() const { return done_; }
    std::int64_t failed() const { return failed_; }  ///< rows
    bool any_stopped() const { return any_stopped_; }
    SignOfLife sign() const;

    /// Fills the pipes; false when nothing runs and nothing is to be submitted. `is_idle`: nothing
    /// else is going on, so a case that was put off keeps nobody waiting.
    bool submit_some(bool is_idle = true);
    void take(const WorkerPool::Answer& answer);
    /// Whether it takes a case now.
    bool takes_more(const Serving& serving) const;
    /// Whether it has had all its cases, or nothing was left of it to run.
    bool is_served(const Serving& serving) const;
    /// Ends a row that nothing has stopped.
    void end(Serving& serving);
    /// Tells of a row whose verdict stands.
    void tell_end(Serving& serving);
    /// While that is so, no row that runs one at a time is given a case.
    void keep_alone_waiting(bool waits) { is_alone_waiting_ = waits; }
    /// Ends the threads that draw, which read rows.
    void stop_drawing() { drawing_.stop(); }

  private:
    struct Given {
        std::size_t row = 0;
        std::int64_t index = 0;
        int redraws = 0;
        bool was_put_off = false, is_of_unknown = false;
        double expected_seconds = 0.0;  ///< 0: not known
        TimeBudget::Clock::time_point since = TimeBudget::Clock::now();
    };

    Serving serving_of(const Row& row) const;
    void add_known(Serving& serving) const;
    std::int64_t cases_of(const Serving& serving) const;
    bool has_more(const Serving& serving) const;
    bool has_failed_enough() const {
        return options_.max_failures > 0 && failed_ >= options_.max_failures;
    }
    bool is_waiting(const ServedKernel& kernel) const;
    bool is_out_of_time(const Serving& serving) const;
    std::int64_t due(const Serving& serving) const;
    Turn turn_of(const Serving& serving) const;
    void set_kind(std::size_t which);
    bool may_run_one() const;
    void come_back(std::int64_t ticket);
    void submit(std::size_t which, Serving& serving);
    void submit(std::size_t which, std::int64_t index, Work work, int redraws = 0,
                Patience patience = Patience::trial);
    void submit_put_off(std::size_t most);
    bool is_time_for_put_off() const;
    void submit_put_off_of(const ServedKernel& kernel);
    void put_off(Serving& serving, PutOff one);
    void note_end(ServedKernel& kernel, bool in_good_order);
    void end_wait(ServedKernel& kernel, const Outcome& outcome);
    bool is_too_dear(Serving& serving, double share) const;
    void end_dues();
    void submit_next_of_walk(std::size_t which, Serving& serving);
    void close(Serving& serving);
    Work work_of(Case drawn) const;
    DrawAhead::Drawn draw(const Serving& serving, std::int64_t index) const;
    void stop(Serving& serving, std::int64_t index, const Stop& why);
    void withdraw_behind(std::size_t row, std::int64_t index);
    void take_back(const WorkerPool::Answer& late);
    void settle(Serving& serving, std::int64_t index, const Case& drawn, const Outcome& outcome);
    void count(Serving& serving, std::int64_t index, const Case& drawn, const Outcome& outcome);
    void count_known(Serving& serving, std::int64_t index, const Case& known,
                     const Outcome& outcome);

    const Suite& suite_;
    const CheckOptions& options_;
    WorkerPool& pool_;
    const CheckObserver& observer_;
    const TimeBudget& time_;
    std::vector<Serving> rows_;
    std::set<std::int64_t> running_;  ///< tickets
    Turns turns_;
    std::int64_t changes_of_left_ = 0;  ///< when it was last asked
    std::int64_t alone_in_flight_ = 0;  ///< cases of rows that run one at a time
    bool is_alone_waiting_ = false;
    bool are_first_due_ = true;     ///< rows have their first cases before others have more
    double backlog_seconds_ = 0.0;  ///< that the cases in flight are expected to take
    std::set<const Kernel*> failing_kernels_;
    std::map<std::pair<const Kernel*, std::string>, ServedKernel> kernels_;  ///< on a device
    std::size_t waited_for_ = 0;                                             ///< kernels
    std::int64_t of_unknown_ = 0;  ///< cases in flight of kernels that are not known to end
    std::map<std::pair<const Kernel*, std::string>, SeenFailure> seen_;
    std::vector<Given> given_;  ///< by ticket
    std::int64_t most_ = 0, done_ = 0, failed_ = 0;
    bool any_stopped_ = false;
    DrawAhead drawing_;  ///< its threads read rows
};

}  // namespace gradverify
