// SPDX-License-Identifier: Apache-2.0
// Decides what a row's result is once nobody needs the registry any more: all that reports, result
// files and later runs tell of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/checked_json.hpp"
#include "harness/run/result.hpp"

namespace gradverify {

/// A failure as result files tell it.
// NOLINTNEXTLINE(bugprone-exception-escape): JSON asserts in a move that throws nothing
struct Failure {
    std::string printed_case, problem;  ///< the smallest
    bool is_minimal = false;
    std::string minimality;  ///< `certified`, `boxed`, or nothing where nobody knows
    std::optional<std::int64_t> smaller_passed, smaller;  ///< problems
    std::int64_t smaller_silent = 0, smaller_draws = 0;
    bool smaller_is_least = false;
    /// What fails in general: a rule that all problems agree with, or what was seen of them.
    std::string rule, seen;
    std::optional<std::int64_t> problems_run;
    std::string values, witnesses;  ///< as in Shrunk
    Symptoms symptoms;
    ordered_json drawn;  ///< what the page draws, and nothing else reads
    std::string report;  ///< as it was printed

    bool operator==(const Failure&) const = default;

    static void fields(auto& self, auto& visit) {
        visit("case", self.printed_case);
        visit("problem", self.problem);
        visit.always("minimal", self.is_minimal);
        visit("minimality", self.minimality);
        visit("smaller_passed", self.smaller_passed);
        visit("smaller", self.smaller);
        visit("smaller_silent", self.smaller_silent);
        visit("smaller_draws", self.smaller_draws);
        visit("smaller_is_least", self.smaller_is_least);
        visit("rule", self.rule);
        visit("seen", self.seen);
        visit("problems_run", self.problems_run);
        visit("values", self.values);
        visit("witnesses", self.witnesses);
        Symptoms::fields(self.symptoms, visit);
        visit.rest(drawn_fields, self.drawn);
        visit("report", self.report);
    }

  private:
    static constexpr std::array drawn_fields{"parameters", "tensors", "two_calls", "worst", "maps",
                                             "source",     "found",   "data",      "given"};
};

// NOLINTNEXTLINE(bugprone-exception-escape): as above
struct RowRecord : RowName, RowFindings {
    std::string file;  ///< where the kernel is registered
    int line = 0;
    std::optional<Failure> failure;
    /// What a result file told of coverage and errors in place of its parts; null: they are above.
    ordered_json as_told;
    std::vector<std::string> conditions;  ///< of the kernel

    bool is_wrong() const {
        return !known && verdict != Verdict::passed && verdict != Verdict::skipped;
    }
    /// Whether it has passed few cases: ten, or those of `--at-least`, would be more.
    bool is_thin() const {
        return verdict == Verdict::passed && (thin_of > 0 || (cases < 10 && !exhaustive));
    }
    /// The smallest problem of its failure; empty without one.
    std::string failing_problem() const { return failure ? failure->problem : ""; }
};

/// `program` begins the line to paste.
RowRecord record_of(const RowResult& result, const std::string& program);
std::vector<RowRecord> records_of(const std::vector<RowResult>& results,
                                  const std::string& program);

}  // namespace gradverify
