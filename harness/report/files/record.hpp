// SPDX-License-Identifier: Apache-2.0
// Decides what is told of a row of this run, as a record that needs no registry.
#pragma once

#include <string>
#include <vector>

#include "harness/run/result.hpp"

namespace gradverify {

/// `program` begins the line to paste.
RowRecord record_of(const RowResult& result, const std::string& program);
std::vector<RowRecord> records_of(const std::vector<RowResult>& results,
                                  const std::string& program);

}  // namespace gradverify
