// SPDX-License-Identifier: Apache-2.0
// Which case is to blame for a worker's death, and what is said of it. Whose call it was of which a
// GPU's owner died, owner.cpp finds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include "harness/base/interrupt.hpp"
#include "harness/workers/pool.hpp"

namespace gradverify {

namespace {

// The search for a culprit among the cases that a dead worker has answered ends after this.
constexpr std::chrono::seconds search_time{60};
// Shorter on a GPU, where others wait for it, and where nothing has died.
constexpr std::chrono::seconds short_search_time{10};
// A failure that comes neither alone nor behind another kernel is by chance: it gets so many.
constexpr std::size_t most_chances = 11;
// Before a kernel is charged with another's failure, that comes so often behind it, and not alone.
constexpr int chances_to_accuse = 3;
// So many kernels are asked that are neither the one that fails nor the one that it fails behind.
constexpr std::size_t most_thirds = 4;

/// Whether the case's kernel declares no block sizes, so that Launch::block_size is 0.
bool has_no_block_size(const Work& work) {
    const KernelDeclaration* declared = work.kernel ? work.kernel->on(work.device) : nullptr;
    return declared && declared->block_sizes.empty();
}

/// Whether the time that a case may take follows the sizes of its tensors alone.
bool guesses_work(const Work& work) { return work.kernel && work.kernel->pass->guesses_work; }

/// A case each of kernels that are neither of these.
std::vector<Work> thirds_of(const std::vector<Task>& tasks, const Work& one, const Work& other) {
    std::map<const Kernel*, Work> thirds;
    for (const Task& task : tasks)
        if (task.work.kernel != one.kernel && task.work.kernel != other.kernel &&
            thirds.size() < most_thirds)
            thirds.emplace(task.work.kernel, task.work);
    std::vector<Work> works;
    works.reserve(thirds.size());
    for (auto& [kernel, third] : thirds) works.push_back(std::move(third));
    return works;
}

}  // namespace

Outcome WorkerPool::charged(const WorkerEnd& end, const Work& work) const {
    std::string cause = end.cause();
    // Its launcher ended the process since a launch of it failed here alone.
    if (end.found_not_served && end.overstepped.empty()) return Outcome::skipped(cause);
    if (end.killed_by() == SIGFPE && end.in_launcher && has_no_block_size(work))
        cause += "; launch.block_size is 0 unless .blocks_of({...}) is declared";
    const bool is_busy = cause.ends_with("of CPU time");
    if (end.in_call_before && work.drawn && work.drawn->setting.before)
        cause += " in the call before, on " + work.drawn->setting.before->print();
    const bool too_much = !end.overstepped.empty();
    if (end.took_long()) cause += " (" + limits_.history(work) + ")";
    if (is_busy && guesses_work(work))
        cause +=
            "; an operator that does more than a fixed number of operations for an element "
            "declares .work(...), which the time that a case may take follows";
    Outcome outcome = Outcome::failed(cause);
    // A kernel is not charged before its launcher is called, nor for time that is spent outside it.
    if (!end.launched)
        outcome = Outcome::errored("before the kernel was called: " + cause);
    else if (too_much && !end.in_launcher)
        outcome = Outcome::errored("outside of the kernel's launcher: " + cause);
    outcome.add_overflows(end.overflows);
    const bool damaged = end.killed_by() == SIGABRT || !end.in_launcher;
    outcome.discovery = too_much  ? Discovery::overstepped
                        : damaged ? Discovery::damaged
                                  : Discovery::died;
    return outcome;
}

void WorkerPool::note_harm(const Work& work) {
    if (!work.kernel) return;
    known_[work.kernel].is_harmful = true;
    crew_.keep_apart(*work.kernel);
}

LoneResult WorkerPool::alone(const std::vector<Work>& works, Patience patience,
                             const std::set<std::string>& without) {
    static const std::function<void()> none;
    std::set<std::string> distrusted = crew_.distrusted();
    distrusted.insert(without.begin(), without.end());
    const bool is_on_cpu = works.back().device == "cpu";
    const std::function<void()>& beside = meanwhile_ ? *meanwhile_ : is_on_cpu ? none : keep_busy_;
    const auto attend_others = [&] {
        while (auto event = crew_.next(0.0)) take(std::move(*event));
        beside();
    };
    const auto run = [&](bool checks_heap) {
        return run_alone(crew_.options(), limits_, works, patience, distrusted,
                         beside ? attend_others : none, checks_heap);
    };
    LoneResult result = run(true);
    // Damage may show in one of the heaps alone; to open a GPU again takes too long.
    if (!result.death && is_on_cpu)
        if (LoneResult usual = run(false); usual.death) result = std::move(usual);
    return result;
}

bool WorkerPool::has_harmful(const std::vector<Task>& tasks, const Kernel* other_than) {
    return std::ranges::any_of(tasks, [&](const Task& task) {
        return task.work.kernel != other_than && known_[task.work.kernel].is_harmful;
    });
}

Outcome WorkerPool::judge(const WorkerHistory& history, const Task& task, const WorkerEnd& end) {
    if (history.empty()) return blame(task, end);
    // Its cases are known to end their process so by themselves; to try it takes long on a GPU.
    if (task.work.device != "cpu" && known_[task.work.kernel].causes.contains(end.cause()))
        return charged(end, task.work);
    // For a case that took too long once, a tenth of that tells whether it does so by itself.
    const bool too_much = !end.overstepped.empty();
    LoneResult again = alone({task.work}, too_much ? Patience::trial : task.patience);
    if (again.death) {
        // The full limit that it overstepped first is the better evidence.
        if (too_much && !again.death->overstepped.empty())
            again.death->overstepped = end.overstepped;
        return blame(task, *again.death);
    }
    // This worker was started before the pool distrusted the partner.
    const bool known = std::ranges::any_of(end.partners, [&](const std::string& partner) {
        return crew_.distrusted().contains(partner);
    });
    // One that ends processes has damaged this one; to look for it takes long on a GPU.
    const bool is_harmed =
        task.work.device != "cpu" && has_harmful(history.in_order(), task.work.kernel);
    if (known || is_harmed || end.by_others() ||
        find_culprit(history, task.work.device == "cpu" ? search_time : short_search_time))
        return again.outcome;
    const Patience patience = too_much ? Patience::trial : Patience::full;
    if (auto outcome = explained(history, task.work, charged(end, task.work), patience))
        return *outcome;
    return unexplained(history.in_order(), task.work, end, again.outcome);
}

Outcome WorkerPool::judge(const WorkerHistory& before, const Task& task,
                          const Outcome& failed) try {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + short_search_time;
    const Kernel* const kernel = task.work.kernel;
    const auto others = std::ranges::count_if(
        before.in_order(), [&](const Task& other) { return other.work.kernel != kernel; });
    if (others == 0) return failed;
    if (const auto outcome = explained(before, task.work, failed, Patience::full)) return *outcome;
    std::size_t chance = 1;
    for (; chance < most_chances && Clock::now() < until; ++chance)
        // Behind more of itself each time: it may add up what its cases leave.
        if (run_behind(std::vector<Work>(chance, task.work), task.work, Patience::full).verdict ==
            Verdict::failed) {
            known_[kernel].fails_alone = true;
            return failed;
        }
    return Outcome::errored(fmt::format(
        "failed once, and not again: not alone in {} runs, nor behind the cases of its own kernel, "
        "nor behind any of {} of other kernels; it said: {}",
        chance, others, failed.message));
} catch (const Interrupted&) {
    return failed;  // as it was answered
}

Outcome WorkerPool::run_behind(std::vector<Work> before, const Work& work, Patience patience) {
    before.push_back(work);
    const LoneResult again = alone(before, patience);
    return again.death ? Outcome::failed(again.death->cause()) : again.outcome;
}

std::optional<Outcome> WorkerPool::explained(const WorkerHistory& before, const Work& work,
                                             const Outcome& failed, Patience patience) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + short_search_time;
    const Kernel* const kernel = work.kernel;
    if (known_[kernel].fails_alone) return failed;
    std::vector<Work> own;
    std::vector<Task> others;
    for (const Task& suspect : before.suspects())
        if (suspect.work.kernel != kernel) others.push_back(suspect);
    for (const Task& answered : before.in_order())
        if (kernel && answered.work.kernel == kernel) own.push_back(answered.work);
    Outcome alone_it;
    const auto fails = [&](std::vector<Work> works) {
        Outcome again = run_behind(std::move(works), work, patience);
        if (again.verdict == Verdict::failed) return true;
        alone_it = std::move(again);
        return false;
    };
    const auto is_its_own = [&] {
        known_[kernel].fails_alone = true;
        return failed;
    };
    const auto errored = [&](const Task& suspect, const char* how) {
        const std::string behind =
            suspect.work.drawn ? suspect.work.drawn->print() : suspect.work.property;
        return Outcome::errored(
            fmt::format("fails behind {} alone, {}so one of the two is wrong: {}", behind, how,
                        failed.message));
    };
    if (fails({}) || (!own.empty() && fails(own))) return is_its_own();
    for (const Task& suspect : others) {
        if (Clock::now() > until) break;
        // One that dies by itself explains nothing.
        if (!fails({suspect.work}) ||
            run_behind({}, suspect.work, patience).verdict == Verdict::failed)
            continue;
        // One that reads what any kernel leaves fails behind a third one as well, or by chance.
        const std::vector<Work> thirds = thirds_of(others, suspect.work, work);
        if (std::ranges::any_of(thirds, [&](const Work& third) { return fails({third}); }) ||
            !fails({suspect.work}))
            return is_its_own();
        if (thirds.empty()) return errored(suspect, "");
        // A damaged heap is noticed behind one kernel and not behind another, whosever the damage.
        const bool died =
            failed.discovery == Discovery::damaged || failed.discovery == Discovery::died;
        if (died && !ends_others(suspect.work, thirds))
            return ends_others(work, thirds) ? is_its_own()
                   : known_[suspect.work.kernel].is_harmful
                       ? alone_it
                       : errored(suspect, "which ends no other kernel, ");
        // Nor by the time of the day: right ones are not charged by a lottery.
        for (int i = 0; i < chances_to_accuse; ++i)
            if (fails({}) || !fails({suspect.work})) return is_its_own();
        accuse(suspect, work, failed.message);
        return alone_it;
    }
    return std::nullopt;
}

