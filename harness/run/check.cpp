// SPDX-License-Identifier: Apache-2.0
#include "harness/run/check.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "harness/base/interrupt.hpp"
#include "harness/run/bugs.hpp"
#include "harness/run/draw_ahead.hpp"
#include "harness/run/redraw.hpp"
#include "harness/run/row_verdict.hpp"
#include "harness/run/shrink_in_workers.hpp"
#include "harness/run/time_budget.hpp"
#include "harness/run/turns.hpp"

namespace gradverify {

namespace {

const std::string drawing_threw = "drawing a problem threw: ";
// A row that has compared nothing but zeros is given this many cases.
constexpr std::int64_t cases_to_tell = 100;
// The other rows of a kernel run this many cases before its failure is reported.
constexpr std::int64_t cases_to_join = 20;
// More threads than these draw nothing that is missed.
constexpr int most_drawing = 4;

/// What ends a row: a case that failed or errored, or one that could not be drawn.
struct Stop {
    std::optional<Case> drawn;
    Outcome outcome;
};

/// A row that is being served.
struct Serving {
    RowResult result;
    std::vector<Problem> problems;  ///< the user's that the kernel supports
    std::int64_t cases = 0;         ///< at most, over all shards
    std::int64_t next_index = 0;
    std::int64_t in_flight = 0;
    std::deque<Case> known;  ///< that have failed before
    std::optional<ExhaustiveWalk> walk;
    bool open = false;        ///< takes more cases
    bool runs_alone = false;  ///< its cases never run beside one of another such row
    bool ended = false;
    /// By index: the first one decides the row, whatever the order of the answers.
    std::map<std::int64_t, Stop> stops;
    std::optional<Shrunk> begun;  ///< after its first share shrinking goes on here
};

/// Places of the rows, the suite's first property first.
std::vector<std::size_t> by_property(const Suite& suite, const std::vector<Row>& rows) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    const std::vector<const Property*> first = suite.properties();
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        return std::ranges::find(first, rows[i].property) - first.begin();
    });
    return order;
}

class Check {
  public:
    Check(const Suite& suite, const std::vector<Row>& rows, const CheckOptions& options,
          WorkerPool& pool, const CheckObserver& observer)
        : suite_(suite),
          options_(options),
          pool_(pool),
          observer_(observer),
          turns_(by_property(suite, rows), options.seconds.has_value()),
          drawing_([this](std::size_t row, std::int64_t index) { return draw(rows_[row], index); },
                   rows.size(), std::clamp(pool.jobs() / 8, 0, most_drawing)) {
        for (const Row& row : rows) {
            rows_.push_back(serving_of(row));
            set_kind(rows_.size() - 1);
        }
        most_ = most();
    }

    std::vector<RowResult> run() {
        try {
            while (submit_some()) {
                if (const auto answer = pool_.wait(0.2)) take(*answer);
                end_next();
                tell();
            }
            // A worker that dies at its end is charged to a case too.
            pool_.finish();
            while (const auto late = pool_.wait(0.0)) take(*late);
            while (end_next()) tell();
        } catch (const Interrupted&) {
            // Rows that have not ended are skipped below.
        }
        is_finishing_ = true;
        drawing_.stop();  // its threads read what is moved below
        std::vector<RowResult> results;
        for (Serving& serving : rows_)
            if (!serving.ended) end(serving);  // also those that only wait to be shrunk
        report_bugs(true);
        for (Serving& serving : rows_) results.push_back(std::move(serving.result));
        return results;
    }

  private:
    /// What goes on while a failure is shrunk.
    void serve() {
        submit_some();
        while (const auto answer = pool_.wait(0.0)) take(*answer);
        tell();
    }

    void tell() {
        if (!unreported_.empty()) report_bugs(false);
        if (observer_.failure_waits) tell_of_failures();
        if (observer_.progressed) observer_.progressed(done_, most_, failed_);
        if (observer_.row_goes_on) tell_rows();
    }

    void tell_of_failures() {
        const auto long_ago =
            TimeBudget::Clock::now() - std::chrono::duration<double>(options_.seconds_to_report);
        for (auto& [kernel, failure] : failures_) {
            if (failure.is_told || failure.seen > long_ago) continue;
            failure.is_told = true;
            observer_.failure_waits(failure.found, failure.outcome);
        }
    }

