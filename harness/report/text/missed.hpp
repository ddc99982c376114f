// SPDX-License-Identifier: Apache-2.0
// Decides what is said to be left open by a passed verdict: errors too small for the bound,
// problems that were not run, and problems that the kernel's declaration leaves out.
#pragma once

#include <string>
#include <vector>

#include "harness/report/files/record.hpp"

namespace gradverify {

/// A few lines for each kernel on a device that has a passed row; its problems are those of the
/// passed row that met the fewest pairs of levels.
std::string missed_lines(const std::vector<RowRecord>& records);

}  // namespace gradverify