bool WorkerPool::ends_others(const Work& before, const std::vector<Work>& others) {
    return std::ranges::any_of(others, [&](const Work& other) {
        return alone({before, other}, Patience::full).death &&
               !alone({other}, Patience::full).death;
    });
}

void WorkerPool::accuse(const Task& suspect, const Work& work, const std::string& what) {
    Outcome culprit = Outcome::failed(
        fmt::format("what it leaves in its process makes {} fail there, which does not alone nor "
                    "behind another kernel: {}",
                    work.kernel ? work.kernel->name : work.property, what));
    culprit.discovery = Discovery::damaged;
    note_harm(suspect.work);
    if (suspect.ticket >= 0)
        answers_.push_back({.ticket = suspect.ticket,
                            .drawn = suspect.work.drawn,
                            .outcome = std::move(culprit),
                            .late = true});
}

Outcome WorkerPool::blame(const Task& task, WorkerEnd end) {
    std::set<std::string> without;
    while (!end.partners.empty()) {
        const std::size_t known = without.size();
        without.insert(end.partners.begin(), end.partners.end());
        if (without.size() == known) break;
        const LoneResult again = alone({task.work}, task.patience, without);
        if (!again.death) {
            crew_.distrust(without);
            return again.outcome;
        }
        end = *again.death;
    }
    Outcome outcome = charged(end, task.work);
    if (outcome.verdict == Verdict::failed && task.work.kernel) {
        note_harm(task.work);
        known_[task.work.kernel].causes.insert(end.cause());
    }
    return outcome;
}