    void tell_rows() {
        const auto now = TimeBudget::Clock::now();
        if (now < next_told_) return;
        next_told_ = now + (now - begin_);
        for (const Serving& serving : rows_)
            if (!serving.ended && serving.result.cases > 0) observer_.row_goes_on(serving.result);
    }

    Serving serving_of(const Row& row) const {
        Serving serving;
        serving.result.row = row;
        for (const Problem& problem : options_.problems) {
            if (&problem.space() != &row.kernel->op->space || row.kernel->op->validate(problem))
                continue;
            if (const auto why = row.kernel->why_unsupported(problem))
                serving.result.left_out.push_back(problem.print() + ": " + *why);
            else
                serving.problems.push_back(problem);
        }
        serving.next_index = options_.shard.index;
        serving.cases = options_.cases;
        if (options_.cases_per_problem)
            serving.cases =
                *options_.cases_per_problem * static_cast<std::int64_t>(serving.problems.size());
        serving.runs_alone = row.property->own_cases > 0;
        if (serving.runs_alone) serving.cases = std::min(serving.cases, row.property->own_cases);
        if (!options_.data_files.empty() && row.property->needs_integers)
            ++serving.result.skips["needs integers, not recorded tensors"];
        else if (serving.runs_alone && (options_.exhaustive || !options_.problems.empty()))
            ++serving.result.skips["draws problems of its own"];
        else if (options_.exhaustive)
            serving.walk.emplace(suite_, row, *options_.exhaustive);
        else if (!options_.problems.empty() && serving.problems.empty())
            ++serving.result.skips["supports none of the given problems"];
        else if (serving.next_index >= serving.cases)
            ++serving.result.skips[no_case_in_shard];
        serving.open = serving.result.skips.empty();
        if (options_.shard.index == 0) add_known(serving);
        return serving;
    }

    /// On whatever device the row has.
    void add_known(Serving& serving) const {
        const Row& row = serving.result.row;
        for (const Case& known : options_.known_cases) {
            if (known.kernel != row.kernel->name || known.property != row.property->name) continue;
            Case here = known;
            here.device = row.device;
            if (std::ranges::find(serving.known, here) == serving.known.end())
                serving.known.push_back(std::move(here));
        }
    }

    /// The drawn cases of a row in this shard.
    std::int64_t cases_of(const Serving& serving) const {
        const Shard& shard = options_.shard;
        return serving.cases > shard.index ? (serving.cases - 1 - shard.index) / shard.count + 1
                                           : 0;
    }

    /// The cases of this shard, of all rows.
    std::int64_t most() const {
        std::int64_t sum = 0;
        if (options_.exhaustive) return 0;
        for (const Serving& serving : rows_) sum += std::ssize(serving.known) + cases_of(serving);
        return sum;
    }

    bool has_more(const Serving& serving) const {
        return serving.open &&
               (!serving.known.empty() || serving.walk || serving.next_index < serving.cases);
    }

    /// When time is up, a row still takes the cases that it is due, and more while it has compared
    /// nothing but zeros; each of these waits for the one before, so that their number depends on
    /// the seed alone, as long as they fit the time that shrinking may take. Rows that run one at a
    /// time are too dear to be due any.
    bool takes_more(const Serving& serving) const {
        const Shard& shard = options_.shard;
        const std::int64_t given = (serving.next_index - shard.index) / shard.count;
        const RowResult& got = serving.result;
        const bool is_vacuous = got.cases > 0 && got.passed == 0 && serving.result.skips.empty();
        const bool is_to_tell =
            is_vacuous && serving.in_flight == 0 && given < cases_to_tell && !time_.is_overrun();
        const bool is_due = given < options_.at_least || is_to_tell;
        const bool may_be_due = !serving.walk && !serving.runs_alone;
        if (options_.seconds && given >= std::max(cases_beside_a_failure, options_.at_least) &&
            failing_kernels_.contains(got.row.kernel))
            return false;
        return has_more(serving) && (!time_.is_up() || (may_be_due && is_due));
    }

    /// Whether a time limit is on and rows still take cases: shrinking would keep them waiting.
    bool is_detecting() const {
        return options_.seconds && !is_finishing_ &&
               std::ranges::any_of(rows_, [&](const Serving& row) { return takes_more(row); });
    }

