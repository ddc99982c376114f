// SPDX-License-Identifier: Apache-2.0
// Decides what the lines of `--json` hold: a run, a verdict for each row when it stands, how far
// others are, a summary; and reads them again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/checked_json.hpp"
#include "harness/base/version.hpp"
#include "harness/report/files/record.hpp"

namespace gradverify {

struct RunRecord {
    std::string version{gradverify::version};
    std::uint64_t seed = 0;
    std::vector<std::string> devices;
    std::string program;  ///< begins a line to paste
    Shard shard{};
    std::string how{};                  ///< `1000 cases, strict`: what shards must have in common
    bool is_merged = false;             ///< by `report`, which has no use for it any more
    std::vector<RowName> rows{};        ///< that it is to give a verdict of
    std::vector<std::string> absent{};  ///< kernels that it does not run, a sentence each
};

ordered_json json_of_run(const RunRecord& run);
/// `has_parts`: with all that it takes to add the verdicts of other shards to this one.
ordered_json json_of_verdict(RowRecord record, bool has_parts = false);
/// A failure as it was found, yet to be shrunk.
ordered_json json_of_seen(const Case& found, const Outcome& outcome);
/// How far a row is that goes on.
ordered_json json_of_progress(const RowResult& result);
/// `remarks`: sentences on what is wrong with the run, and with none of its rows.
ordered_json json_of_summary(const std::vector<RowRecord>& records, double seconds,
                             bool was_interrupted, const std::vector<std::string>& remarks = {});

/// **Errors** ordered_json::exception or std::invalid_argument where the line is not as above.
RunRecord run_from(const ordered_json& line);
/// Without coverage, errors and sensitivity where the line has no parts.
RowRecord record_from(const ordered_json& line);

}  // namespace gradverify
