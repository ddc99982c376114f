// SPDX-License-Identifier: Apache-2.0
#include "harness/report/files/ci.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/text.hpp"
#include "harness/base/version.hpp"

namespace gradverify {

namespace {

/// GitHub and SARIF want paths from the repository's root, where a run usually begins.
SourceLine place_of(const RowRecord& record) {
    SourceLine place =
        source_line_in(record.message).value_or(SourceLine{record.file, std::max(record.line, 1)});
    place.file = with_relative_paths(place.file);
    return place;
}

std::string message_of(const RowRecord& record) {
    std::string text = fmt::format("{} on {}, {}: {}", record.kernel, record.device,
                                   record.property, record.message);
    if (!record.failure) return text;
    if (!record.failure->problem.empty()) text += "; smallest problem " + record.failure->problem;
    if (const std::string& more = record.failure->generality.text; !more.empty())
        text += "; " + more;
    return text;
}

std::string replay_of(const RowRecord& record) {
    const bool has_case = record.failure && !record.failure->printed_case.empty();
    return has_case ? "repro " + shell_quoted(record.failure->printed_case) : "";
}

/// As GitHub's runner wants it; a property's value has more characters that mean something.
std::string escaped(const std::string& text, bool is_property = false) {
    std::string safe;
    for (const char c : text) {
        const bool is_special =
            c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
        if (is_special)
            safe += fmt::format("%{:02X}", static_cast<unsigned>(c));
        else
            safe += c;
    }
    return safe;
}

ordered_json result_of(const RowRecord& record) {
    const SourceLine place = place_of(record);
    ordered_json result{
        {"ruleId", record.property},
        {"level", "error"},
        {"message", {{"text", message_of(record) + "\n" + replay_of(record)}}},
        {"partialFingerprints",
         {{"row/v1", record.kernel + " " + record.property + " " + record.device}}}};
    if (!place.file.empty())
        result["locations"].push_back({{"physicalLocation",
                                        {{"artifactLocation", {{"uri", place.file}}},
                                         {"region", {{"startLine", place.line}}}}}});
    return result;
}

}  // namespace

std::string github_annotations(const std::vector<RowRecord>& records) {
    std::string lines;
    std::set<std::pair<std::string, std::string>> told;  // kernels and problems
    for (const RowRecord& record : records) {
        if (!record.is_wrong()) continue;
        const std::string problem = record.failing_problem();
        if (!problem.empty() && !told.insert({record.kernel_on_device(), problem}).second) continue;
        const SourceLine place = place_of(record);
        const std::string replay = replay_of(record);
        lines += fmt::format(
            "::error file={},line={},title={}::{}\n", escaped(place.file, true), place.line,
            escaped(fmt::format("{}: {}", record.kernel, name_of(record.verdict)), true),
            escaped(message_of(record) + (replay.empty() ? "" : "\n" + replay)));
    }
    return lines;
}

ordered_json sarif_of(const std::vector<RowRecord>& records) {
    std::set<std::string> properties;
    ordered_json results = ordered_json::array(), rules = ordered_json::array();
    for (const RowRecord& record : records) {
        if (!record.is_wrong()) continue;
        properties.insert(record.property);
        results.push_back(result_of(record));
    }
    for (const std::string& property : properties) rules.push_back({{"id", property}});
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs",
             {{{"tool",
                {{"driver",
                  {{"name", "gradverify"}, {"version", version}, {"rules", std::move(rules)}}}}},
               {"results", std::move(results)}}}}};
}

}  // namespace gradverify
