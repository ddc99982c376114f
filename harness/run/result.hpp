// SPDX-License-Identifier: Apache-2.0
// What a row came to: verdict, counts, and what its cases showed; and what is told of it. Of a run,
// reports read this alone.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/base/checked_json.hpp"
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
    std::int64_t cases = 0;    ///< run to an outcome
    std::int64_t passed = 0;   ///< cases with a non-zero expected value
    std::int64_t refused = 0;  ///< cases whose problem the launcher did not take
    std::int64_t cut_of = 0;   ///< the cases it was to run, where time ran out
    bool cut_short = false;    ///< by time or a signal, before all its cases
    std::int64_t thin_of = 0;  ///< passed fewer than these, which it was due
    using Skips = std::map<std::string, std::int64_t>;
    Skips skips;           ///< how many cases were skipped, by reason
    double seconds = 0.0;  ///< in workers
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

/// A failure as result files tell it.
// NOLINTNEXTLINE(bugprone-exception-escape): JSON asserts in a move that throws nothing
struct Failure : FailureFacts {
    std::string printed_case, problem;  ///< the smallest
    ordered_json drawn;                 ///< what the page draws, and nothing else reads
    std::string report;                 ///< as it was printed
    bool operator==(const Failure&) const = default;

    static void fields(auto& self, auto& visit) {
        visit("case", self.printed_case);
        visit("problem", self.problem);
        FailureFacts::fields(self, visit);
        visit.rest(drawn_fields, self.drawn);
        visit("report", self.report);
    }

  private:
    static constexpr std::array drawn_fields{"parameters", "tensors", "two_calls", "worst", "maps",
                                             "source",     "found",   "data",      "given"};
};

/// A row once nobody needs the registry any more: all that reports, result files and later runs
/// tell of it.
// NOLINTNEXTLINE(bugprone-exception-escape): as above
struct RowRecord : RowName, RowFindings {
    std::string file;  ///< where the kernel is registered
    int line = 0;
    std::optional<Failure> failure;
    /// What a result file told of coverage and errors in place of its parts; null: they are above.
    ordered_json as_told;
    std::vector<std::string> conditions;  ///< of the kernel

    bool is_bad() const { return verdict != Verdict::passed && verdict != Verdict::skipped; }
    bool is_wrong() const { return !known && is_bad(); }
    /// Whether it has passed few cases: ten, or those of `--at-least`, would be more.
    bool is_thin() const {
        return verdict == Verdict::passed && (thin_of > 0 || (cases < 10 && !exhaustive));
    }
    /// The smallest problem of its failure; empty without one.
    std::string failing_problem() const { return failure ? failure->problem : ""; }
};

/// A row's fields in result files, in their order. By this list a row is written and read, and the
/// rows of shards are added up.
void row_fields(auto& visit, auto&... row) {
    visit.needed("kernel", row.kernel...);
    visit.needed("property", row.property...);
    visit.needed("device", row.device...);
    visit.one_of("verdict", row.verdict..., all_verdicts, [](Verdict one) { return name_of(one); });
    visit.needed("cases", row.cases...);
    visit.always("passed", row.passed...);
    visit.always("seconds", row.seconds...);
    visit.kept("file", row.file...);
    visit.kept("line", row.line...);
    visit("refused", row.refused...);
    visit.kept("cut_of", row.cut_of...);
    visit("cut_short", row.cut_short...);
    visit.told("thin", (row.thin_of > 0)...);
    visit.kept("at_least", row.thin_of...);
    visit.whole("found_at", row.found_at...);
    visit("exhaustive", row.exhaustive...);
    visit.rest(std::array{"coverage", "supports_only", "ulps", "errors"}, row.as_told...);
    visit("imprecise", row.imprecise...);
    visit("uncompared", row.uncompared...);
    visit("magnitudes", row.values...);
    visit("crowding", row.crowding...);
    visit("wrapping", row.wrapping...);
    visit("contiguous_alone", row.contiguous_alone...);
    visit.kept("message", row.message...);
    visit("skips", row.skips...);
    visit.inner(row.failure...);
    visit("left_out", row.left_out...);
    visit.kept("not_compared", row.not_compared...);
    visit.kept("known", row.known...);
}

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
