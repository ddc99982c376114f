// SPDX-License-Identifier: Apache-2.0
// Decides which rows `check --last-failed` means: those that were wrong when they last ran in this
// folder. They are kept in the user's cache.
#pragma once

#include <vector>

#include "harness/report/files/record.hpp"

namespace gradverify {

/// Those of the rows that were wrong. **Errors** UsageError where none was.
std::vector<Row> last_failed(std::vector<Row> rows);
/// Remembers which of them are wrong now; what can't be kept is not.
void keep_failed(const std::vector<RowRecord>& records);

}  // namespace gradverify
