// SPDX-License-Identifier: Apache-2.0
// Decides how a whole run reads: a table of kernels and properties for each device, why rows were
// skipped, which kernels are not verified, how close errors came to their bounds, and the counts.
#pragma once

#include <string>
#include <vector>

#include "harness/run/check.hpp"

namespace gradverify {

struct Counts {
    std::int64_t passed = 0, failed = 0, vacuous = 0, skipped = 0, errored = 0;
    std::int64_t known = 0;  ///< of those that did not pass
    std::int64_t cases = 0;
};

Counts count(const std::vector<RowResult>& results);

/// Kernels of which no row passed on any device, and none is known not to.
std::vector<std::string> not_verified(const std::vector<RowResult>& results);

/// Whether everything selected passed: nothing failed, was vacuous or errored that is not known
/// to, and every kernel is verified.
bool all_well(const std::vector<RowResult>& results);

/// The end of `check`'s output. `absent` says which kernels were not run and why: they are for
/// a device that was not selected, or need what is not there.
std::string summarize(const Suite& suite, const std::vector<RowResult>& results,
                      const std::vector<std::string>& absent, double seconds);

/// The value that a share of the sorted values does not exceed; 0 for none.
double quantile(std::vector<double> values, double share);

}  // namespace gradverify
