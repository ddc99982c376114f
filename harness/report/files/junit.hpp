// SPDX-License-Identifier: Apache-2.0
// Decides what `--junit` writes, in the XML that CI systems read: a test case for each row.
#pragma once

#include <string>
#include <vector>

#include "harness/report/files/record.hpp"

namespace gradverify {

std::string junit_xml(const std::vector<RowRecord>& records, double seconds);

}  // namespace gradverify
