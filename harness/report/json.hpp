// SPDX-License-Identifier: Apache-2.0
// Decides what the lines of `--json` hold: a run, a verdict for each row when it stands, how far
// others are, a summary.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/run/check.hpp"

namespace gradverify {

nlohmann::ordered_json json_of_run(std::uint64_t seed, const std::vector<std::string>& devices);
nlohmann::ordered_json json_of_verdict(const RowResult& result);
/// A failure as it was found, yet to be shrunk.
nlohmann::ordered_json json_of_seen(const Case& found, const Outcome& outcome);
/// How far a row is that goes on.
nlohmann::ordered_json json_of_progress(const RowResult& result);
nlohmann::ordered_json json_of_summary(const std::vector<RowResult>& results, double seconds);

}  // namespace gradverify
