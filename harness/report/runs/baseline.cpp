// SPDX-License-Identifier: Apache-2.0
#include "harness/report/runs/baseline.hpp"

#include <fmt/format.h>

#include <fstream>

#include "harness/base/checked_json.hpp"
#include "harness/base/errors.hpp"

namespace gradverify {

Baseline Baseline::read(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw UsageError("--baseline: can't read " + path);
    Baseline baseline;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        try {
            const ordered_json object = parse_json(line);
            if (object.at("kind") != "verdict") continue;
            const std::string verdict = object.at("verdict");
            if (verdict == "passed" || verdict == "skipped") continue;
            const bool certified = object.value("minimal", false);
            baseline.known_[{object.at("kernel"), object.at("property"), object.at("device")}] = {
                verdict, certified ? object.value("problem", "") : ""};
        } catch (const std::exception&) {
            throw UsageError(
                fmt::format("--baseline: line {} of {} is not a line that `check --json` writes",
                            number, path));
        }
    }
    return baseline;
}

bool Baseline::knows(const RowRecord& record) const {
    const auto found = known_.find(record);
    if (found == known_.end() || found->second.verdict != name_of(record.verdict)) return false;
    const std::string& problem = found->second.problem;
    const auto& failure = record.failure;
    return problem.empty() || !failure || !failure->minimal() || failure->problem == problem;
}

std::vector<std::string> Baseline::gone(const std::vector<RowRecord>& records) const {
    std::vector<std::string> sentences;
    for (const RowRecord& record : records) {
        const auto found = known_.find(record);
        if (found == known_.end() || record.verdict == Verdict::skipped || knows(record)) continue;
        const Known& known = found->second;
        if (record.verdict == Verdict::passed)
            sentences.push_back(fmt::format("no longer {}: {}; take its line out of the baseline",
                                            known.verdict, record.name()));
        else if (known.verdict != name_of(record.verdict))
            sentences.push_back(
                fmt::format("not the known failure: {} was {}", record.name(), known.verdict));
        else
            sentences.push_back(fmt::format("not the known failure: {} failed from {} on",
                                            record.name(), known.problem));
    }
    return sentences;
}

}  // namespace gradverify
