// SPDX-License-Identifier: Apache-2.0
// The verdict of a row that neither a failure nor an error has ended.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/interrupt.hpp"
#include "harness/run/check.hpp"

namespace gradverify {

namespace {

/// More than nine in ten, and enough cases that it is no accident: what is left verifies little.
bool is_mostly_refused(const RowResult& result) {
    return result.cases >= 10 && 10 * result.refused > 9 * result.cases;
}

const std::string& most_common(const std::map<std::string, std::int64_t>& skips) {
    const auto by_count = [](const auto& skip) { return skip.second; };
    return std::ranges::max_element(skips, {}, by_count)->first;
}

}  // namespace

void decide_verdict(RowResult& result, const std::map<std::string, std::int64_t>& skips) {
    if (interrupt_signal() != 0) {
        result.verdict = Verdict::skipped;
        result.message = "interrupted";
        if (result.passed > 0)
            result.message +=
                fmt::format(" after {} cases, of which {} passed", result.cases, result.passed);
        return;
    }
    std::int64_t skipped = 0;
    for (const auto& [reason, count] : skips) skipped += count;
    if (is_mostly_refused(result)) {
        result.verdict = Verdict::errored;
        result.message = fmt::format(
            "the launcher refused {} of {} problems; declare what it does not support ({})",
            result.refused, result.cases, most_common(skips));
    } else if (result.passed > 0) {
        result.verdict = Verdict::passed;
    } else if (result.cases == 0 && skipped == 0) {
        result.verdict = Verdict::skipped;
        result.message = "time";
    } else if (skipped >= result.cases) {
        result.verdict = Verdict::skipped;
        result.message = most_common(skips);
    } else {
        result.verdict = Verdict::vacuous;
        result.message = "no case compared a non-zero expected value";
    }
}

}  // namespace gradverify
