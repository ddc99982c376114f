// SPDX-License-Identifier: Apache-2.0
// What `bench --json` writes and `bench --compare` reads: a run, a line for each kernel, a summary.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/base/checked_json.hpp"
#include "harness/bench/bench.hpp"

namespace gradverify {

/// How many kernels are in each state.
using BenchCounts = std::map<BenchResult::State, int>;

ordered_json json_of_run(const BenchRun& run);
ordered_json json_of_result(const BenchResult& result, const BenchRun& run);
ordered_json json_of_summary(BenchCounts counts, double seconds);

struct BenchRecord {
    std::string kernel, problem, device, data;
    bool graph = false, verified = false;
    std::vector<double> samples;

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
