// SPDX-License-Identifier: Apache-2.0
// What a row came to: its verdict, its counts, and what its cases showed. Reports read this, and
// nothing else of a run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/coverage.hpp"
#include "harness/cases/distribution.hpp"
#include "harness/cases/sensitivity.hpp"
#include "harness/cases/suite.hpp"
#include "harness/run/exhaustive.hpp"

namespace gradverify {

/// Passed cases with elements that only another formula than the operator's explains.
struct ImpreciseCases {
    std::int64_t cases = 0;
    Case worst;
    Imprecision found;  ///< in the worst
};

/// Passed cases in which integers overflowed and came right by wrapping.
struct WrappingCases {
    std::int64_t cases = 0;
    std::string overflows;  ///< in the first
};

/// A failing case as it was drawn.
struct FoundFailure {
    Case drawn;
    Outcome outcome;
};

struct RowResult {
    Row row;
    Verdict verdict = Verdict::vacuous;
    /// Why, for everything but passed.
    std::string message;
    std::int64_t cases = 0;                     ///< run to an outcome
    std::int64_t cut_of = 0;                    ///< the cases it was to run, where time ran out
    bool cut_short = false;                     ///< by time or a signal, before all its cases
    std::int64_t thin_of = 0;                   ///< passed fewer than these, which it was due
    std::int64_t passed = 0;                    ///< cases with a non-zero expected value
    std::int64_t refused = 0;                   ///< cases whose problem the launcher did not take
    std::map<std::string, std::int64_t> skips;  ///< how many cases were skipped, by reason
    std::optional<Shrunk> failure;              ///< for failed
    std::optional<FoundFailure> found;          ///< the same before it was shrunk
    /// The index of the case that failed or errored; negative for one of `known_cases`.
    std::optional<std::int64_t> found_at;
    Distribution error_over_bound, multiply_adds;  ///< of passed cases
    SensitivityOfCases sensitivity;                ///< of comparisons within bounds
    std::optional<ImpreciseCases> imprecise;       ///< of passed cases
    std::optional<Uncompared> uncompared;          ///< in all passed cases together
    std::optional<WrappingCases> wrapping;
    std::string contiguous_alone;  ///< as in Outcome, of any passed case
    Coverage coverage;             ///< the problems that passed, or are empty
    /// What the `coverage` of a passed row is held against.
    std::shared_ptr<const PairsByRank> within_reach{};
    /// The user's problems that this kernel does not support, each with the reason.
    std::vector<std::string> left_out;
    std::vector<std::string> not_compared;  ///< the user's problems on which zeros agree as well
    std::optional<ExhaustiveCover> exhaustive;  ///< how far the row got, if every problem was asked
    bool known = false;                         ///< it did not pass, and the user knows
    bool may_hang = false;                      ///< a case had not ended when time was up
    double seconds = 0.0;                       ///< in workers
};

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

/// How far a run is.
struct SignOfLife {
    double seconds = 0.0;
    std::int64_t cases = 0, rows_with_all = 0, rows = 0, failed = 0;  ///< `failed`: rows
    const Row* longest = nullptr;  ///< whose case, or shrinking, runs longest now
    double longest_seconds = 0.0;
    bool is_shrinking = false;
};

}  // namespace gradverify
