// SPDX-License-Identifier: Apache-2.0
// Decides how what adds up, of the verdicts of a row's shards, lies in a result file: the problems
// that were met, and the distributions.
#pragma once

#include "harness/base/checked_json.hpp"
#include "harness/report/files/record.hpp"

namespace gradverify {

ordered_json json_of_parts(const RowRecord& record);
/// **Errors** ordered_json::exception or std::invalid_argument.
void take_parts(RowRecord& record, const ordered_json& parts);

}  // namespace gradverify
