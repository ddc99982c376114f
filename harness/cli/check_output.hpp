// SPDX-License-Identifier: Apache-2.0
// Decides what `check` prints and writes as it goes and at its end.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/verbs.hpp"
#include "harness/report/files/json.hpp"
#include "harness/report/files/json_lines.hpp"
#include "harness/report/runs/baseline.hpp"
#include "harness/report/runs/corpus.hpp"
#include "harness/run/check_rows.hpp"

namespace gradverify {

/// Prints at once. A closed stdout does not end a run, which may have files to write.
void say(const std::string& text);

/// Columns for a table on stdout: the terminal's, or any number.
std::size_t table_width();

/// A line on the terminal that is written over; nothing where stderr is no terminal.
class ProgressLine {
  public:
    explicit ProgressLine(std::optional<double> limit) : limit_(limit) {}

    void show(std::int64_t done, std::int64_t most, std::int64_t failed);
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    bool is_shown_ = false;
    std::optional<double> limit_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point last_{};
};

class CheckOutput {
  public:
    /// Empties the files that are written at the end, and begins the others. `limit`: seconds.
    /// **Errors** EnvironmentError when a file can't be written, here and below.
    CheckOutput(const CheckArguments& arguments, RunRecord run, std::optional<double> limit,
                std::optional<Corpus> corpus);

    /// It must not outlive this.
    CheckObserver observer();
    /// `gone`: known failures that did not show, and what else is wrong with none of the rows.
    void end(const std::vector<std::string>& properties, const std::vector<RowRecord>& records,
             const std::vector<std::string>& gone, double seconds);

  private:
    void keep(const RowResult& result);
    std::string remarks_of(const std::vector<std::string>& gone) const;

    const CheckArguments& arguments_;
    RunRecord run_;
    ProgressLine progress_;
    std::optional<Corpus> corpus_;
    std::string corpus_wrong_;  ///< why a case could not be kept
    std::optional<JsonLines> json_;
};

/// The cases that have failed before: those of `--corpus`, or of the default folder where there is
/// one. **Errors** UsageError.
std::optional<Corpus> corpus_of(const Suite& suite, const CheckArguments& arguments);

}  // namespace gradverify