bool WorkerPool::find_culprit(const WorkerHistory& history, std::chrono::seconds time) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + time;
    for (Task& suspect : history.suspects()) {
        if (Clock::now() > until) return false;
        suspect.patience = Patience::full;
        const LoneResult result = alone({suspect.work}, suspect.patience);
        if (!result.death) continue;
        Outcome outcome = blame(suspect, *result.death);
        if (outcome.verdict != Verdict::failed) continue;
        outcome.discovery = Discovery::damaged;
        // A trial of shrinking is of a kernel that has failed already.
        if (suspect.ticket >= 0)
            answers_.push_back({.ticket = suspect.ticket,
                                .drawn = suspect.work.drawn,
                                .outcome = std::move(outcome),
                                .late = true});
        return true;
    }
    return false;
}

std::optional<Task> WorkerPool::only_culprit(const std::vector<Task>& before, const Work& work) {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + short_search_time;
    std::map<const Kernel*, Task> others;
    for (const Task& task : before)
        if (task.work.kernel != work.kernel) others.insert_or_assign(task.work.kernel, task);
    std::optional<Task> culprit;
    for (const auto& [kernel, last] : others) {
        std::vector<Work> without;
        for (const Task& task : before)
            if (task.work.kernel != kernel) without.push_back(task.work);
        if (Clock::now() > until) return std::nullopt;
        if (run_behind(std::move(without), work, Patience::full).verdict == Verdict::failed)
            continue;
        if (culprit) return std::nullopt;
        culprit = last;
    }
    return culprit;
}

