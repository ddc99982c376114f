// SPDX-License-Identifier: Apache-2.0
// Decides how a whole run reads: a table for each device, how close errors came to their bounds,
// notes on rows and kernels, and the counts.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "harness/run/check.hpp"

namespace gradverify {

struct Counts {
    std::array<std::int64_t, 5> rows{};  ///< by verdict
    std::int64_t known = 0;              ///< rows that did not pass, as the user knew
    std::int64_t cases = 0;

    std::int64_t of(Verdict verdict) const { return rows[static_cast<std::size_t>(verdict)]; }
};

/// `conv.forward/naive, repeatable on cpu`
std::string print_row(const Row& row);

Counts count(const std::vector<RowResult>& results);

/// Kernels without a row that passed, or is known not to, on any device.
std::vector<std::string> not_verified(const std::vector<RowResult>& results);

/// Whether every kernel is verified, and all rows that failed, were vacuous or errored are known.
bool all_well(const std::vector<RowResult>& results);

/// The end of `check`'s output. `absent` says which kernels were not run, and why.
std::string summarize(const Suite& suite, const std::vector<RowResult>& results,
                      const std::vector<std::string>& absent, double seconds);

/// The value that a share of the sorted values does not exceed; 0 for none.
double quantile(std::vector<double> values, double share);

}  // namespace gradverify
