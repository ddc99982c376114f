// SPDX-License-Identifier: Apache-2.0
// What `bench --json` writes and `bench --compare` reads: a run, a line for each kernel, a summary.
#pragma once

#include <string>
#include <vector>

#include "harness/bench/bench.hpp"
#include "harness/report/json_lines.hpp"

namespace gradverify {

/// How many kernels are in each state.
struct BenchCounts {
    int timed = 0, failed = 0, not_timed = 0;
};

class BenchJson {
  public:
    /// **Errors** EnvironmentError when the file can't be written.
    explicit BenchJson(const std::string& path) : lines_(path) {}
    void begin(const BenchRun& run);
    void add(const BenchResult& result, const BenchRun& run);
    void finish(const BenchCounts& counts, double seconds);

  private:
    JsonLines lines_;
};

/// A kernel that was timed.
struct BenchRecord {
    std::string kernel, problem, device, data;
    bool graph = false, verified = false;
    std::vector<double> samples;

    /// What makes two records comparable.
    bool is_like(const BenchRecord& other) const {
        return kernel == other.kernel && problem == other.problem && device == other.device &&
               data == other.data && graph == other.graph;
    }
};

struct BenchFile {
    std::string device_name;
    std::vector<BenchRecord> records;
};

/// **Errors** UsageError when the file can't be read, or a line is none that `bench --json` writes.
BenchFile read_bench(const std::string& path);

}  // namespace gradverify
