// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/result_files.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/report/files/ci.hpp"
#include "harness/report/files/html.hpp"
#include "harness/report/files/junit.hpp"

namespace gradverify {

namespace {

bool is_in_github_actions() {
    const char* const set = std::getenv("GITHUB_ACTIONS");
    return set && std::string_view(set) == "true";
}

}  // namespace

void require_different_files(const std::vector<std::string>& paths) {
    std::set<std::filesystem::path> seen;
    for (const std::string& path : paths)
        if (!path.empty() && path != "/dev/null" &&
            !seen.insert(std::filesystem::weakly_canonical(path)).second)
            throw UsageError(path + " is given twice; each file needs a name of its own");
}

void begin_results(const ResultOptions& options) {
    for (const std::string& path : {options.junit, options.html, options.sarif})
        if (!path.empty()) write_file(path, "");
}

void write_results(const ResultOptions& options, const std::vector<RowRecord>& records,
                   const std::vector<ordered_json>& lines, double seconds) {
    if (!options.junit.empty()) write_file(options.junit, junit_xml(records, seconds));
    if (!options.sarif.empty())
        write_file(
            options.sarif,
            sarif_of(records).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
    if (!options.html.empty()) write_file(options.html, html_of(lines));
    if (options.github.value_or(is_in_github_actions()))
        fmt::print("{}", github_annotations(records));
}

}  // namespace gradverify