Outcome WorkerPool::unexplained(const std::vector<Task>& before, const Work& work,
                                const WorkerEnd& end, const Outcome& alone_it) {
    const std::size_t count = before.size();
    std::vector<Work> works;
    works.reserve(count + 1);
    for (const Task& answered : before) works.push_back(answered.work);
    works.push_back(work);
    const bool again = alone(works, Patience::full).death.has_value();
    const auto culprit = again ? only_culprit(before, work) : std::nullopt;
    if (culprit && ends_others(culprit->work, thirds_of(before, culprit->work, work))) {
        accuse(*culprit, work, end.cause());
        return alone_it;
    }
    // One of those that have ended other processes has damaged this one.
    if (has_harmful(before, work.kernel)) return alone_it;
    return Outcome::errored(
        fmt::format("its worker died at this case: {}; alone it does not, nor does any of the {} "
                    "cases run before it; all of them in this order {}",
                    end.cause(), count, again ? "do again" : "do not either"));
}

void WorkerPool::see_exits() {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + short_search_time;
    for (const auto& [kernel, known] : known_) {
        if (!known.first_passed || known.is_harmful || crew_.has_left(kernel)) continue;
        if (Clock::now() > until) return;
        const Task& task = *known.first_passed;
        const LoneResult result = alone({task.work}, Patience::trial);
        if (result.death)
            answers_.push_back({.ticket = task.ticket,
                                .drawn = task.work.drawn,
                                .outcome = charged(*result.death, task.work),
                                .late = true});
    }
}

void WorkerPool::end_without_a_case(const Crew::Ended& ended) {
    const auto& end = ended.end;
    const auto& history = ended.history;
    const bool had_several = ended.had_several;
    // An owner that has lost its device has not been harmed.
    if (history.empty() || end.by_others() || (had_several && end.in_good_order()) ||
        find_culprit(history, had_several || is_late_ ? short_search_time : search_time) ||
        had_several)
        return;
    const Task last = history.in_order().back();
    if (last.ticket < 0) return;
    answers_.push_back(
        {.ticket = last.ticket,
         .drawn = last.work.drawn,
         .outcome = Outcome::errored(fmt::format(
             "the worker that ran this case last did not end in good order: {}; no case alone does "
             "so",
             end.cause())),
         .late = true});
}

}  // namespace gradverify
