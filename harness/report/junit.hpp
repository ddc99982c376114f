// SPDX-License-Identifier: Apache-2.0
// Decides what `--junit` writes: a test case for each row, named after kernel, property and
// device, in the XML that CI systems read.
#pragma once

#include <string>
#include <vector>

#include "harness/run/check.hpp"

namespace gradverify {

/// The whole document.
std::string junit_xml(const std::vector<RowResult>& results, double seconds,
                      const std::string& program = "gradverify");

/// Empties the file, so that a killed run leaves none that a CI system would read as passed.
///
/// **Errors** EnvironmentError when the file can't be written.
void open_junit(const std::string& path);
/// **Errors** as above.
void write_junit(const std::string& path, const std::vector<RowResult>& results, double seconds,
                 const std::string& program = "gradverify");

}  // namespace gradverify
