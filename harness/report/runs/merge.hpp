// SPDX-License-Identifier: Apache-2.0
// Decides what several result files of `check --json` come to together: those of shards, devices
// and machines; and what one run differs in from an earlier one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/checked_json.hpp"
#include "harness/report/files/json.hpp"

namespace gradverify {

/// A result file as it lies on disk, perhaps cut off.
struct ResultFile {
    std::string path;
    RunRecord run;
    std::map<RowName, RowRecord> verdicts;
    std::map<RowName, std::int64_t> progress;  ///< cases of rows without a verdict
    std::map<RowName, std::string> seen;       ///< failing cases of such rows
    std::vector<std::string> remarks;          ///< on what is wrong with the run
    bool has_ended = false;                    ///< there is a summary
    bool was_interrupted = false;
    double seconds = 0.0;

    /// A last line that was cut off, as by a kill, is left out.
    /// **Errors** UsageError that names the file and the line.
    static ResultFile read(const std::string& path);
};

struct Note {
    enum class Tone { plain, bad, good };
    std::string text;
    Tone tone = Tone::plain;
};

struct MergedResults {
    std::vector<RunRecord> runs;
    std::vector<RowRecord> records;  ///< by kernel, property and device
    std::vector<std::string> absent;
    std::vector<Note> missing;  ///< what the files do not tell, though a run was to
    double seconds = 0.0;       ///< of the longest run
};

/// **Errors** UsageError for files that do not belong together.
MergedResults merge(const std::vector<ResultFile>& files);

/// What differs from an earlier result: new failures, and rows that cover less or are gone.
std::vector<Note> compare(const MergedResults& before, const MergedResults& after);

/// The lines of a result file that says the same, for the HTML report.
std::vector<ordered_json> lines_of(const MergedResults& merged, const std::vector<Note>& notes);

}  // namespace gradverify
