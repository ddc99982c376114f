// SPDX-License-Identifier: Apache-2.0
// Writes results where options say, but for the JSON lines, which are written as verdicts stand.
#pragma once

#include <vector>

#include "harness/base/checked_json.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/report/files/record.hpp"

namespace gradverify {

/// **Errors** UsageError where two of these files are one; empty names are none.
void require_different_files(const std::vector<std::string>& paths);

/// Empties the files: a run that is killed leaves none that reads as passed.
/// **Errors** EnvironmentError when a file can't be written, here and below.
void begin_results(const ResultOptions& options);
/// `lines`: the page's.
void write_results(const ResultOptions& options, const std::vector<RowRecord>& records,
                   const std::vector<ordered_json>& lines, double seconds);

}  // namespace gradverify
