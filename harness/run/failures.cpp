// SPDX-License-Identifier: Apache-2.0
#include "harness/run/failures.hpp"

#include <algorithm>
#include <limits>

#include "harness/run/shrink_in_workers.hpp"

namespace gradverify {

namespace {

// The other rows of a kernel run this many cases before its failure is reported.
constexpr std::int64_t cases_to_join = 20;

bool is_errored(const Serving& serving) {
    return !serving.stops.empty() &&
           serving.stops.begin()->second.outcome.verdict == Verdict::errored;
}

/// In multiply-adds of its smallest failure; without end where that is a hang.
double work_of(const Serving& serving) {
    const auto& [found, outcome] = serving.stops.begin()->second;
    if (!found || outcome.discovery == Discovery::overstepped)
        return std::numeric_limits<double>::infinity();
    return serving.result.row.kernel->pass->multiply_adds(
        (serving.begun ? serving.begun->smallest : *found).problem);
}

bool is_of_one_kernel(const Row& a, const Row& b) {
    return a.kernel == b.kernel && a.device == b.device;
}

/// Whether two failures have one problem or one line of the kernel's source.
bool is_one_bug(const RowResult& a, const RowResult& b) {
    const auto line = source_line_in(a.message);
    return is_of_one_kernel(a.row, b.row) &&
           (a.failure->smallest.problem == b.failure->smallest.problem ||
            (line && source_line_in(b.message) == line));
}

/// Takes the first failure, and all that are one bug with it or with another that is.
std::vector<const RowResult*> take_bug(std::vector<const RowResult*>& failures) {
    std::vector<const RowResult*> bug{failures.front()};
    failures.erase(failures.begin());
    for (std::size_t i = 0; i < bug.size(); ++i) {
        const auto same = std::stable_partition(
            failures.begin(), failures.end(),
            [&](const RowResult* other) { return !is_one_bug(*bug[i], *other); });
        bug.insert(bug.end(), same, failures.end());
        failures.erase(same, failures.end());
    }
    return bug;
}

}  // namespace

bool Failures::end_next() {
    if (!rows_.any_stopped()) return false;
    const auto waits_for_a_case = [&](const Serving& serving) {
        return rows_.takes_more(serving) && !serving.runs_alone &&
               serving.next_index == options_.shard.index;
    };
    if (std::ranges::any_of(rows_.all(), waits_for_a_case)) return false;
    for (Serving& serving : rows_.all())
        if (!serving.ended && rows_.is_served(serving) && is_errored(serving)) end(serving);
    // An only worker is for other rows' cases first.
    const bool may_go_on = pool_.jobs() > 1 || !is_detecting();
    Serving* next = nullptr;
    for (Serving& serving : rows_.all()) {
        if (serving.ended || serving.stops.empty() || !rows_.is_served(serving) ||
            (serving.begun && !may_go_on))
            continue;
        if (!next || urgency(serving) < urgency(*next)) next = &serving;
    }
    if (next) end(*next);
    return next != nullptr;
}

/// The smallest is shrunk first: what has not had its first share, then the kernel that fails
/// with the least work, its rows in their order.
std::tuple<bool, bool, double, std::string_view> Failures::urgency(const Serving& serving) const {
    const Row& row = serving.result.row;
    double least = std::numeric_limits<double>::infinity();
    for (const Serving& other : rows_.all())
        if (!other.ended && !other.stops.empty() && is_of_one_kernel(other.result.row, row))
            least = std::min(least, work_of(other));
    return {serving.begun.has_value(), serving.runs_alone, least, row.kernel->name};
}

/// Whether other rows of the kernel may yet show that they fail for the same reason.
bool Failures::waits_for_others(const Row& failed) const {
    return std::ranges::any_of(rows_.all(), [&](const Serving& serving) {
        const RowResult& result = serving.result;
        return is_of_one_kernel(result.row, failed) && !serving.ended && !serving.runs_alone &&
               (result.cases < cases_to_join || (!serving.stops.empty() && !serving.begun));
    });
}

/// Reports new failures, a bug at a time; before the end only those that wait for no other row.
void Failures::report_bugs(bool is_end) {
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
        rows_.seen().erase({bug.front()->row.kernel, bug.front()->row.device});
        if (observer_.bug_found) observer_.bug_found(bug, is_more);
    }
}

