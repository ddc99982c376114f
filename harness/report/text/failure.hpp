// SPDX-License-Identifier: Apache-2.0
// Decides how a failure reads: kernel, property, problem, the worst elements, a map of all that is
// wrong, and the line to paste.
#pragma once

#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/cases/outcome.hpp"
#include "harness/report/files/record.hpp"

namespace gradverify {

/// A bug: rows of a kernel on a device that failed at one smallest problem, the first in full.
/// `program` begins the line to paste.
std::string report_bug(const std::vector<const RowResult*>& rows, const std::string& program);
/// The command that a report ends with; empty without one.
std::string command_to_replay(const std::string& report);
/// A failure as it was found, in one line: it is yet to be shrunk and reported.
std::string report_seen(const Case& found);
/// More rows that failed at the problem of a bug that was reported.
std::string report_more(const std::vector<const RowResult*>& rows);
/// A passed row's worst imprecise case: an element that another formula than the operator's may
/// give, and how to make it a failure.
std::string report_imprecise(const RowRecord& record, const std::string& program = "gradverify");

/// One case, as `repro` tells it.
std::string report_case(const Case& checked, const Outcome& outcome);

/// The elements of a tensor, '#' where it is wrong, as boxes of rows and columns; at most three
/// slices. Empty when there is nothing to draw.
std::string draw_map(const WrongMap& map);

}  // namespace gradverify
