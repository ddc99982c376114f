// SPDX-License-Identifier: Apache-2.0
// Decides what is said to be left open by a passed verdict: errors too small for the bound,
// problems that were not run, and problems that the kernel's declaration leaves out.
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
    double least_ulps = 0.0;   ///< of the tightest element of all
    double median_ulps = 0.0;  ///< of the median element of the median case
};

/// Nothing without a case.
std::optional<SensitivityOfCases> summarize(std::span<const Sensitivity> cases);

/// A few lines for each kernel on a device that has a passed row; its problems are those of the
/// passed row that met the fewest pairs of levels.
std::string missed_lines(const std::vector<RowResult>& results);

}  // namespace gradverify
