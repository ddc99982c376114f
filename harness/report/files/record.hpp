// SPDX-License-Identifier: Apache-2.0
// Decides what a row's result is once nobody needs the registry any more: all that reports, result
// files and later runs tell of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/checked_json.hpp"
#include "harness/run/result.hpp"

namespace gradverify {

/// Passed cases with elements that only another formula than the operator's explains.
struct ImpreciseRecord {
    std::int64_t cases = 0;
    std::string printed_case;  ///< the worst one, as it fails
    WrongElement worst;
    double largest = 0.0;  ///< magnitude in the tensor
};

struct RowRecord {
    std::string kernel, property, device;
    std::string file;  ///< where the kernel is registered
    int line = 0;
    Verdict verdict = Verdict::skipped;
    std::string message;
    bool known = false;
    std::int64_t cases = 0, passed = 0, refused = 0;
    std::int64_t cut_of = 0;                    ///< the cases it was to run, where time ran out
    bool cut_short = false;                     ///< by time or a signal, before all its cases
    std::int64_t thin_of = 0;                   ///< passed fewer than these, which it was due
    std::map<std::string, std::int64_t> skips;  ///< cases by reason
    double seconds = 0.0;
    std::optional<std::int64_t> found_at{};  ///< index of the case that failed or errored
    /// What a verdict line says of a failure's smallest case; null without one.
    ordered_json failure{};
    std::optional<ExhaustiveCover> exhaustive{};
    std::optional<ImpreciseRecord> imprecise{};
    std::optional<Uncompared> uncompared{};
    std::optional<WrappingCases> wrapping{};
    std::string contiguous_alone;
    Distribution error_over_bound{}, multiply_adds{};
    SensitivityOfCases sensitivity{};
    Coverage coverage{};
    std::shared_ptr<const PairsByRank> within_reach{};
    /// What a result file said of coverage and errors, where it told no parts; null: they are
    /// above.
    ordered_json as_told{};
    std::vector<std::string> conditions;      ///< of the kernel
    std::vector<std::string> left_out;        ///< problems of the user's, each with the reason
    std::vector<std::string> not_compared{};  ///< problems of the user's

    /// `conv.forward/naive, repeatable on cpu`
    std::string name() const { return kernel + ", " + property + " on " + device; }
    std::string kernel_on_device() const { return kernel + " on " + device; }
    /// A text that the failure has, or nothing.
    std::string of_failure(const char* field) const {
        return failure.is_object() ? failure.value(field, "") : "";
    }
};

/// `program` begins the line to paste.
RowRecord record_of(const RowResult& result, const std::string& program);
std::vector<RowRecord> records_of(const std::vector<RowResult>& results,
                                  const std::string& program);

}  // namespace gradverify
