// SPDX-License-Identifier: Apache-2.0
// Decides how a kernel is verified on the problem that it is timed on.
#include <fmt/format.h>

#include <set>

#include "harness/base/text.hpp"
#include "harness/bench/bench.hpp"
#include "harness/devices/large/large_call.hpp"
#include "harness/operators/copies.hpp"
#include "harness/report/text/failure.hpp"
#include "harness/run/selection.hpp"
#include "harness/workers/run_alone.hpp"

namespace gradverify {

namespace {

using State = Verification::State;

// Data are drawn again where chance leaves nothing but zeros to expect.
constexpr std::uint64_t draws_most = 8;
// Copies with drawn data may take this share of the work: the reference computes each of them.
constexpr double share_of_drawn_copies = 1.0 / 16.0;

std::string output_elements(const BenchGroup& group) {
    std::int64_t count = 0;
    for (const std::string& name : group.pass->outputs)
        count += element_count(group.op->sizes_of(name, group.problem));
    return count == 1 ? "its one element" : fmt::format("all {} elements", print_grouped(count));
}

/// Whether integers have one right result here, and the kernel must give it.
bool is_exact(const Kernel& kernel, const Problem& problem) {
    return kernel.op->is_exact_at(problem) && !kernel.pass->admit_branches &&
           !kernel.any().adds_to_some() && !kernel.any().norm_wise_growth;
}

std::set<std::int64_t> divisors_of(std::int64_t number) {
    std::set<std::int64_t> divisors;
    for (std::int64_t i = 1; i <= number / i; ++i)
        if (number % i == 0) divisors.insert({i, number / i});
    return divisors;
}

/// The fewest copies that the problem is made of, so that those with drawn data take at most this
/// work; nothing where there are none.
std::optional<std::int64_t> fewest_copies(const BenchGroup& group, const SeparableSpec& along,
                                          double most_drawn) {
    const Problem& problem = group.problem;
    const auto slots = problem.space().find(along.parameters.front(), problem.rank());
    if (slots.empty()) return std::nullopt;
    for (const std::int64_t copies : divisors_of(problem[slots.front()])) {
        if (copies == 1) continue;
        const auto one = one_copy(problem, along, copies);
        if (one && DrawnCopies::most * group.pass->multiply_adds(*one) <= most_drawn) return copies;
    }
    return std::nullopt;
}

/// How a failed case is told, with the line that replays it.
Verification failed(const Case& checked, const Outcome& outcome) {
    return {State::failed, outcome.message,
            fmt::format("{}  replay     {} repro {}\n", report_case(checked, outcome),
                        program_to_paste(), shell_quoted(checked.print()))};
}

Verification by_reference(WorkerPool& pool, const BenchRun& run, const BenchGroup& group,
                          const Kernel& kernel) {
    const bool exactly = is_exact(kernel, group.problem) &&
                         bench_data_named(run.arguments.data) != BenchData::decimals;
    const std::string property = exactly ? "matches_reference" : "within_rounding_bound";
    Outcome outcome;
    for (std::uint64_t draw = 0; draw < draws_most; ++draw) {
        const Case checked{.kernel = kernel.name,
                           .property = property,
                           .device = run.device,
                           .problem = group.problem,
                           .data = {.seed = run.arguments.seed + draw}};
        outcome = pool.run(checked);
        if (outcome.verdict == Verdict::failed || outcome.verdict == Verdict::errored)
            return failed(checked, outcome);
        if (outcome.verdict != Verdict::vacuous) break;
    }
    if (outcome.verdict == Verdict::vacuous)
        return {State::not_verified, "nothing but zeros is expected on this problem"};
    if (outcome.verdict != Verdict::passed) return {State::not_verified, outcome.message};
    return {State::verified,
            output_elements(group) + (exactly ? " equal the reference, on integers"
                                              : " are within their rounding bounds, on decimals")};
}

Verification by_copies(const BenchRun& run, const BenchGroup& group, const Kernel& kernel,
                       double largest) {
    std::string why_not;
    const double multiply_adds = group.pass->multiply_adds(group.problem);
    for (const SeparableSpec& along : group.op->separable) {
        const auto copies = fewest_copies(group, along, share_of_drawn_copies * largest);
        if (!copies) continue;
        const Case checked{.kernel = kernel.name,
                           .property = "holds_when_large",
                           .device = run.device,
                           .problem = group.problem,
                           .data = {.seed = run.arguments.seed},
                           .setting = {.copies = Copies{along.name, *copies}}};
        // Two calls: a rehearsal, and the one that is compared.
        const Outcome outcome =
            ask_alone(checked, generous_seconds(multiply_adds, 2.0, run.device));
        // An error is not the kernel's fault: it may not support the small problem.
        if (outcome.verdict == Verdict::failed) return failed(checked, outcome);
        if (outcome.verdict == Verdict::passed)
            return {State::verified,
                    fmt::format("{} are right, of {} copies along {}, most of them without data "
                                "of their own",
                                output_elements(group), print_grouped(*copies), along.name)};
        why_not += fmt::format("; as copies along {}: {}", along.name, outcome.message);
    }
    if (why_not.empty()) why_not = ", nor is it made of copies of one that is small enough";
    return {
        State::not_verified,
        fmt::format("the problem is too large for the reference ({} multiply-adds, at most {}){}",
                    print_rounded(multiply_adds), print_rounded(largest), why_not)};
}

}  // namespace

Outcome ask_alone(const Work& work, double limit_seconds) {
    const TimeLimits limits({.floor_seconds = limit_seconds, .large_seconds = limit_seconds});
    const LoneResult result = run_alone(worker_options(1), limits, {work});
    return result.death ? Outcome::failed(result.death->cause()) : result.outcome;
}

double generous_seconds(double multiply_adds, double calls, const std::string& device) {
    // On a GPU one thread may do all of the work; on the cpu device cases have the same rate.
    const double seconds_per_multiply_add = device == "cpu" ? 2e-6 : 1e-9;
    return 120.0 + calls * multiply_adds * seconds_per_multiply_add;
}

Verification verify(WorkerPool& pool, const BenchRun& run, const BenchGroup& group,
                    const Kernel& kernel, double largest) {
    if (!run.arguments.verify) return {State::not_verified, "--no-verify"};
    return group.pass->multiply_adds(group.problem) <= largest
               ? by_reference(pool, run, group, kernel)
               : by_copies(run, group, kernel, largest);
}

}  // namespace gradverify
