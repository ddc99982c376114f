// SPDX-License-Identifier: Apache-2.0
// Decides how a failure reads: kernel, property, problem, the worst element with got, want and
// bound, how much else is wrong and where, and the line to paste. Text only.
#pragma once

#include <string>

#include "harness/cases/case.hpp"
#include "harness/cases/outcome.hpp"
#include "harness/run/check.hpp"

namespace gradverify {

/// A failed row. `program` begins the line to paste.
std::string report_failure(const RowResult& result, const std::string& program = "gradverify");

/// One case, as `repro` tells it.
std::string report_case(const Case& checked, const Outcome& outcome);

/// The elements of a tensor, '#' where it is wrong, as boxes of rows and columns; at most three
/// slices. Empty when there is nothing to draw.
std::string draw_map(const WrongMap& map);

}  // namespace gradverify
