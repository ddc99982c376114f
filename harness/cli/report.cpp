// SPDX-License-Identifier: Apache-2.0
// The verb `report`: result files of one or many runs as one verdict, and as a page.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/base/text.hpp"
#include "harness/cli/check_output.hpp"
#include "harness/cli/result_files.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/report/files/html.hpp"
#include "harness/report/files/json_lines.hpp"
#include "harness/report/runs/merge.hpp"
#include "harness/report/text/summary.hpp"

namespace gradverify {

namespace {

MergedResults read_all(const std::vector<std::string>& paths) {
    std::vector<ResultFile> files;
    files.reserve(paths.size());
    for (const std::string& path : paths) files.push_back(ResultFile::read(path));
    return merge(files);
}

bool is_bench(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    const auto first = ordered_json::parse(line, nullptr, false);
    return first.is_object() && first.contains("device_name");
}

/// Lines of `bench --json`, which are shown as they are.
void add_bench(const std::string& path, std::vector<ordered_json>& lines) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) try {
            ordered_json read = parse_json(line);
            if (read.is_object() && read.contains("kind") && read["kind"] != "summary")
                lines.push_back(std::move(read));
        } catch (const std::exception&) {
            // The last line may be cut off.
        }
}

/// One report for the rows of a kernel that fail at one problem, and a line for each of the others.
void print_failures(const std::vector<RowRecord>& records) {
    std::set<std::pair<std::string, std::string>> told;  // kernels and problems
    for (const RowRecord& record : records) {
        if (!record.failure || record.failure->report.empty() || record.known) continue;
        const std::string& problem = record.failure->problem;
        if (told.insert({record.kernel_on_device(), problem}).second)
            say("\n" + record.failure->report);
        else
            say(wrapped(fmt::format("  also       {} of {}, at {}: {}", record.property,
                                    record.kernel_on_device(), problem, record.message),
                        13) +
                "\n");
    }
}

void say_notes(const std::vector<Note>& notes) {
    for (const Note& note : notes) say(wrapped(note.text, 2) + "\n");
}

bool is_whole(const MergedResults& merged) {
    return !merged.records.empty() && std::ranges::none_of(merged.missing, [](const Note& note) {
        return note.tone == Note::Tone::bad;
    });
}

}  // namespace

int run_report(const Suite& suite, const ReportArguments& arguments) {
    std::vector<std::string> results, benches;
    for (const std::string& path : arguments.files)
        (is_bench(path) ? benches : results).push_back(path);
    const ResultOptions& to = arguments.results;
    if (results.empty() &&
        (to.html.empty() || !to.json.empty() || !to.junit.empty() || !to.sarif.empty()))
        throw UsageError("files of `bench --json` can only be drawn: give --html FILE alone");
    std::vector<std::string> all{to.json, to.html, to.junit, to.sarif};
    all.insert(all.end(), arguments.files.begin(), arguments.files.end());
    require_different_files(all);
    const MergedResults merged = read_all(results);
    std::vector<Note> notes;
    if (!arguments.before.empty()) notes = compare(read_all(arguments.before), merged);
    std::vector<ordered_json> lines;
    if (!results.empty()) lines = lines_of(merged, notes);
    if (!arguments.results.json.empty()) {
        JsonLines json(arguments.results.json);
        for (const auto& line : lines) json.write(line);
    }
    for (const std::string& path : benches) add_bench(path, lines);
    if (results.empty()) {
        write_file(arguments.results.html, html_of(lines));
        return exit_ok;
    }
    print_failures(merged.records);
    say_notes(merged.missing);
    say_notes(notes);
    say(summarize(names_of(suite.properties()), merged.records, merged.absent, merged.seconds,
                  {.is_verbose = arguments.is_verbose, .table_width = table_width()}));
    write_results(arguments.results, merged.records, lines, merged.seconds);
    return all_well(merged.records) && is_whole(merged) ? exit_ok : exit_failed;
}

}  // namespace gradverify