void Failures::tell() {
    if (!unreported_.empty()) report_bugs(false);
    if (!observer_.failure_waits) return;
    const auto long_ago =
        TimeBudget::Clock::now() - std::chrono::duration<double>(options_.seconds_to_report);
    for (auto& [kernel, failure] : rows_.seen()) {
        if (failure.is_told || failure.seen > long_ago) continue;
        failure.is_told = true;
        observer_.failure_waits(failure.found, failure.outcome);
    }
}

void Failures::end(Serving& serving) {
    RowResult& result = serving.result;
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
    rows_.tell_end(serving);
    if (result.failure && !result.known) unreported_.push_back(&result);
}

void Failures::end_all() {
    is_finishing_ = true;
    for (Serving& serving : rows_.all())
        if (!serving.ended) end(serving);
    report_bugs(true);
}

/// False where shrinking takes longer than other failures can wait: it goes on after these.
bool Failures::shrink(Serving& serving, const Case& found, const Outcome& outcome) {
    RowResult& result = serving.result;
    const bool is_first_share = !serving.begun && is_detecting();
    const Shrunk start = serving.begun.value_or(Shrunk{{}, found, outcome, 0});
    // A row with problems of its own shares none with others.
    std::vector<Problem> own;
    std::vector<Problem>& known = serving.runs_alone ? own : failing_problems_[result.row.kernel];
    const bool knows_outputs = result.row.property->knows_outputs;
    const auto explained_of = [&](bool with_outputs) -> std::vector<Problem>& {
        return serving.runs_alone
                   ? own
                   : explained_[{result.row.kernel, result.row.device, with_outputs}];
    };
    shrinking_ = &serving;
    rows_.keep_alone_waiting(serving.runs_alone);
    const bool is_asked = std::ranges::count(serving.problems, found.problem) > 0;
    const auto deadline = is_first_share ? time_.first_shrink_deadline() : shrink_deadline();
    Shrunk shrunk = shrink_in_workers(suite_, pool_, start.smallest, start.outcome,
                                      {.known = known,
                                       .explained = explained_of(knows_outputs),
                                       .is_asked = is_asked,
                                       .deadline = deadline,
                                       .meanwhile = serve_});
    shrinking_ = nullptr;
    rows_.keep_alone_waiting(false);
    shrunk.runs += start.runs;
    known.push_back(shrunk.smallest.problem);
    if (is_first_share && TimeBudget::Clock::now() > *deadline) {
        serving.begun = std::move(shrunk);
        return false;
    }
    if (!shrunk.generality.text.empty())
        for (const bool with_outputs : {false, true})
            if (knows_outputs || !with_outputs)
                explained_of(with_outputs).push_back(shrunk.smallest.problem);
    result.message = shrunk.outcome.message;
    result.failure = std::move(shrunk);
    result.found = FoundFailure{found, outcome, is_asked};
    return true;
}

std::optional<TimeBudget::Clock::time_point> Failures::shrink_deadline() const {
    return time_.shrink_deadline(std::ranges::count_if(rows_.all(), [&](const Serving& row) {
        return !row.ended && !row.stops.empty() && &row != shrinking_;
    }));
}

/// Whether a time limit is on and rows still take cases: shrinking would keep them waiting.
bool Failures::is_detecting() const {
    return options_.seconds && !is_finishing_ &&
           std::ranges::any_of(rows_.all(),
                               [&](const Serving& row) { return rows_.takes_more(row); });
}

}  // namespace gradverify
