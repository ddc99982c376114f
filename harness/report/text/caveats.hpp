// SPDX-License-Identifier: Apache-2.0
// Decides which remarks on rows and kernels stand between a run's table and its counts: skipped,
// known, refused, imprecise, not compared, out of time, with few cases, overflowing, only for
// contiguous cotangents, not run.
#pragma once

#include <string>
#include <vector>

#include "harness/report/files/record.hpp"

namespace gradverify {

/// `absent`: why kernels were not run.
std::string caveats(const std::vector<RowRecord>& records, const std::vector<std::string>& absent);

/// Skipped for want of time, or since a signal came first.
bool got_no_case(const RowRecord& record);

}  // namespace gradverify
