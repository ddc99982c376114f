// SPDX-License-Identifier: Apache-2.0
// Decides the verdict of a row that neither a failure nor an error has ended.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "harness/run/check.hpp"

namespace gradverify {

/// Sets verdict and message. `skips`: how many cases were skipped, by reason.
void decide_verdict(RowResult& result, const std::map<std::string, std::int64_t>& skips);

}  // namespace gradverify
