// SPDX-License-Identifier: Apache-2.0
// Which case is to blame for a worker's death, and what is said of it.
#include <algorithm>
#include <chrono>

#include "harness/base/text.hpp"
#include "harness/registry/registry.hpp"
#include "harness/workers/pool_parts.hpp"
#include "harness/workers/worker.hpp"

namespace gradverify {

namespace {

// Looking for a culprit among the cases that a dead worker has answered.
constexpr double search_seconds = 60.0;

/// Whether the case's kernel declares no block sizes, so that Launch::block_size is 0.
bool has_no_block_size(const std::string& line) {
    const auto fields = split(line, ':');
    if (fields.size() < 4) return false;
    const Kernel* kernel = Registry::instance().find_kernel(std::string(fields[1]));
    const KernelDeclaration* declared = kernel ? kernel->on(std::string(fields[3])) : nullptr;
    return declared && declared->block_sizes.empty();
}

/// What a case has come to that killed its worker without help.
Outcome charged(const WorkerEnd& end, const std::string& line, const std::string& slowest) {
    std::string cause = end.cause();
    if (end.divided_by_zero() && end.in_launcher && has_no_block_size(line))
        cause += "; launch.block_size is 0 unless .blocks_of({...}) is declared";
    const bool too_much = !end.overstepped.empty();
    if (cause.starts_with("no end")) cause += " (" + slowest + ")";
    Outcome outcome = Outcome::failed(cause);
    // Before a launcher was called, or for the time and memory that it takes outside of one, a
    // kernel can't answer.
    if (!end.launched)
        outcome = Outcome::errored("before the kernel was called: " + cause);
    else if (too_much && !end.in_launcher)
        outcome = Outcome::errored("outside of the kernel's launcher: " + cause);
    const bool damaged = end.aborted() || !end.in_launcher;
    outcome.discovery = too_much  ? Discovery::overstepped
                        : damaged ? Discovery::damaged
                                  : Discovery::died;
    return outcome;
}

}  // namespace

LoneResult WorkerPool::alone(std::vector<std::string> cases, Patience patience,
                             const std::vector<std::string>& without) const {
    LoneRun run{.command = options_.command,
                .cases = std::move(cases),
                .distrusted = {distrusted_.begin(), distrusted_.end()},
                .limits = limits_,
                .patience = patience,
                .memory_bytes = options_.memory_bytes,
                .start_seconds = options_.start_seconds};
    run.distrusted.insert(run.distrusted.end(), without.begin(), without.end());
    return run_alone(run);
}

Outcome WorkerPool::judge(const WorkerHistory& history, const Request& request,
                          const WorkerEnd& end) {
    if (history.empty()) return blame(request, end);
    // After it took too long once, a tenth of that is enough to tell whether it does so by itself.
    const bool too_much = !end.overstepped.empty();
    LoneResult again = alone({request.line}, too_much ? Patience::trial : request.patience);
    if (again.death) {
        // What it first took is the better evidence.
        if (too_much && !again.death->overstepped.empty())
            again.death->overstepped = end.overstepped;
        return blame(request, *again.death);
    }
    // This worker had been started before the pool knew what the partner does.
    const bool known = std::ranges::any_of(
        end.partners, [&](const std::string& partner) { return distrusted_.contains(partner); });
    if (known || end.by_others() || find_culprit(history)) return again.outcome;
    return unexplained(history, request.line, end);
}

Outcome WorkerPool::blame(const Request& request, WorkerEnd end) {
    const std::string slowest = limits_.history(request.line);
    std::vector<std::string> without;
    while (!end.partners.empty()) {
        const std::size_t known = without.size();
        for (const std::string& partner : end.partners)
            if (std::ranges::find(without, partner) == without.end()) without.push_back(partner);
        if (without.size() == known) break;
        const LoneResult again = alone({request.line}, request.patience, without);
        if (!again.death) {
            spread_distrust(without);
            return again.outcome;
        }
        end = *again.death;
    }
    return charged(end, request.line, slowest);
}

void WorkerPool::spread_distrust(const std::vector<std::string>& kernels) {
    distrusted_.insert(kernels.begin(), kernels.end());
    for (const auto& worker : workers_)
        for (const std::string& kernel : kernels) worker->process.send(worker_distrust + kernel);
}

bool WorkerPool::find_culprit(const WorkerHistory& history) {
    const auto until = Clock::now() + std::chrono::duration<double>(search_seconds);
    for (const AnsweredCase& suspect : history.suspects()) {
        if (Clock::now() > until) return false;
        const LoneResult result = alone({suspect.line}, Patience::full);
        if (!result.death) continue;
        const Request request{.ticket = suspect.ticket, .line = suspect.line, .patience = {}};
        Outcome outcome = blame(request, *result.death);
        if (outcome.verdict != Verdict::failed) continue;
        outcome.discovery = Discovery::damaged;
        // A trial of shrinking belongs to a kernel that has failed already.
        if (suspect.ticket >= 0)
            answers_.push_back(
                {.ticket = suspect.ticket, .outcome = std::move(outcome), .late = true});
        return true;
    }
    return false;
}

Outcome WorkerPool::unexplained(const WorkerHistory& history, const std::string& line,
                                const WorkerEnd& end) const {
    std::vector<std::string> lines;
    for (const AnsweredCase& answered : history.in_order()) lines.push_back(answered.line);
    const std::string count = std::to_string(lines.size());
    lines.push_back(line);
    const bool again = alone(lines, Patience::full).death.has_value();
    return Outcome::errored("its worker died at this case: " + end.cause() +
                            "; alone it does not, nor does any of the " + count +
                            " cases run before it; all of them in this order " +
                            (again ? "do again" : "do not either"));
}

void WorkerPool::end_without_a_case(const WorkerHistory& history, const WorkerEnd& end) {
    if (history.empty() || end.by_others() || find_culprit(history)) return;
    const AnsweredCase last = history.in_order().back();
    if (last.ticket < 0) return;
    answers_.push_back({.ticket = last.ticket,
                        .outcome = Outcome::errored("the worker that ran this case last did not "
                                                    "end in good order: " +
                                                    end.cause() + "; no case alone does so"),
                        .late = true});
}

}  // namespace gradverify
