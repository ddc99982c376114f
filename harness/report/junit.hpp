// SPDX-License-Identifier: Apache-2.0
// Decides what `--junit` writes, in the XML that CI systems read: a test case for each row.
#pragma once

#include <string>
#include <vector>

#include "harness/run/check.hpp"

namespace gradverify {

std::string junit_xml(const std::vector<RowResult>& results, double seconds,
                      const std::string& program = "gradverify");

/// Writes a document; before the run "", so that a killed run leaves none that reads as passed.
/// **Errors** EnvironmentError when the file can't be written.
void write_junit(const std::string& path, const std::string& xml);

}  // namespace gradverify
