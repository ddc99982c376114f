// SPDX-License-Identifier: Apache-2.0
// Runs workers under NVIDIA's compute-sanitizer, and charges a finding to the case whose run wrote
// it into the worker's log. A worker starts as usual and becomes compute-sanitizer by exec, which
// starts the worker proper, on the same pipes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/suite.hpp"

namespace gradverify {

struct SanitizerFinding {
    std::string text;             ///< its first lines, joined; empty: there is none
    bool is_of_the_tool = false;  ///< as when the tool does not support the GPU
};
/// The first in some lines of a log.
SanitizerFinding first_finding(std::string_view lines);

/// What `--compute-sanitizer` accepts.
inline const std::vector<std::string> sanitizer_tools{"memcheck", "racecheck", "initcheck",
                                                      "synccheck"};

/// The driver's side: a folder for the logs, for as long as the workers run.
class SanitizerRun {
  public:
    /// **Errors** EnvironmentError when compute-sanitizer is neither on PATH nor in
    /// /usr/local/cuda/bin.
    explicit SanitizerRun(std::string tool);
    ~SanitizerRun();
    SanitizerRun(const SanitizerRun&) = delete;
    SanitizerRun& operator=(const SanitizerRun&) = delete;

    /// A worker's command, such that it runs under the tool.
    std::vector<std::string> watched(std::vector<std::string> worker_command) const;
    /// The first finding that was written after its worker's last answer, and is charged to no
    /// case; "" without one. To be asked once the workers have ended.
    std::string late_finding() const;

  private:
    std::string tool_, program_, folder_;
};

/// The worker's side: what `watched` adds to its command line.
struct SanitizerOptions {
    std::string tool, program, folder;  ///< empty where no tool watches
};

/// Replaces this process by compute-sanitizer, which runs it again; returns there.
/// **Errors** EnvironmentError when it can't.
void enter_compute_sanitizer(const SanitizerOptions& options, char** argv);

/// Serves cases as another does, but one during which the tool found something has failed.
class WatchedServer final : public CaseServer {
  public:
    /// **Ranges** the other must outlive this.
    WatchedServer(const CaseServer& server, const SanitizerOptions& options);

    Outcome run(std::string_view printed_case) const override;
    Outcome measure(const MeasureRequest& request) const override {
        return server_.measure(request);
    }

  private:
    SanitizerFinding next_finding() const;

    const CaseServer& server_;
    std::string tool_, log_;
    mutable std::uintmax_t charged_ = 0;  ///< bytes of the log
};

}  // namespace gradverify
