// SPDX-License-Identifier: Apache-2.0
// Decides how a kernel is verified on the very problem that it is timed on. Up to
// `reference_multiply_adds` by the reference. Beyond, by the results of another kernel of the same
// pass, where integers make that one exact and both matched the reference on small problems: two
// kernels that are wrong alike on large ones alone would pass. Where there is none, by what copies
// of a small problem must give.
#include <algorithm>
#include <stdexcept>

#include "harness/base/text.hpp"
#include "harness/bench/bench.hpp"
#include "harness/devices/large_call.hpp"
#include "harness/operators/copies.hpp"
#include "harness/registry/element_types.hpp"
#include "harness/registry/layout.hpp"
#include "harness/report/failure.hpp"
#include "harness/run/selection.hpp"
#include "harness/workers/alone.hpp"
#include "harness/workers/worker.hpp"

namespace gradverify {

namespace {

using State = Verification::State;

// An unlucky draw expects zeros alone, as of a tensor of one element.
constexpr std::uint64_t draws_most = 8;
constexpr std::int64_t small_problems = 20, small_draws_most = 40;
// A row's first draws are the smallest problems that there are: many a wrong kernel passes those.
constexpr std::int64_t first_small_draw = 64;
// The copies that hold drawn data are computed one by one as well, and with their bounds.
constexpr double share_of_drawn_copies = 1.0 / 16.0;

std::string output_elements(const BenchGroup& group) {
    std::int64_t count = 0;
    for (const std::string& name : group.pass->outputs)
        count += element_count(group.op->sizes_of(name, group.problem));
    return count == 1 ? "its one element" : "all " + print_grouped(count) + " elements";
}

std::string too_large(const BenchGroup& group, double largest) {
    return "the problem is too large for the reference (" +
           print_rounded(group.pass->multiply_adds(group.problem)) + " multiply-adds, at most " +
           print_rounded(largest) + ")";
}

/// Integers have one right result here, and the kernel's outputs hold nothing but that.
bool gives_sums_alone(const Kernel& kernel, const Problem& problem) {
    return kernel.op->is_exact_at(problem) && !kernel.pass->admit_branches &&
           kernel.any().write_mode == WriteMode::overwrites;
}

/// And the kernel gives that one.
bool is_exact(const Kernel& kernel, const Problem& problem) {
    return gives_sums_alone(kernel, problem) && !kernel.any().norm_wise_growth;
}

/// In ascending order.
std::vector<std::int64_t> divisors_of(std::int64_t number) {
    std::vector<std::int64_t> small, large;
    for (std::int64_t i = 1; i <= number / i; ++i) {
        if (number % i != 0) continue;
        small.push_back(i);
        if (i != number / i) large.push_back(number / i);
    }
    small.insert(small.end(), large.rbegin(), large.rend());
    return small;
}

/// The fewest copies along something that a problem is, where those that hold drawn data are so
/// much work at most; nothing where it is not.
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

Verification failed(const Case& checked, const Outcome& outcome) {
    return {State::failed, outcome.message, report_case(checked, outcome)};
}

/// The same of a case that any of its own runs shows to fail.
Verification failed_alone(const Case& checked, const Outcome& outcome) {
    Verification verification = failed(checked, outcome);
    verification.report +=
        "  replay     " + program_to_paste() + " repro " + shell_quoted(checked.print()) + "\n";
    return verification;
}

/// Whether it stores what sums of many ones come to, and all that the kernel stores.
bool holds_sums_for(const Kernel& kernel, const Kernel& peer) {
    return std::ranges::all_of(kernel.pass->outputs, [&](const std::string& name) {
        const DType theirs = ElementTypes(peer.any(), *kernel.op).of(*kernel.op, name);
        return is_floating(theirs) && holds_all_of(theirs, DType::f32) &&
               holds_all_of(theirs, ElementTypes(kernel.any(), *kernel.op).of(*kernel.op, name));
    });
}

/// The kernels to agree with: those of the same types first, of these yardsticks, which are quick,
/// and then the simplest, of which those that read no other layout than most.
std::vector<const Kernel*> peers_of(const BenchGroup& group, const Kernel& kernel,
                                    const std::string& device) {
    std::vector<const Kernel*> peers;
    for (const Kernel& other : Registry::instance().kernels())
        if (other.pass == group.pass && &other != &kernel && other.on(device) &&
            is_exact(other, group.problem) && !other.why_unsupported(group.problem) &&
            (!kernel.any().norm_wise_growth || holds_sums_for(kernel, other)))
            peers.push_back(&other);
    const auto types = [&](const Kernel& one) {
        return print_types(one.any(), *group.op, *group.pass);
    };
    const auto rank = [&](const Kernel* peer) {
        const bool simple = peer->any().variant.find("naive") != std::string::npos;
        return (types(*peer) == types(kernel) ? 0 : 8) +
               (is_yardstick(*peer) ? 0
                : simple            ? 2
                                    : 4) +
               (takes_row_major(*group.op, *group.pass, peer->any()) ? 0 : 1);
    };
    std::ranges::stable_sort(peers, {}, rank);
    return peers;
}

/// Of a line to a worker of its own.
Outcome answer_to(const std::string& line, double limit_seconds) {
    const std::vector<std::string> command = worker_options(1).command;
    const TimeLimits limits({.floor_seconds = limit_seconds, .large_seconds = limit_seconds});
    const LoneResult result = run_alone({.command = command,
                                         .cases = {line},
                                         .distrusted = {},
                                         .limits = limits,
                                         .memory_bytes = memory_share_bytes(1)});
    if (!result.death) return result.outcome;
    // A kernel that was called to compare with is not the one that was asked about.
    const std::string cause = result.death->cause();
    if (result.death->partners.empty()) return Outcome::failed(cause);
    return Outcome::skipped(joined(result.death->partners) + ": " + cause);
}

}  // namespace

Outcome ask_alone(const MeasureRequest& request, double limit_seconds) {
    return answer_to(worker_measure + request.to_json(), limit_seconds);
}

double generous_seconds(double multiply_adds, double calls, const std::string& device) {
    // A thread that does all of the work of a GPU kernel; as for cases on the cpu device.
    const double seconds_per_multiply_add = device == "cpu" ? 2e-6 : 1e-9;
    return 120.0 + calls * multiply_adds * seconds_per_multiply_add;
}

BenchVerifier::BenchVerifier(const Suite& suite, WorkerPool& pool, const BenchArguments& arguments,
                             std::string device, double largest)
    : suite_(suite),
      pool_(pool),
      arguments_(arguments),
      device_(std::move(device)),
      largest_(largest) {}

Verification BenchVerifier::verify(const BenchGroup& group, const Kernel& kernel) {
    if (!arguments_.verify) return {State::not_verified, "--no-verify", {}};
    return group.pass->multiply_adds(group.problem) <= largest_
               ? by_reference(group, kernel)
               : beyond_the_reference(group, kernel);
}

Verification BenchVerifier::by_reference(const BenchGroup& group, const Kernel& kernel) {
    const bool exactly =
        is_exact(kernel, group.problem) && bench_data_named(arguments_.data) != BenchData::decimals;
    const std::string property = exactly ? "matches_reference" : "within_rounding_bound";
    Outcome outcome;
    for (std::uint64_t draw = 0; draw < draws_most; ++draw) {
        const Case checked{.kernel = kernel.name,
                           .property = property,
                           .device = device_,
                           .problem = group.problem,
                           .data = {.seed = arguments_.seed + draw},
                           .setting = {}};
        outcome = pool_.run(checked.print());
        if (outcome.verdict == Verdict::failed || outcome.verdict == Verdict::errored)
            return failed_alone(checked, outcome);
        if (outcome.verdict != Verdict::vacuous) break;
    }
    if (outcome.verdict == Verdict::vacuous)
        return {State::not_verified, "nothing but zeros is expected on this problem", {}};
    if (outcome.verdict != Verdict::passed) return {State::not_verified, outcome.message, {}};
    return {State::verified,
            output_elements(group) + (exactly ? " equal the reference, on integers"
                                              : " are within their rounding bounds, on decimals"),
            {}};
}

Verification BenchVerifier::beyond_the_reference(const BenchGroup& group, const Kernel& kernel) {
    std::string why_not = too_large(group, largest_);
    std::string of_small;
    if (gives_sums_alone(kernel, group.problem)) {
        const Verification& small = on_small_problems(kernel);
        if (small.state != State::verified) return small;
        of_small = "; " + small.text;
        std::string tried;
        if (auto agreed = by_agreement(group, kernel, tried)) return *agreed;
        why_not += ", and no other sound kernel on " + device_ + tried + " can take it";
    }
    if (auto as_copies = by_copies(group, kernel, why_not)) return *as_copies;
    return {State::not_verified, why_not + of_small, {}};
}

/// Nothing when there is no peer that can tell.
std::optional<Verification> BenchVerifier::by_agreement(const BenchGroup& group,
                                                        const Kernel& kernel, std::string& tried) {
    for (const Kernel* peer : peers_of(group, kernel, device_)) {
        if (on_small_problems(*peer).state != State::verified) continue;
        if (auto verification = against(group, kernel, *peer)) return verification;
        tried += (tried.empty() ? " but " : ", ") + peer->name;
    }
    return std::nullopt;
}

/// Nothing when it is no copies of a problem that is small enough, or the kernel can't be called on
/// those.
std::optional<Verification> BenchVerifier::by_copies(const BenchGroup& group, const Kernel& kernel,
                                                     std::string& why_not) {
    std::string of_copies;
    for (const SeparableSpec& along : group.op->separable) {
        const auto copies = fewest_copies(group, along, share_of_drawn_copies * largest_);
        if (!copies) continue;
        const Case checked{.kernel = kernel.name,
                           .property = "holds_when_large",
                           .device = device_,
                           .problem = group.problem,
                           .data = {.seed = arguments_.seed},
                           .setting = {.copies = Copies{along.name, *copies}}};
        // A rehearsal, and the call.
        const Outcome outcome =
            answer_to(checked.print(),
                      generous_seconds(group.pass->multiply_adds(group.problem), 2.0, device_));
        // An error is no kernel's doing: it may not take the small problem.
        if (outcome.verdict == Verdict::failed) return failed_alone(checked, outcome);
        if (outcome.verdict == Verdict::passed)
            return Verification{State::verified,
                                output_elements(group) + " are right, of " +
                                    print_grouped(*copies) + " copies along " + along.name +
                                    ", most of them without data of their own",
                                {}};
        of_copies += "; as copies along " + along.name + ": " + outcome.message;
    }
    why_not +=
        of_copies.empty() ? ", nor is it made of copies of one that is small enough" : of_copies;
    return std::nullopt;
}

/// Nothing when the peer can't tell.
std::optional<Verification> BenchVerifier::against(const BenchGroup& group, const Kernel& kernel,
                                                   const Kernel& peer) {
    const MeasureRequest request{.what = MeasureRequest::What::agreement,
                                 .device = device_,
                                 .kernel = kernel.name,
                                 .problem = group.problem.print(),
                                 .peer = peer.name,
                                 .data = BenchData::integers,
                                 .seed = arguments_.seed};
    const bool is_transformed = kernel.any().norm_wise_growth.has_value();
    // The peer is then called twice more, for what the elements may be off by.
    const double calls = is_transformed ? 4.0 : 2.0;
    const Outcome outcome = ask_alone(
        request, generous_seconds(group.pass->multiply_adds(group.problem), calls, device_));
    if (outcome.verdict == Verdict::passed)
        return Verification{
            State::verified,
            output_elements(group) +
                (outcome.message.empty() ? " equal those of " + peer.name
                                         : " are within their norm-wise bounds of those of " +
                                               peer.name + ", by " + outcome.message) +
                ", on integers; of both, " + on_small_problems(kernel).text,
            {}};
    // No other peer would know more.
    if (is_transformed && outcome.verdict == Verdict::vacuous)
        return Verification{
            State::not_verified, too_large(group, largest_) + ", and " + outcome.message, {}};
    if (outcome.verdict == Verdict::skipped || outcome.verdict == Verdict::vacuous)
        return std::nullopt;
    const Case checked{.kernel = kernel.name,
                       .property = "matches_reference",
                       .device = device_,
                       .problem = group.problem,
                       .data = {.seed = arguments_.seed},
                       .setting = {}};
    return failed(checked, outcome);
}

const Verification& BenchVerifier::on_small_problems(const Kernel& kernel) {
    if (const auto known = small_.find(kernel.name); known != small_.end()) return known->second;
    Verification& result = small_[kernel.name];
    std::int64_t passed = 0;
    for (std::int64_t i = 0; i < small_draws_most && passed < small_problems; ++i) {
        const auto draw = suite_.draw({&kernel, suite_.find("matches_reference"), device_},
                                      arguments_.seed, first_small_draw + i);
        if (!draw.drawn) break;
        const Outcome outcome = pool_.run(draw.drawn->print());
        if (outcome.verdict == Verdict::failed || outcome.verdict == Verdict::errored)
            return result = failed_alone(*draw.drawn, outcome);
        if (outcome.verdict == Verdict::passed) ++passed;
    }
    if (passed == 0) return result = {State::not_verified, "no small problem could be drawn", {}};
    return result = {
               State::verified, std::to_string(passed) + " small problems match the reference", {}};
}

}  // namespace gradverify
