// SPDX-License-Identifier: Apache-2.0
// Decides how failures are told to what shows them beside the source: by GitHub or by SARIF.
#pragma once

#include <string>
#include <vector>

#include "harness/base/checked_json.hpp"
#include "harness/report/files/record.hpp"

namespace gradverify {

/// `::error file=...,line=...,title=...::...`, a line for each row that is wrong, or one for those
/// of a kernel that fail at one problem: GitHub shows ten in all. At the first source line that the
/// failure names, else where the kernel is registered.
std::string github_annotations(const std::vector<RowRecord>& records);

/// A document of SARIF 2.1.0.
ordered_json sarif_of(const std::vector<RowRecord>& records);

}  // namespace gradverify