    /// Fills the pipes; false when nothing runs and nothing is to be submitted.
    bool submit_some() {
        if (rows_left_ != pool_.rows_left()) {
            rows_left_ = pool_.rows_left();
            for (std::size_t i = 0; i < rows_.size(); ++i) set_kind(i);
        }
        for (;;) {
            const Room room{pool_.has_room(), pool_.has_room_for_left(),
                            pool_.has_room() && may_run_one()};
            const auto which =
                turns_.next(room, [&](std::size_t row) { return turn_of(rows_[row]); });
            if (!which) break;
            submit(*which, rows_[*which]);
            time_.case_is_submitted();
        }
        return pool_.in_flight() > 0 ||
               std::ranges::any_of(rows_, [&](const Serving& row) { return takes_more(row); });
    }

    Turn turn_of(const Serving& serving) const {
        if (!has_more(serving)) return Turn::never;
        return takes_more(serving) ? Turn::now : Turn::later;
    }

    void set_kind(std::size_t which) {
        const Row& row = rows_[which].result.row;
        const bool is_left = pool_.is_left({row.kernel, row.device, row.property_name()});
        turns_.set_kind(which, rows_[which].runs_alone ? RowKind::one_at_a_time
                               : is_left               ? RowKind::left_by_clients
                                                       : RowKind::usual);
    }

    /// Where two rows that run one at a time had a case each, one worker would wait for the other.
    bool may_run_one() const {
        return alone_in_flight_ == 0 && !(shrinking_ && shrinking_->runs_alone);
    }

    /// A case of the row is given to a worker, or comes back.
    void count_in_flight(Serving& serving, int more) {
        serving.in_flight += more;
        if (serving.runs_alone) alone_in_flight_ += more;
    }

    void submit(std::size_t which, Serving& serving) {
        if (!serving.known.empty()) {
            const std::int64_t index = -std::ssize(serving.known);
            Case known = std::move(serving.known.front());
            serving.known.pop_front();
            return submit(which, index, work_of(std::move(known)));
        }
        if (serving.walk) return submit_next_of_walk(which, serving);
        const std::int64_t index = serving.next_index, step = options_.shard.count;
        serving.next_index += step;
        // Large problems are few, and take long to draw.
        DrawAhead::Drawn drawn = serving.runs_alone
                                     ? draw(serving, index)
                                     : drawing_.take(which, index, step, serving.cases);
        if (drawn.work) return submit(which, index, std::move(*drawn.work));
        if (!drawn.is_skip) return stop(serving, index, {{}, Outcome::errored(drawn.why_none)});
        ++serving.result.skips[drawn.why_none];
        close(serving);
    }

    /// The row takes no more cases, and ends if none is running.
    void close(Serving& serving) {
        serving.open = false;
        if (serving.in_flight == 0 && serving.stops.empty()) end(serving);
    }

    void submit_next_of_walk(std::size_t which, Serving& serving) try {
        if (auto step = serving.walk->next()) {
            serving.next_index = step->index + 1;
            return submit(which, step->index, work_of(step->dense));
        }
        if (serving.next_index == options_.shard.index) ++serving.result.skips[no_problem_in_shard];
        close(serving);
    } catch (const std::exception& wrong) {
        stop(serving, serving.next_index, {{}, Outcome::errored(drawing_threw + wrong.what())});
    }

    Work work_of(Case drawn) const {
        drawn.setting.is_strict |= options_.is_strict;
        return drawn;
    }

    void submit(std::size_t which, std::int64_t index, Work work, int redraws = 0) {
        const auto ticket = std::ssize(given_);
        count_in_flight(rows_[which], 1);
        turns_.began(which);
        given_.push_back({which, index, redraws});
        running_.insert(ticket);
        pool_.submit(ticket, std::move(work));
    }

    /// Where a user's predicate or shape function throws, that is the row's error, not the run's.
    DrawAhead::Drawn draw(const Serving& serving, std::int64_t index) const try {
        const Row& row = serving.result.row;
        if (!serving.problems.empty()) {
            const auto count = static_cast<std::int64_t>(serving.problems.size());
            const Problem& problem = serving.problems[static_cast<std::size_t>(index % count)];
            Case drawn = suite_.draw_on(row, options_.seed, index, problem);
            drawn.data.files = options_.data_files;
            return {.work = work_of(std::move(drawn))};
        }
        Suite::Draw draw = suite_.draw(row, options_.seed, index);
        if (draw.drawn) return {.work = work_of(std::move(*draw.drawn))};
        return {.work = {}, .why_none = std::move(draw.why_none), .is_skip = draw.is_skip};
    } catch (const std::exception& wrong) {
        return {.work = {}, .why_none = drawing_threw + wrong.what()};
    } catch (...) {
        return {.work = {}, .why_none = drawing_threw + "something that is no std::exception"};
    }

