// SPDX-License-Identifier: Apache-2.0
#include "harness/run/row_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/base/interrupt.hpp"

namespace gradverify {

namespace {

/// What all of so many cases did is no accident.
constexpr std::int64_t telling_cases = 10;

/// More than nine in ten: what is left verifies little.
bool is_mostly_refused(std::int64_t cases, std::int64_t refused) {
    return cases >= telling_cases && 10 * refused > 9 * cases;
}

std::string most_common(const std::map<std::string, std::int64_t>& skips) {
    if (skips.empty()) return "for no known reason";
    const auto by_count = [](const auto& skip) { return skip.second; };
    return std::ranges::max_element(skips, {}, by_count)->first;
}

}  // namespace

void ImpreciseCases::add(const ImpreciseCases& other) {
    const std::int64_t both = cases + other.cases;
    const auto times_bound = [](const WrongElement& element) {
        return std::abs(element.got - element.want) / element.bound;
    };
    if (times_bound(other.worst) > times_bound(worst)) *this = other;
    cases = both;
}

VerdictAndReason verdict_of(const RowCounts& counts) {
    const auto& [cases, passed, refused, cut_of, cut_short, thin_of, skips, seconds] = counts;
    std::int64_t skipped = 0;
    for (const auto& [reason, count] : skips) skipped += count;
    if (is_mostly_refused(cases, refused))
        return {Verdict::errored,
                fmt::format(
                    "the launcher refused {} of {} problems; declare what it does not support ({})",
                    refused, cases, most_common(skips))};
    if (passed > 0) return {Verdict::passed, ""};
    if (cases == 0 && skipped == 0) return {Verdict::skipped, "time"};
    if (skipped >= cases) return {Verdict::skipped, most_common(skips)};
    return {Verdict::vacuous, "no case compared a non-zero expected value"};
}

void decide_verdict(RowResult& result) {
    auto [verdict, reason] = verdict_of(result);
    // A case that comes to nothing but zeros may be the first, and the next ones not.
    if (verdict == Verdict::vacuous && result.cut_short && result.cases < telling_cases) {
        verdict = Verdict::skipped;
        reason = "time";
    }
    // What it has not yet shown to be worth, it need not be.
    const bool says_nothing = verdict == Verdict::vacuous || verdict == Verdict::errored ||
                              (verdict == Verdict::skipped && result.skips.empty());
    if (result.cut_short && interrupt_signal() != 0 && says_nothing) {
        verdict = Verdict::skipped;
        reason = "interrupted";
    }
    result.verdict = verdict;
    result.message = std::move(reason);
}

void note_passed(RowResult& result, const Case& drawn, const Outcome& outcome, bool draws_its_own) {
    ++result.passed;
    result.calls_apart += outcome.calls_apart;
    result.calls_without_launch += outcome.calls_without_launch;
    if (!outcome.overflows.empty())
        add_to(result.wrapping, WrappingCases{.cases = 1, .overflows = outcome.overflows});
    if (result.contiguous_alone.empty()) result.contiguous_alone = outcome.contiguous_alone;
    if (draws_its_own) return;
    result.error_over_bound.add(outcome.error_over_bound);
    result.multiply_adds.add(outcome.multiply_adds);
    if (outcome.sensitivity) result.sensitivity.add(*outcome.sensitivity);
    if (outcome.uncompared) result.uncompared.add(*outcome.uncompared);
    result.values.add(outcome.values);
    result.crowding.add(outcome.crowding);
    result.coverage.add(*result.row.kernel, drawn.problem);
    if (!outcome.imprecision) return;
    Case strict = drawn;
    strict.setting.is_strict = true;
    const auto& [worst, elements, largest] = *outcome.imprecision;
    add_to(result.imprecise, ImpreciseCases{1, strict.print(), worst, largest});
}

}  // namespace gradverify
