// SPDX-License-Identifier: Apache-2.0
// How cases and answers travel; who is to blame for a death is in blame.cpp.
#include "harness/workers/pool.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gradverify {

WorkerPool::WorkerPool(WorkerPoolOptions options)
    : limits_(options.time), crew_(std::move(options), limits_) {}

void WorkerPool::submit(std::int64_t ticket, Work work, Patience patience) {
    ++in_flight_;
    crew_.give({.ticket = ticket, .work = std::move(work), .patience = patience});
}

bool WorkerPool::withdraw(std::int64_t ticket) {
    const bool withdrawn = crew_.withdraw(ticket);
    if (withdrawn) --in_flight_;
    return withdrawn;
}

void WorkerPool::take(const Crew::Answered& answered) {
    const auto& [task, outcome, is_first, before] = answered;
    if (!task.work.is_probe()) limits_.completed(task.work, outcome, is_first);
    if (task.work.kernel && task.ticket >= 0 && outcome.verdict == Verdict::passed &&
        task.work.device == "cpu" && !known_[task.work.kernel].first_passed)
        known_[task.work.kernel].first_passed = task;
    if (before.empty() && task.ticket >= 0 && outcome.verdict == Verdict::failed && is_first)
        known_[task.work.kernel].fails_alone = true;
    answer(task, before.empty() ? outcome : judge(before, task, outcome));
}

void WorkerPool::answer(const Task& task, Outcome outcome, bool is_put_off) {
    if (task.ticket >= ticket_of_run) {
        answers_.push_back({.ticket = task.ticket,
                            .drawn = task.work.drawn,
                            .outcome = std::move(outcome),
                            .is_put_off = is_put_off});
        return;
    }
    // Nobody waits any more for one that was dropped.
    const auto found = std::ranges::find_if(
        expected_, [&](const auto& one) { return one.second.ticket == task.ticket; });
    if (found != expected_.end()) found->second.outcome = std::move(outcome);
}

void WorkerPool::take(const Crew::Ended& ended) {
    const auto& fatal = ended.fatal;
    if (!fatal) return end_without_a_case(ended);
    if (fatal->ticket >= 0 && ended.end.took_long() && !ended.had_all_its_time) {
        Outcome outcome = charged(ended.end, fatal->work);
        outcome.seconds_total = limits_.allowance(fatal->work, Patience::trial).cpu_seconds;
        limits_.put_off(fatal->work);
        return answer(*fatal, std::move(outcome), true);
    }
    Task task = *fatal;
    if (task.ticket >= 0) task.patience = Patience::full;
    answer(task, task.work.is_probe() ? Outcome::failed(ended.end.cause())
                                      : judge(ended.history, task, ended.end));
}

void WorkerPool::attend(double seconds) {
    if (!is_judging_ && !deferred_.empty()) {
        Crew::Event event = std::move(deferred_.front());
        deferred_.pop_front();
        return take(std::move(event));
    }
    if (auto event = crew_.next(seconds)) take(std::move(*event));
}

void WorkerPool::take(Crew::Event event) {
    const auto* const answered = std::get_if<Crew::Answered>(&event);
    if (answered && answered->before.empty()) return take(*answered);
    if (is_judging_) return deferred_.push_back(std::move(event));
    struct Judging {
        explicit Judging(bool& is_so) : is_judging(is_so) { is_judging = true; }
        ~Judging() { is_judging = false; }
        bool& is_judging;
    } const judging(is_judging_);
    std::visit([this](const auto& what) { take(what); }, event);
}

std::optional<WorkerPool::Answer> WorkerPool::wait(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    for (;;) {
        const auto found =
            std::ranges::find_if(answers_, [](const Answer& answer) { return answer.ticket >= 0; });
        if (found != answers_.end()) {
            Answer answer = std::move(*found);
            answers_.erase(found);
            if (!answer.late) --in_flight_;
            return answer;
        }
        const std::chrono::duration<double> left = until - Clock::now();
        if (in_flight_ == 0 || left.count() <= 0.0) return std::nullopt;
        attend(left.count());
    }
}

void WorkerPool::finish(bool gives_up) {
    // Trials that nobody asks for any more end here, and not as what a worker was idle after.
    expect({});
    while (!gives_up && (crew_.is_busy() || !deferred_.empty())) attend(1.0);
    keep_busy_ = {};
    is_late_ = gives_up;
    for (const Crew::Ended& ended : crew_.finish()) take(ended);
    see_exits();
}

/// What goes on beside a run, for as long as it takes.
class WorkerPool::Meanwhile {
  public:
    Meanwhile(WorkerPool& pool, const RunOptions& how) : pool_(pool) {
        if (!how.meanwhile) return;
        pool_.meanwhile_ = &how.meanwhile;
        pool_.crew_.keep_first(!how.alone);
    }
    ~Meanwhile() {
        pool_.meanwhile_ = nullptr;
        pool_.crew_.keep_first(false);
    }
    Meanwhile(const Meanwhile&) = delete;
    Meanwhile& operator=(const Meanwhile&) = delete;

  private:
    WorkerPool& pool_;
};

Outcome WorkerPool::run(const Work& work, const RunOptions& how) {
    const Meanwhile meanwhile(*this, how);
    Task task{.ticket = ticket_of_run, .work = work, .patience = how.patience};
    if (how.alone) {
        const LoneResult result = alone({work}, how.patience);
        return result.death ? blame(task, *result.death) : result.outcome;
    }
    if (auto outcome = outcome_if_expected(work, how)) return std::move(*outcome);
    crew_.give_first(std::move(task));
    for (;;) {
        const auto found = std::ranges::find(answers_, ticket_of_run, &Answer::ticket);
        if (found != answers_.end()) {
            Outcome outcome = std::move(found->outcome);
            answers_.erase(found);
            return outcome;
        }
        if (how.meanwhile) how.meanwhile();
        attend(1.0);
    }
}

void WorkerPool::expect(const std::vector<Work>& next) {
    std::map<std::string, Expected> kept;
    crew_.keep_first(true);
    for (const Work& work : next) {
        const std::string& printed = std::get<RunCase>(work.request).printed_case;
        if (auto known = expected_.extract(printed)) {
            kept.insert(std::move(known));
        } else if (kept.try_emplace(printed, Expected{.ticket = last_expected_ - 1}).second) {
            --last_expected_;
            crew_.give({.ticket = last_expected_, .work = work, .patience = Patience::trial});
        }
    }
    crew_.keep_first(false);
    for (const auto& [printed, expected] : expected_) drop(expected);
    expected_ = std::move(kept);
}

/// One that a worker has been given is answered to nobody.
void WorkerPool::drop(const Expected& expected) {
    if (!expected.outcome) crew_.withdraw(expected.ticket);
}

/// One that waits behind others is run at once instead.
std::optional<Outcome> WorkerPool::outcome_if_expected(const Work& work, const RunOptions& how) {
    const auto* const one = std::get_if<RunCase>(&work.request);
    if (!one || how.patience != Patience::trial) return std::nullopt;
    const auto found = expected_.find(one->printed_case);
    if (found == expected_.end()) return std::nullopt;
    Expected& expected = found->second;
    while (!expected.outcome && crew_.is_being_run(expected.ticket)) {
        if (how.meanwhile) how.meanwhile();
        attend(1.0);
    }
    std::optional<Outcome> outcome = std::move(expected.outcome);
    if (!outcome) crew_.withdraw(expected.ticket);
    expected_.erase(found);
    return outcome;
}

std::string WorkerPool::probe(const std::string& device) {
    return run(Work(Probe{device})).message;
}

}  // namespace gradverify