    void stop(Serving& serving, std::int64_t index, const Stop& why) {
        serving.open = false;
        if (serving.stops.empty()) failed_ += why.outcome.verdict == Verdict::failed;
        serving.stops.try_emplace(index, why);
        any_stopped_ = true;
        if (why.outcome.verdict != Verdict::failed) return;
        const Row& row = serving.result.row;
        failing_kernels_.insert(row.kernel);
        failures_.try_emplace({row.kernel, row.device}, SeenFailure{*why.drawn, why.outcome});
    }

    /// Takes back the cases behind the one that decides the row: each might hang.
    void withdraw_behind(std::size_t row, std::int64_t index) {
        std::erase_if(running_, [&](std::int64_t ticket) {
            const Given& given = given_[static_cast<std::size_t>(ticket)];
            if (given.row != row || given.index <= index || !pool_.withdraw(ticket)) return false;
            count_in_flight(rows_[row], -1);
            return true;
        });
    }

    /// An answered case has proved to have damaged its worker: its row has failed after all.
    void take_back(const WorkerPool::Answer& late) {
        const Given& given = given_[static_cast<std::size_t>(late.ticket)];
        Serving& serving = rows_[given.row];
        stop(serving, given.index, {late.drawn, late.outcome});
        const Verdict verdict = serving.result.verdict;
        if (verdict != Verdict::failed && verdict != Verdict::errored) serving.ended = false;
    }

    void take(const WorkerPool::Answer& answer) {
        if (answer.late) return take_back(answer);
        if (running_.erase(answer.ticket) == 0) throw std::logic_error("an answer to no case");
        const auto [row, index, redraws] = given_[static_cast<std::size_t>(answer.ticket)];
        const Case& drawn = *answer.drawn;
        Serving& serving = rows_[row];
        count_in_flight(serving, -1);
        turns_.ended(row, answer.outcome.seconds_total);
        const Operator& op = *serving.result.row.kernel->op;
        if (index >= 0 && is_worth_redrawing(drawn, op, answer.outcome, redraws) &&
            serving.stops.empty() && !time_.is_up())
            return submit(row, index, work_of(redrawn(drawn)), redraws + 1);
        ++done_;
        if (observer_.case_ended) observer_.case_ended(drawn, answer.outcome);
        count(serving, index, drawn, answer.outcome);
        if (!serving.stops.empty()) withdraw_behind(row, serving.stops.begin()->first);
        if (is_served(serving) && serving.stops.empty()) end(serving);
    }

    bool is_served(const Serving& serving) const {
        return !has_more(serving) && serving.in_flight == 0;
    }

    /// Ends the next of the rows that something stopped, once every row has had its first case;
    /// false where none is to be ended now.
    bool end_next() {
        if (!any_stopped_) return false;
        const auto waits_for_a_case = [&](const Serving& serving) {
            return takes_more(serving) && !serving.runs_alone &&
                   serving.next_index == options_.shard.index;
        };
        if (std::ranges::any_of(rows_, waits_for_a_case)) return false;
        for (Serving& serving : rows_)
            if (!serving.ended && is_served(serving) && is_errored(serving)) end(serving);
        // An only worker is for other rows' cases first.
        const bool may_go_on = pool_.jobs() > 1 || !is_detecting();
        Serving* next = nullptr;
        for (Serving& serving : rows_) {
            if (serving.ended || serving.stops.empty() || !is_served(serving) ||
                (serving.begun && !may_go_on))
                continue;
            if (!next || urgency(serving) < urgency(*next)) next = &serving;
        }
        if (next) end(*next);
        return next != nullptr;
    }

    static bool is_errored(const Serving& serving) {
        return !serving.stops.empty() &&
               serving.stops.begin()->second.outcome.verdict == Verdict::errored;
    }

    /// The smallest is shrunk first: what has not had its first share, then the kernel that fails
    /// with the least work, its rows in their order.
    std::tuple<bool, bool, double, std::string_view> urgency(const Serving& serving) const {
        const Row& row = serving.result.row;
        double least = std::numeric_limits<double>::infinity();
        for (const Serving& other : rows_)
            if (!other.ended && !other.stops.empty() && is_of_one_kernel(other.result.row, row))
                least = std::min(least, work_of(other));
        return {serving.begun.has_value(), serving.runs_alone, least, row.kernel->name};
    }

