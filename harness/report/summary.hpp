// SPDX-License-Identifier: Apache-2.0
// Decides how a whole run reads: a table of kernels and properties for each device, why rows were
// skipped, which kernels are not verified, how close errors came to their bounds, and the counts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/run/check.hpp"

namespace gradverify {

struct Counts {
    std::map<Verdict, std::int64_t> rows;
    std::int64_t known = 0;  ///< rows that did not pass, as the user knew
    std::int64_t cases = 0;

    std::int64_t of(Verdict verdict) const {
        const auto found = rows.find(verdict);
        return found == rows.end() ? 0 : found->second;
    }
};

/// `conv.forward/naive, repeatable on cpu`
std::string print_row(const Row& row);

Counts count(const std::vector<RowResult>& results);

/// Kernels without a row that passed on some device, or that is known not to.
std::vector<std::string> not_verified(const std::vector<RowResult>& results);

/// Whether nothing failed, was vacuous or errored but what is known to, and each kernel is
/// verified.
bool all_well(const std::vector<RowResult>& results);

/// The end of `check`'s output. `absent` says which kernels were not run and why: they are for
/// a device that was not selected, or need what is not there.
std::string summarize(const Suite& suite, const std::vector<RowResult>& results,
                      const std::vector<std::string>& absent, double seconds);

/// The value that a share of the sorted values does not exceed; 0 for none.
double quantile(std::vector<double> values, double share);

}  // namespace gradverify
