// SPDX-License-Identifier: Apache-2.0
// Decides what `--json` writes: a run, a verdict for each row when it stands, a summary.
#pragma once

#include <string>
#include <vector>

#include "harness/report/json_lines.hpp"
#include "harness/run/check.hpp"

namespace gradverify {

class JsonResults {
  public:
    /// **Errors** EnvironmentError when the file can't be written.
    JsonResults(const std::string& path, std::uint64_t seed,
                const std::vector<std::string>& devices);
    void add(const RowResult& result);
    void finish(const std::vector<RowResult>& results, double seconds);

  private:
    JsonLines lines_;
};

}  // namespace gradverify
