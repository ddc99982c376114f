// SPDX-License-Identifier: Apache-2.0
// What a row came to: verdict, counts, and what its cases showed. Of a run, reports read this
// alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/cases/coverage.hpp"
#include "harness/cases/distribution.hpp"
#include "harness/cases/sensitivity.hpp"
#include "harness/cases/suite.hpp"
#include "harness/run/exhaustive.hpp"

namespace gradverify {

/// A row in words, which whoever reads a result file knows it by.
struct RowName {
    std::string kernel, property, device;

    /// `conv.forward/naive, repeatable on cpu`
    std::string name() const { return kernel + ", " + property + " on " + device; }
    std::string kernel_on_device() const { return kernel + " on " + device; }
    auto operator<=>(const RowName&) const = default;
};

/// What became of a row's cases.
struct RowCounts {
    std::int64_t cases = 0;                     ///< run to an outcome
    std::int64_t passed = 0;                    ///< cases with a non-zero expected value
    std::int64_t refused = 0;                   ///< cases whose problem the launcher did not take
    std::int64_t cut_of = 0;                    ///< the cases it was to run, where time ran out
    bool cut_short = false;                     ///< by time or a signal, before all its cases
    std::int64_t thin_of = 0;                   ///< passed fewer than these, which it was due
    std::map<std::string, std::int64_t> skips;  ///< how many cases were skipped, by reason
    double seconds = 0.0;                       ///< in workers
};

/// Passed cases with elements that only another formula than the operator's explains.
struct ImpreciseCases {
    std::int64_t cases = 0;
    std::string worst_case;  ///< as it fails
    WrongElement worst;      ///< in it
    double largest = 0.0;    ///< magnitude in its tensor

    void add(const ImpreciseCases& other);

    static void fields(auto& self, auto& visit) {
        visit.needed("cases", self.cases);
        visit.needed("case", self.worst_case);
        WrongElement::fields(self.worst, visit);
        visit.needed("largest", self.largest);
    }
};

/// Passed cases in which integers overflowed and came right by wrapping.
struct WrappingCases {
    std::int64_t cases = 0;
    std::string overflows;  ///< in the first

    void add(const WrappingCases& other) { cases += other.cases; }

    static void fields(auto& self, auto& visit) {
        visit.needed("cases", self.cases);
        visit.needed("overflows", self.overflows);
    }
};

/// Adds what there is of either.
template <class T>
void add_to(std::optional<T>& sum, const std::optional<std::type_identity_t<T>>& other) {
    if (sum && other)
        sum->add(*other);
    else if (other)
        sum = other;
}

/// What a row's passed cases showed, and what it covered.
struct RowEvidence {
    Distribution error_over_bound, multiply_adds;
    SensitivityOfCases sensitivity;  ///< of comparisons within bounds
    std::optional<ImpreciseCases> imprecise;
    Uncompared uncompared;  ///< in all passed cases together
    Magnitudes values;      ///< likewise
    Crowding crowding;      ///< likewise
    std::optional<WrappingCases> wrapping;
    std::string contiguous_alone;                            ///< as in Outcome, of any passed case
    std::int64_t calls_apart = 0, calls_without_launch = 0;  ///< see Outcome
    Coverage coverage;  ///< the problems that passed, or are empty
    /// What the `coverage` of a passed row is held against.
    std::shared_ptr<const PairsByRank> within_reach;
    /// The user's problems that this kernel does not support, each with the reason.
    std::vector<std::string> left_out;
    std::vector<std::string> not_compared;  ///< the user's problems on which zeros agree as well
    std::optional<ExhaustiveCover> exhaustive;  ///< how far the row got, if every problem was asked
};

/// What a row came to.
struct RowFindings : RowCounts, RowEvidence {
    Verdict verdict = Verdict::vacuous;
    std::string message;  ///< why, for everything but passed
    bool known = false;   ///< it did not pass, and the user knows
    /// The index of the case that failed or errored; negative for one of `known_cases`.
    std::optional<std::int64_t> found_at;
};

/// A failing case as it was drawn.
struct FoundFailure {
    Case drawn;
    Outcome outcome;
    bool is_asked = false;  ///< on a problem of the user's
};

/// A row of this run.
struct RowResult : RowFindings {
    Row row;
    std::optional<Shrunk> failure;      ///< for failed
    std::optional<FoundFailure> found;  ///< the same before it was shrunk
    bool may_hang = false;              ///< a case had not ended when time was up

    RowName name() const { return {row.kernel->name, row.property_name(), row.device}; }
};

/// Why a row has no case in one shard, though it may have some in others.
inline constexpr const char* no_case_in_shard = "no case in this shard";
inline constexpr const char* no_problem_in_shard =
    "supports no problem up to this distance in this shard";

struct VerdictAndReason {
    Verdict verdict = Verdict::skipped;
    std::string reason;
};

VerdictAndReason verdict_of(const RowCounts& counts);

/// How far a run is.
struct SignOfLife {
    double seconds = 0.0;
    std::int64_t cases = 0, rows_with_all = 0, rows = 0, failed = 0;  ///< `failed`: rows
    const Row* longest = nullptr;  ///< whose case, or shrinking, runs longest now
    double longest_seconds = 0.0;
    bool is_shrinking = false;
};

}  // namespace gradverify
