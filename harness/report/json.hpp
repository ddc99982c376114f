// SPDX-License-Identifier: Apache-2.0
// Decides what `--json` writes: one object a line, a run, a verdict for each row, a summary. A
// line is flushed when its verdict stands, so that a killed run keeps what it had.
#pragma once

#include <fstream>
#include <string>
#include <vector>

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
    void write(const std::string& line);

    std::string path_;
    std::ofstream file_;
};

}  // namespace gradverify
