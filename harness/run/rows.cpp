// SPDX-License-Identifier: Apache-2.0
#include "harness/run/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "harness/base/interrupt.hpp"
#include "harness/run/redraw.hpp"
#include "harness/run/row_verdict.hpp"

namespace gradverify {

namespace {

const std::string drawing_threw = "drawing a problem threw: ";
// A row that has compared nothing but zeros is given this many cases.
constexpr std::int64_t cases_to_tell = 100;
// Under a time limit each row has these before others have more.
constexpr std::int64_t first_cases = 50;
// They cost no more than this share of the most that a case may, or this many times their median.
constexpr double largest_first_share = 0.25, most_times_median = 100.0;
// Before time is up by so much, or a quarter of it, cases that were put off have their turn.
constexpr double put_off_seconds = 10.0;
// So many cases of kernels that have yet to answer one are in flight at least.
constexpr int most_of_unknown = 8;
// A death or a hang of a kernel counts against so many of its cases that came to an end.
constexpr std::int64_t ends_per_bad_end = 8;
// A kernel has few cases in flight at first, and one more for so many that came to an end.
constexpr std::int64_t least_in_flight = 4, ends_per_in_flight = 2;
// What a death or a hang has cost the rows of other kernels is no more than that.
constexpr double most_lost_seconds = 5.0;
// More threads than these draw nothing that is missed.
constexpr int most_drawing = 4;

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

}  // namespace

Rows::Rows(const Suite& suite, const std::vector<Row>& rows, const CheckOptions& options,
           WorkerPool& pool, const CheckObserver& observer, const TimeBudget& time)
    : suite_(suite),
      options_(options),
      pool_(pool),
      observer_(observer),
      time_(time),
      turns_(by_property(suite, rows), options.seconds.has_value()),
      drawing_([this](std::size_t row, std::int64_t index) { return draw(rows_[row], index); },
               rows.size(), std::clamp(pool.jobs() / 8, 0, most_drawing)) {
    for (const Row& row : rows) {
        ServedKernel& kernel = kernels_[{row.kernel, row.device}];
        kernel.rows.push_back(rows_.size());
        rows_.push_back(serving_of(row));
        rows_.back().kernel = &kernel;
        set_kind(rows_.size() - 1);
    }
    if (options_.exhaustive) return;
    for (const Serving& serving : rows_) most_ += std::ssize(serving.known) + cases_of(serving);
}

Serving Rows::serving_of(const Row& row) const {
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
void Rows::add_known(Serving& serving) const {
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
std::int64_t Rows::cases_of(const Serving& serving) const {
    const Shard& shard = options_.shard;
    return serving.cases > shard.index ? (serving.cases - 1 - shard.index) / shard.count + 1 : 0;
}

bool Rows::has_more(const Serving& serving) const {
    return !serving.put_off.empty() ||
           (serving.open && (!serving.known.empty() || serving.walk ||
                             serving.next_index < serving.cases || !serving.dear.empty()));
}

/// The cases below which it is thin; 0 where it is due none.
std::int64_t Rows::due(const Serving& serving) const {
    const bool is_due = options_.seconds && !serving.walk && !serving.runs_alone;
    return is_due ? std::min(options_.at_least, cases_of(serving)) : 0;
}

/// Whether time is up, or is expected to be when the row's next case ends, behind those in flight.
bool Rows::is_out_of_time(const Serving& serving) const {
    const RowResult& got = serving.result;
    if (!options_.seconds || got.cases == 0) return time_.is_up();
    return backlog_seconds_ / pool_.jobs() + got.seconds / static_cast<double>(got.cases) >
           time_.seconds_left();
}

/// Whether a case of it is put off, and none has passed: others would be, too.
bool Rows::is_waiting(const ServedKernel& kernel) const {
    if (!kernel.may_hang || kernel.has_passed) return false;
    return kernel.is_waited_for || std::ranges::any_of(kernel.rows, [&](std::size_t i) {
               return !rows_[i].put_off.empty();
           });
}

/// When time is up, a row takes more only while it has compared nothing but zeros; each of these
/// cases waits for the one before, so that their number depends on the seed alone, as long as they
/// fit the time that shrinking may take.
bool Rows::takes_more(const Serving& serving) const {
    if (has_failed_enough()) return false;
    const Shard& shard = options_.shard;
    const std::int64_t given = (serving.next_index - shard.index) / shard.count;
    const RowResult& got = serving.result;
    if (options_.seconds && given >= std::max(cases_beside_a_failure, options_.at_least) &&
        failing_kernels_.contains(got.row.kernel))
        return false;
    if (!has_more(serving) || !serving.put_off.empty() || is_waiting(*serving.kernel)) return false;
    if (!is_out_of_time(serving)) return true;
    const bool is_vacuous = got.cases > 0 && got.passed == 0 && got.skips.empty();
    return is_vacuous && serving.in_flight == 0 && given < cases_to_tell && !serving.walk &&
           !serving.runs_alone && !time_.is_overrun();
}

/// For a quarter of the time rows share it equally, so that dear ones leave some to all others.
void Rows::end_dues() {
    are_first_due_ = false;
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].usual >= options_.at_least) turns_.has_its_due(i);
}

bool Rows::submit_some(bool is_idle) {
    if (options_.seconds && are_first_due_ && time_.seconds_left() < *options_.seconds / 4.0)
        end_dues();
    if (std::exchange(changes_of_left_, pool_.changes_of_left()) != pool_.changes_of_left())
        for (std::size_t i = 0; i < rows_.size(); ++i) set_kind(i);
    // Half of the workers go on with others' cases.
    if (is_time_for_put_off()) submit_put_off(std::max<std::size_t>(pool_.jobs() / 2, 1));
    for (;;) {
        const Room room{pool_.has_room(), pool_.has_room_for_left(),
                        pool_.has_room() && may_run_one()};
        const auto which = turns_.next(room, [&](std::size_t row) { return turn_of(rows_[row]); });
        if (!which) break;
        submit(*which, rows_[*which]);
    }
    if (is_idle && pool_.in_flight() == 0) submit_put_off(rows_.size());
    return pool_.in_flight() > 0 ||
           std::ranges::any_of(rows_, [&](const Serving& row) { return takes_more(row); });
}

/// While there is time to wait for one that has no end.
bool Rows::is_time_for_put_off() const {
    return options_.seconds && pool_.has_room() &&
           time_.seconds_left() < std::min(put_off_seconds, *options_.seconds / 4.0);
}

/// One of each kernel at a time: where it has no end, the others' trials have told the same.
void Rows::submit_put_off(std::size_t most) {
    for (std::size_t which = 0; which < rows_.size() && pool_.has_room() && waited_for_ < most;
         ++which) {
        Serving& serving = rows_[which];
        if (serving.put_off.empty() || std::exchange(serving.kernel->is_waited_for, true)) continue;
        ++waited_for_;
        PutOff next = std::move(serving.put_off.front());
        serving.put_off.pop_front();
        submit(which, next.index, work_of(std::move(next.drawn)), next.redraws, Patience::full);
    }
}

/// All of a kernel's at once: trials have more time since one of its cases has ended.
void Rows::submit_put_off_of(const ServedKernel& kernel) {
    for (const std::size_t which : kernel.rows)
        for (PutOff& one : std::exchange(rows_[which].put_off, {}))
            submit(which, one.index, work_of(std::move(one.drawn)), one.redraws);
}

/// A kernel that has no end in all the time that a case has is not waited for again.
void Rows::put_off(Serving& serving, PutOff one) {
    if (one.outcome.verdict == Verdict::failed && serving.kernel->is_hanging)
        settle(serving, one.index, one.drawn, one.outcome);
    else if (serving.stops.empty())
        serving.put_off.push_back(std::move(one));
    serving.kernel->may_hang = true;
}

/// A case that was waited for has come to an end, or to none: then so have its kernel's others.
void Rows::end_wait(ServedKernel& kernel, const Outcome& outcome) {
    if (outcome.verdict != Verdict::failed || outcome.discovery != Discovery::overstepped)
        return submit_put_off_of(kernel);
    kernel.is_hanging = true;
    for (const std::size_t which : kernel.rows)
        for (PutOff& one : std::exchange(rows_[which].put_off, {}))
            put_off(rows_[which], std::move(one));
}

/// A case of it has come to an end, or has died or hung.
void Rows::note_end(ServedKernel& kernel, bool in_good_order) {
    const bool was_known = kernel.is_known();
    kernel.ends += in_good_order ? 1 : -ends_per_bad_end;
    if (kernel.is_known() == was_known) return;
    for (const std::size_t which : kernel.rows) turns_.is_proven(which, !was_known);
}

Turn Rows::turn_of(const Serving& serving) const {
    if (!has_more(serving)) return Turn::never;
    // Else all that waits in pipes may be those that die or hang.
    const ServedKernel& kernel = *serving.kernel;
    const std::int64_t most = std::max<std::int64_t>(pool_.jobs() / 4, least_in_flight) +
                              std::max<std::int64_t>(kernel.ends, 0) / ends_per_in_flight;
    if (options_.seconds &&
        (kernel.in_flight >= most ||
         (!kernel.is_known() && of_unknown_ - static_cast<std::int64_t>(pool_.judged()) >=
                                    std::max(pool_.jobs(), most_of_unknown))))
        return Turn::later;
    // It has all its time at once, and others wait for it: better not for one that hangs.
    if (options_.seconds && serving.runs_alone && !kernel.is_known() && pool_.in_flight() > 0)
        return Turn::later;
    return takes_more(serving) ? Turn::now : Turn::later;
}

void Rows::set_kind(std::size_t which) {
    const Row& row = rows_[which].result.row;
    const bool is_left = pool_.is_left({row.kernel, row.device, row.property_name()});
    turns_.set_kind(which, rows_[which].runs_alone ? RowKind::one_at_a_time
                           : is_left               ? RowKind::left_by_clients
                                                   : RowKind::usual);
}

/// Where two rows that run one at a time had a case each, one worker would wait for the other.
bool Rows::may_run_one() const { return alone_in_flight_ == 0 && !is_alone_waiting_; }

/// A case is with no worker any more.
void Rows::come_back(std::int64_t ticket) {
    const Given& given = given_[static_cast<std::size_t>(ticket)];
    Serving& serving = rows_[given.row];
    --serving.in_flight;
    --serving.kernel->in_flight;
    if (serving.runs_alone) --alone_in_flight_;
    if (given.is_of_unknown) --of_unknown_;
    backlog_seconds_ -= given.expected_seconds;
    if (given.was_put_off && std::exchange(serving.kernel->is_waited_for, false)) --waited_for_;
}

void Rows::submit(std::size_t which, Serving& serving) {
    if (!serving.known.empty()) {
        const std::int64_t index = -std::ssize(serving.known);
        Case known = std::move(serving.known.front());
        serving.known.pop_front();
        return submit(which, index, work_of(std::move(known)));
    }
    if (serving.walk) return submit_next_of_walk(which, serving);
    const std::int64_t step = options_.shard.count;
    DrawAhead::Drawn drawn;
    std::int64_t index = 0;
    for (bool waits = true; waits;) {
        if (!serving.dear.empty() &&
            (serving.usual >= first_cases || serving.next_index >= serving.cases)) {
            auto [first, work] = std::move(serving.dear.front());
            serving.dear.pop_front();
            return submit(which, first, std::move(work));
        }
        index = serving.next_index;
        serving.next_index += step;
        // Large problems are few, and take long to draw.
        drawn = serving.runs_alone ? draw(serving, index)
                                   : drawing_.take(which, index, step, serving.cases);
        waits = drawn.work && is_too_dear(serving, drawn.share);
        if (waits) serving.dear.emplace_back(index, std::move(*drawn.work));
    }
    const std::int64_t least = std::max(options_.at_least, are_first_due_ ? first_cases : 0);
    if (serving.usual >= (serving.runs_alone ? 1 : least)) turns_.has_its_due(which);
    if (drawn.work) return submit(which, index, std::move(*drawn.work));
    if (!drawn.is_skip) return stop(serving, index, {{}, Outcome::errored(drawn.why_none)});
    ++serving.result.skips[drawn.why_none];
    close(serving);
}

/// Notes what a case costs that is not.
bool Rows::is_too_dear(Serving& serving, double share) const {
    std::vector<double>& shares = serving.shares;
    const bool is_early = options_.seconds && serving.usual < first_cases;
    if (is_early && share > largest_first_share && !shares.empty() &&
        share > most_times_median * shares[shares.size() / 2])
        return true;
    ++serving.usual;
    if (is_early) shares.insert(std::ranges::upper_bound(shares, share), share);
    return false;
}

/// The row takes no more cases, and ends if none is running.
void Rows::close(Serving& serving) {
    serving.open = false;
    if (serving.in_flight == 0 && serving.stops.empty()) end(serving);
}

void Rows::submit_next_of_walk(std::size_t which, Serving& serving) try {
    if (auto step = serving.walk->next()) {
        serving.next_index = step->index + 1;
        return submit(which, step->index, work_of(step->dense));
    }
    if (serving.next_index == options_.shard.index) ++serving.result.skips[no_problem_in_shard];
    close(serving);
} catch (const std::exception& wrong) {
    stop(serving, serving.next_index, {{}, Outcome::errored(drawing_threw + wrong.what())});
}

Work Rows::work_of(Case drawn) const {
    drawn.setting.is_strict |= options_.is_strict;
    return drawn;
}

void Rows::submit(std::size_t which, std::int64_t index, Work work, int redraws,
                  Patience patience) {
    const auto ticket = std::ssize(given_);
    Serving& serving = rows_[which];
    ++serving.in_flight;
    ++serving.kernel->in_flight;
    if (serving.runs_alone) ++alone_in_flight_;
    turns_.began(which);
    const RowResult& got = serving.result;
    const bool is_of_unknown = !serving.kernel->is_known();
    of_unknown_ += is_of_unknown ? 1 : 0;
    given_.push_back({which, index, redraws, patience == Patience::full, is_of_unknown,
                      got.cases > 0 ? got.seconds / static_cast<double>(got.cases) : 0.0});
    backlog_seconds_ += given_.back().expected_seconds;
    running_.insert(ticket);
    pool_.submit(ticket, std::move(work), serving.runs_alone ? Patience::full : patience);
}

/// Where a user's predicate or shape function throws, that is the row's error, not the run's.
DrawAhead::Drawn Rows::draw(const Serving& serving, std::int64_t index) const try {
    const Row& row = serving.result.row;
    if (!serving.problems.empty()) {
        const auto count = static_cast<std::int64_t>(serving.problems.size());
        const Problem& problem = serving.problems[static_cast<std::size_t>(index % count)];
        Case drawn = suite_.draw_on(row, options_.seed, index, problem);
        drawn.data.files = options_.data_files;
        return {.work = work_of(std::move(drawn))};
    }
    Suite::Draw draw = suite_.draw(row, options_.seed, index);
    if (draw.drawn)
        return {.work = work_of(std::move(*draw.drawn)), .why_none = {}, .share = draw.share};
    return {.work = {}, .why_none = std::move(draw.why_none), .is_skip = draw.is_skip};
} catch (const std::exception& wrong) {
    return {.work = {}, .why_none = drawing_threw + wrong.what()};
} catch (...) {
    return {.work = {}, .why_none = drawing_threw + "something that is no std::exception"};
}

void Rows::stop(Serving& serving, std::int64_t index, const Stop& why) {
    serving.open = false;
    serving.put_off.clear();
    if (serving.stops.empty()) failed_ += why.outcome.verdict == Verdict::failed;
    serving.stops.try_emplace(index, why);
    any_stopped_ = true;
    if (why.outcome.verdict != Verdict::failed) return;
    const Row& row = serving.result.row;
    failing_kernels_.insert(row.kernel);
    seen_.try_emplace({row.kernel, row.device}, SeenFailure{*why.drawn, why.outcome});
    if (why.outcome.discovery == Discovery::answered) return;
    // Each new worker and each search for the guilty case keeps the rows of other kernels waiting.
    for (const std::size_t which : serving.kernel->rows) turns_.has_its_due(which);
}

/// Takes back the cases behind the one that decides the row: each might hang.
void Rows::withdraw_behind(std::size_t row, std::int64_t index) {
    std::erase_if(running_, [&](std::int64_t ticket) {
        const Given& given = given_[static_cast<std::size_t>(ticket)];
        if (given.row != row || given.index <= index || !pool_.withdraw(ticket)) return false;
        come_back(ticket);
        return true;
    });
}

/// An answered case has proved to have damaged its worker: its row has failed after all.
void Rows::take_back(const WorkerPool::Answer& late) {
    const Given& given = given_[static_cast<std::size_t>(late.ticket)];
    Serving& serving = rows_[given.row];
    stop(serving, given.index, {late.drawn, late.outcome});
    const Verdict verdict = serving.result.verdict;
    if (verdict != Verdict::failed && verdict != Verdict::errored) serving.ended = false;
}

void Rows::take(const WorkerPool::Answer& answer) {
    if (answer.late) return take_back(answer);
    if (running_.erase(answer.ticket) == 0) throw std::logic_error("an answer to no case");
    const auto [row, index, redraws, was_put_off, of_unknown, expected, since] =
        given_[static_cast<std::size_t>(answer.ticket)];
    const Case& drawn = *answer.drawn;
    Serving& serving = rows_[row];
    come_back(answer.ticket);
    turns_.ended(row, answer.outcome.seconds_total);
    const std::chrono::duration<double> taken = TimeBudget::Clock::now() - since;
    const bool in_good_order = answer.outcome.discovery == Discovery::answered;
    note_end(*serving.kernel, in_good_order);
    if (!in_good_order) turns_.lost(std::min(taken.count(), most_lost_seconds));
    if (answer.is_put_off) return put_off(serving, {index, redraws, *answer.drawn, answer.outcome});
    const Operator& op = *serving.result.row.kernel->op;
    if (index >= 0 && is_worth_redrawing(drawn, op, answer.outcome, redraws) &&
        serving.stops.empty() && !time_.is_up())
        return submit(row, index, work_of(redrawn(drawn)), redraws + 1,
                      was_put_off ? Patience::full : Patience::trial);
    serving.kernel->has_passed |= answer.outcome.verdict == Verdict::passed;
    settle(serving, index, drawn, answer.outcome);
    if (was_put_off) end_wait(*serving.kernel, answer.outcome);
    if (!serving.stops.empty()) withdraw_behind(row, serving.stops.begin()->first);
    if (is_served(serving) && serving.stops.empty()) end(serving);
}

bool Rows::is_served(const Serving& serving) const {
    return !has_more(serving) && serving.in_flight == 0;
}

/// A known case that does not fail tells nothing of what was drawn; one that errs is stale.
void Rows::count_known(Serving& serving, std::int64_t index, const Case& known,
                       const Outcome& outcome) {
    serving.result.seconds += outcome.seconds_total;
    if (outcome.verdict == Verdict::failed) {
        ++serving.result.cases;
        stop(serving, index, {known, outcome});
    } else if (outcome.verdict == Verdict::errored) {
        serving.result.left_out.push_back(known.print() + ": " + outcome.message);
    }
}

void Rows::settle(Serving& serving, std::int64_t index, const Case& drawn, const Outcome& outcome) {
    ++done_;
    if (observer_.case_ended) observer_.case_ended(drawn, outcome);
    count(serving, index, drawn, outcome);
}

void Rows::count(Serving& serving, std::int64_t index, const Case& drawn, const Outcome& outcome) {
    if (index < 0) return count_known(serving, index, drawn, outcome);
    RowResult& result = serving.result;
    ++result.cases;
    result.seconds += outcome.seconds_total;
    if (serving.walk && outcome.verdict != Verdict::failed && outcome.verdict != Verdict::errored)
        serving.walk->answered(index, outcome.verdict);
    switch (outcome.verdict) {
        case Verdict::passed:
            if (!serving.problems.empty())
                serving.compared.insert(static_cast<std::size_t>(index) % serving.problems.size());
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

void Rows::end(Serving& serving) {
    RowResult& result = serving.result;
    result.cut_short = (has_more(serving) || serving.in_flight > 0) &&
                       (is_out_of_time(serving) || is_interrupted() || has_failed_enough());
    if (result.cut_short && is_out_of_time(serving) && !serving.walk)
        result.cut_of = cases_of(serving);
    decide_verdict(result);
    // Of many that it was to have.
    if (result.verdict == Verdict::passed && result.cut_of > 1 && result.cases == 1 &&
        !serving.runs_alone) {
        result.verdict = Verdict::skipped;
        result.message = "time ran out after one case";
    }
    result.may_hang =
        (serving.in_flight > 0 || !serving.put_off.empty()) && interrupt_signal() == 0;
    if (result.may_hang) {
        result.verdict = Verdict::skipped;
        result.message = "a case did not end in time";
        if (result.passed > 0) result.message += fmt::format(", {} passed", result.passed);
    }
    for (std::size_t i = 0; i < serving.problems.size(); ++i)
        if (result.row.property->compares_values && result.cases > 0 && !result.cut_short &&
            !serving.compared.contains(i))
            result.not_compared.push_back(serving.problems[i].print());
    // Looking takes longer than a user waits who has interrupted a run of many rows.
    if (result.verdict == Verdict::passed && interrupt_signal() == 0)
        result.within_reach = suite_.pairs_within_reach(result.row);
    if (result.verdict == Verdict::passed && result.cut_short && result.cases < due(serving))
        result.thin_of = due(serving);
    tell_end(serving);
}

void Rows::tell_end(Serving& serving) {
    RowResult& result = serving.result;
    serving.ended = true;
    if (serving.walk) result.exhaustive = serving.walk->cover();
    result.known = options_.is_known && options_.is_known(result);
    if (result.known) seen_.erase({result.row.kernel, result.row.device});
    if (observer_.row_ended) observer_.row_ended(result);
}

SignOfLife Rows::sign() const {
    SignOfLife sign{.cases = done_, .rows = std::ssize(rows_), .failed = failed_};
    sign.rows_with_all = std::ranges::count_if(rows_, [&](const Serving& serving) {
        const std::int64_t wanted = due(serving);
        return serving.ended || !serving.stops.empty() ||
               (wanted > 0 && serving.result.cases >= wanted);
    });
    if (running_.empty()) return sign;
    // Tickets are given in turn, so the first is the oldest.
    const Given& oldest = given_[static_cast<std::size_t>(*running_.begin())];
    sign.longest = &rows_[oldest.row].result.row;
    sign.longest_seconds =
        std::chrono::duration<double>(TimeBudget::Clock::now() - oldest.since).count();
    return sign;
}

}  // namespace gradverify
