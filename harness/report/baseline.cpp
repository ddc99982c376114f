// SPDX-License-Identifier: Apache-2.0
#include "harness/report/baseline.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/base/errors.hpp"
#include "harness/report/summary.hpp"

namespace gradverify {

using nlohmann::json;

Baseline::Key Baseline::key_of(const RowResult& result) {
    return {result.row.kernel->name, result.row.property_name(), result.row.device};
}

Baseline Baseline::read(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw UsageError("--baseline: can't read " + path);
    Baseline baseline;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        try {
            const json object = json::parse(line);
            if (object.at("kind") != "verdict") continue;
            const std::string verdict = object.at("verdict");
            if (verdict == "passed" || verdict == "skipped") continue;
            const bool certified = object.value("minimal", false);
            baseline.known_[{object.at("kernel"), object.at("property"), object.at("device")}] = {
                verdict, certified ? object.value("problem", "") : ""};
        } catch (const json::exception&) {
            throw UsageError(
                fmt::format("--baseline: line {} of {} is not a line that `check --json` writes",
                            number, path));
        }
    }
    return baseline;
}

bool Baseline::knows(const RowResult& result) const {
    const auto found = known_.find(key_of(result));
    if (found == known_.end() || found->second.verdict != name_of(result.verdict)) return false;
    const std::string& problem = found->second.problem;
    return problem.empty() || !result.failure || !result.failure->minimal() ||
           result.failure->smallest.problem.print() == problem;
}

std::vector<std::string> Baseline::gone(const std::vector<RowResult>& results) const {
    std::vector<std::string> sentences;
    for (const RowResult& result : results) {
        const auto found = known_.find(key_of(result));
        if (found == known_.end() || result.verdict == Verdict::skipped || knows(result)) continue;
        const std::string row = print_row(result.row);
        const Known& known = found->second;
        if (result.verdict == Verdict::passed)
            sentences.push_back(fmt::format("no longer {}: {}; take its line out of the baseline",
                                            known.verdict, row));
        else if (known.verdict != name_of(result.verdict))
            sentences.push_back(
                fmt::format("not the known failure: {} was {}", row, known.verdict));
        else
            sentences.push_back(
                fmt::format("not the known failure: {} failed from {} on", row, known.problem));
    }
    return sentences;
}

}  // namespace gradverify
