// SPDX-License-Identifier: Apache-2.0
// The verdict of a row that neither a failure nor an error has ended.
#include <fmt/format.h>

#include <algorithm>

#include "harness/run/check.hpp"

namespace gradverify {

namespace {

/// More than nine in ten, and enough cases that it is no accident: what is left verifies little.
bool is_mostly_refused(std::int64_t cases, std::int64_t refused) {
    return cases >= 10 && 10 * refused > 9 * cases;
}

std::string most_common(const std::map<std::string, std::int64_t>& skips) {
    if (skips.empty()) return "for no known reason";
    const auto by_count = [](const auto& skip) { return skip.second; };
    return std::ranges::max_element(skips, {}, by_count)->first;
}

}  // namespace

VerdictAndReason verdict_of(std::int64_t cases, std::int64_t passed, std::int64_t refused,
                            const std::map<std::string, std::int64_t>& skips) {
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

}  // namespace gradverify
