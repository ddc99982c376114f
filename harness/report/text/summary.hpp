// SPDX-License-Identifier: Apache-2.0
// Decides how a whole run reads: a table for each device, of one kernel what its passed rows leave
// open, caveats, and at last what is wrong, by name, and the counts.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "harness/report/files/record.hpp"

namespace gradverify {

struct Counts {
    std::array<std::int64_t, 5> rows{};  ///< by verdict
    std::int64_t known = 0;              ///< rows that did not pass, as the user knew
    std::int64_t cases = 0;

    std::int64_t of(Verdict verdict) const { return rows[static_cast<std::size_t>(verdict)]; }
};

Counts count(const std::vector<RowRecord>& records);

/// Kernels without a row that passed, or is known not to, on any device.
std::vector<std::string> not_verified(const std::vector<RowRecord>& records);

/// Whether every kernel is verified, and all rows that failed, were vacuous or errored are known.
bool all_well(const std::vector<RowRecord>& records);

struct SummaryOptions {
    bool is_verbose = false;  ///< of many kernels, too, all
    bool is_quiet = false;    ///< what is wrong, and the counts
    std::size_t table_width = std::numeric_limits<std::size_t>::max();  ///< columns
    std::string remarks{};                                              ///< of no one row
};

/// The end of `check`'s output. `properties`: columns, in this order; `absent`: why kernels were
/// not run.
std::string summarize(const std::vector<std::string>& properties,
                      const std::vector<RowRecord>& records, const std::vector<std::string>& absent,
                      double seconds, const SummaryOptions& options = {});

/// The same of a run that a signal has ended, in one sentence behind the rows that are wrong.
std::string summarize_interrupted(const std::vector<RowRecord>& records, double seconds,
                                  std::uint64_t seed);

}  // namespace gradverify
