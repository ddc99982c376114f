// SPDX-License-Identifier: Apache-2.0
// Decides what a passed verdict is told to have left open: errors too small for the bound, problems
// that were not run, and those that the kernel's declaration leaves out.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/run/check.hpp"

namespace gradverify {

/// How small an error the cases of a row show, in ulps.
struct SensitivityOfCases {
    std::int64_t cases = 0;
    double least_ulps = 0.0;   ///< in the tightest element of all
    double median_ulps = 0.0;  ///< over the cases, of each one's median element
};

/// Nothing for no case.
std::optional<SensitivityOfCases> summarize(std::span<const Sensitivity> cases);

/// A few lines for each kernel on a device that has a passed row. The passed row that met the
/// fewest pairs of values speaks for the problems.
std::string missed_lines(const std::vector<RowResult>& results);

}  // namespace gradverify