    /// In multiply-adds of its smallest failure; without end where that is a hang.
    static double work_of(const Serving& serving) {
        const auto& [found, outcome] = serving.stops.begin()->second;
        if (!found || outcome.discovery == Discovery::overstepped)
            return std::numeric_limits<double>::infinity();
        return serving.result.row.kernel->pass->multiply_adds(
            (serving.begun ? serving.begun->smallest : *found).problem);
    }

    /// Whether other rows of the kernel may yet show that they fail for the same reason.
    bool waits_for_others(const Row& failed) const {
        return std::ranges::any_of(rows_, [&](const Serving& serving) {
            const RowResult& result = serving.result;
            return is_of_one_kernel(result.row, failed) && !serving.ended && !serving.runs_alone &&
                   (result.cases < cases_to_join || (!serving.stops.empty() && !serving.begun));
        });
    }

    /// Reports new failures, a bug at a time; before the end only those that wait for no other row.
    void report_bugs(bool is_end) {
        const auto first_ready = std::stable_partition(
            unreported_.begin(), unreported_.end(),
            [&](const auto* result) { return !is_end && waits_for_others(result->row); });
        std::vector<const RowResult*> ready(first_ready, unreported_.end());
        unreported_.erase(first_ready, unreported_.end());
        std::ranges::sort(ready);  // the rows' order: all lie in one array
        while (!ready.empty()) {
            const std::vector<const RowResult*> bug = take_bug(ready);
            const bool is_more = std::ranges::any_of(bug, [&](const RowResult* result) {
                return std::ranges::any_of(
                    reported_, [&](const RowResult* other) { return is_one_bug(*result, *other); });
            });
            reported_.insert(reported_.end(), bug.begin(), bug.end());
            failures_.erase({bug.front()->row.kernel, bug.front()->row.device});
            if (observer_.bug_found) observer_.bug_found(bug, is_more);
        }
    }

    /// A known case that does not fail tells nothing of what was drawn; one that errs is stale.
    void count_known(Serving& serving, std::int64_t index, const Case& known,
                     const Outcome& outcome) {
        serving.result.seconds += outcome.seconds_total;
        if (outcome.verdict == Verdict::failed) {
            ++serving.result.cases;
            stop(serving, index, {known, outcome});
        } else if (outcome.verdict == Verdict::errored) {
            serving.result.left_out.push_back(known.print() + ": " + outcome.message);
        }
    }

    void count(Serving& serving, std::int64_t index, const Case& drawn, const Outcome& outcome) {
        if (index < 0) return count_known(serving, index, drawn, outcome);
        RowResult& result = serving.result;
        ++result.cases;
        result.seconds += outcome.seconds_total;
        if (serving.walk && outcome.verdict != Verdict::failed &&
            outcome.verdict != Verdict::errored)
            serving.walk->answered(index, outcome.verdict);
        switch (outcome.verdict) {
            case Verdict::passed:
                note_passed(result, drawn, outcome, serving.runs_alone);
                break;
            case Verdict::vacuous:
                // An empty problem can come to nothing else.
                if (result.row.kernel->op->is_empty(drawn.problem))
                    result.coverage.add(*result.row.kernel, drawn.problem);
                break;
            case Verdict::skipped:
                ++serving.result.skips[outcome.message];
                if (outcome.is_refusal) ++result.refused;
                break;
            case Verdict::failed:
            case Verdict::errored:
                stop(serving, index, {drawn, outcome});
                break;
        }
    }

    void end(Serving& serving) {
        RowResult& result = serving.result;
        if (serving.walk) result.exhaustive = serving.walk->cover();
        if (serving.stops.empty()) {
            if (time_.is_up() && !serving.walk && has_more(serving))
                result.cut_of = cases_of(serving);
            decide_verdict(result);
            result.may_hang = serving.in_flight > 0 && interrupt_signal() == 0;
            if (result.may_hang) {
                result.verdict = Verdict::skipped;
                result.message = "a case did not end in time";
            }
            if (result.verdict == Verdict::passed)
                result.within_reach = suite_.pairs_within_reach(result.row);
        } else {
            const auto& [index, why] = *serving.stops.begin();
            const auto& [found, outcome] = why;
            result.verdict = outcome.verdict;
            result.message = outcome.message;
            result.found_at = index;
            if (outcome.verdict == Verdict::failed) {
                if (!shrink(serving, *found, outcome)) return;
                if (serving.walk && options_.shard.count == 1 && index >= 0)
                    certify(*result.failure, *found, *serving.walk, index);
            } else if (found)
                result.message += " (" + found->print() + ")";
        }
        serving.ended = true;
        result.known = options_.is_known && options_.is_known(result);
        if (result.known) failures_.erase({result.row.kernel, result.row.device});
        if (result.failure && !result.known) unreported_.push_back(&result);
        if (observer_.row_ended) observer_.row_ended(result);
    }

