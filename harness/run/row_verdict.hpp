// SPDX-License-Identifier: Apache-2.0
// Decides what a row's cases come to together: what is noted of one that passed, and the verdict of
// a row that neither a failure nor an error has ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/run/result.hpp"

namespace gradverify {

/// Why a row has no case in one shard, though it may have some in others.
inline constexpr const char* no_case_in_shard = "no case in this shard";
inline constexpr const char* no_problem_in_shard =
    "supports no problem up to this distance in this shard";

struct VerdictAndReason {
    Verdict verdict = Verdict::skipped;
    std::string reason;
};

/// `skips`: how many of the cases were skipped, by reason.
VerdictAndReason verdict_of(std::int64_t cases, std::int64_t passed, std::int64_t refused,
                            const std::map<std::string, std::int64_t>& skips);

/// Sets verdict and message of a row of this run, which may have been interrupted.
void decide_verdict(RowResult& result);

/// `draws_its_own`: the row's problems are unlike those of all others.
void note_passed(RowResult& result, const Case& drawn, const Outcome& outcome, bool draws_its_own);

}  // namespace gradverify