    /// False where shrinking takes longer than other failures can wait: it goes on after these.
    bool shrink(Serving& serving, const Case& found, const Outcome& outcome) {
        RowResult& result = serving.result;
        const bool is_first_share = !serving.begun && is_detecting();
        const Shrunk start = serving.begun.value_or(Shrunk{found, outcome, {}, 0});
        // A row with problems of its own shares none with others.
        std::vector<Problem> own;
        std::vector<Problem>& known =
            serving.runs_alone ? own : failing_problems_[result.row.kernel];
        std::vector<Problem>& explained =
            serving.runs_alone ? own : explained_[{result.row.kernel, result.row.device}];
        shrinking_ = &serving;
        const auto deadline = is_first_share ? time_.first_shrink_deadline() : shrink_deadline();
        Shrunk shrunk = shrink_in_workers(
            suite_, pool_, start.smallest, start.outcome,
            {.known = known, .explained = explained, .deadline = deadline, .meanwhile = [this] {
                 serve();
             }});
        shrinking_ = nullptr;
        shrunk.runs += start.runs;
        known.push_back(shrunk.smallest.problem);
        if (is_first_share && TimeBudget::Clock::now() > *deadline) {
            serving.begun = std::move(shrunk);
            return false;
        }
        if (!shrunk.generality.text.empty()) explained.push_back(shrunk.smallest.problem);
        result.message = shrunk.outcome.message;
        result.failure = std::move(shrunk);
        result.found = FoundFailure{found, outcome};
        return true;
    }

    std::optional<TimeBudget::Clock::time_point> shrink_deadline() const {
        return time_.shrink_deadline(std::ranges::count_if(rows_, [&](const Serving& row) {
            return !row.ended && !row.stops.empty() && &row != shrinking_;
        }));
    }

    /// A kernel's first failure, until one of it is reported.
    struct SeenFailure {
        Case found;
        Outcome outcome;
        TimeBudget::Clock::time_point seen = TimeBudget::Clock::now();
        bool is_told = false;
    };

    struct Given {
        std::size_t row = 0;
        std::int64_t index = 0;
        int redraws = 0;
    };

    const Suite& suite_;
    const CheckOptions& options_;
    WorkerPool& pool_;
    const CheckObserver& observer_;
    std::vector<Serving> rows_;
    std::set<std::int64_t> running_;  ///< tickets
    Turns turns_;
    std::size_t rows_left_ = 0;         ///< by clients, when it was last asked
    std::int64_t alone_in_flight_ = 0;  ///< cases of rows that run one at a time
    std::map<const Kernel*, std::vector<Problem>> failing_problems_;  ///< as shrunk
    std::map<std::pair<const Kernel*, std::string>, std::vector<Problem>> explained_;
    std::set<const Kernel*> failing_kernels_;
    std::map<std::pair<const Kernel*, std::string>, SeenFailure> failures_;
    const Serving* shrinking_ = nullptr;
    /// Failures that are not reported yet, and those that are.
    std::vector<const RowResult*> unreported_, reported_;
    std::vector<Given> given_;  ///< by ticket
    std::int64_t most_ = 0, done_ = 0, failed_ = 0;
    bool any_stopped_ = false, is_finishing_ = false;
    TimeBudget time_{options_.seconds, options_.seconds_in_all};
    const TimeBudget::Clock::time_point begin_ = TimeBudget::Clock::now();
    TimeBudget::Clock::time_point next_told_ = begin_ + std::chrono::seconds(1);
    DrawAhead drawing_;  ///< its threads read rows
};

}  // namespace

std::vector<RowResult> check_rows(const Suite& suite, const std::vector<Row>& rows,
                                  const CheckOptions& options, WorkerPool& pool,
                                  const CheckObserver& observer) {
    if (!options.exhaustive && options.problems.empty())
        suite.prepare(rows, std::max(pool.jobs() / 4, 1));
    return Check(suite, rows, options, pool, observer).run();
}

}  // namespace gradverify
