// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/compute_sanitizer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/devices/sanitized_process.hpp"
#include "harness/workers/spawn.hpp"

namespace gradverify {

namespace {

// A file beside each log has this suffix, and holds how many of its bytes were charged to cases.
constexpr const char* charged_suffix = ".charged";
// Behind these lines of a finding stands the harness's own call stack.
constexpr int details_maximum = 4;

std::string find_program() {
    const char* path = std::getenv("PATH");
    std::string folders = path ? path : "";
    folders += ":/usr/local/cuda/bin";
    for (const auto folder : split(folders, ':')) {
        std::string program = std::string(folder) + "/compute-sanitizer";
        if (!folder.empty() && access(program.c_str(), X_OK) == 0) return program;
    }
    throw EnvironmentError(
        "compute-sanitizer is neither on PATH nor in /usr/local/cuda/bin; it comes with the CUDA "
        "toolkit");
}

std::string read_from(const std::string& path, std::uintmax_t offset) {
    std::ifstream file(path, std::ios::binary);
    if (!file.seekg(static_cast<std::streamoff>(offset))) return {};
    return {std::istreambuf_iterator<char>(file), {}};
}

/// What follows the mark in a line of the tool; nothing for another line.
std::optional<std::string_view> after_mark(std::string_view line) {
    constexpr std::string_view mark = "=========";
    if (!line.starts_with(mark)) return std::nullopt;
    line.remove_prefix(mark.size());
    return line;
}

/// Whether a line begins a finding, and what kind.
std::optional<SanitizerFinding> begun_by(std::string_view text) {
    // Details are indented further.
    if (text.size() < 2 || text[0] != ' ' || text[1] == ' ') return std::nullopt;
    text.remove_prefix(1);
    for (const char* other : {"COMPUTE-SANITIZER", "ERROR SUMMARY", "RACECHECK SUMMARY",
                              "LEAK SUMMARY", "Program hit", "Target application", "Saved host"})
        if (text.starts_with(other)) return std::nullopt;
    const bool is_race = text.find("Race reported") != std::string_view::npos;
    if (text.starts_with("Warning:") && !is_race) return std::nullopt;
    const bool is_of_the_tool =
        text.starts_with("Internal") || (text.starts_with("Error:") && !is_race);
    return SanitizerFinding{std::string(text), is_of_the_tool};
}

}  // namespace

SanitizerFinding first_finding(std::string_view lines) {
    SanitizerFinding found;
    int details = 0;
    for (const std::string_view line : split(lines, '\n')) {
        const auto text = after_mark(line);
        if (!text) continue;
        if (found.text.empty()) {
            if (auto begun = begun_by(*text)) found = std::move(*begun);
            continue;
        }
        const std::size_t word = text->find_first_not_of(' ');
        const bool is_detail = word != std::string_view::npos && word > 1 &&
                               !text->substr(word).starts_with("Saved host");
        if (!is_detail || ++details > details_maximum) break;
        found.text += "; " + std::string(text->substr(word));
    }
    return found;
}

SanitizerRun::SanitizerRun(std::string tool) : tool_(std::move(tool)), program_(find_program()) {
    std::string folder = (std::filesystem::temp_directory_path() / "gradverify-XXXXXX").string();
    if (!mkdtemp(folder.data()))
        throw EnvironmentError("can't make the folder " + folder + ": " + std::strerror(errno));
    folder_ = folder;
}

SanitizerRun::~SanitizerRun() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::vector<std::string> SanitizerRun::watched(std::vector<std::string> worker_command) const {
    for (const std::string& word : {tool_, program_, folder_}) worker_command.push_back(word);
    return worker_command;
}

std::string SanitizerRun::late_finding() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        const std::string path = entry.path().string();
        if (path.ends_with(charged_suffix)) continue;
        std::uintmax_t charged = 0;
        std::ifstream(path + charged_suffix) >> charged;
        if (auto found = first_finding(read_from(path, charged)); !found.text.empty())
            return found.text;
    }
    return {};
}

void enter_compute_sanitizer(const SanitizerOptions& options, char** argv) {
    if (is_under_compute_sanitizer()) return;
    std::error_code error;
    std::string self = std::filesystem::read_symlink("/proc/self/exe", error).string();
    std::string log = fmt::format("{}/{}.log", options.folder, getpid());
    // Errors of the API, such as a refused launch, are in the launch's status.
    std::vector<std::string> words{options.program,       "--tool", options.tool, "--log-file", log,
                                   "--report-api-errors", "no",     self};
    for (char** word = argv + 1; *word != nullptr; ++word) words.emplace_back(*word);
    setenv(compute_sanitizer_log_variable, log.c_str(), 1);
    execv(words.front().c_str(), argument_pointers(words).data());
    throw EnvironmentError("can't run " + options.program + ": " + std::strerror(errno));
}

WatchedServer::WatchedServer(const CaseServer& server, const SanitizerOptions& options)
    : server_(server), tool_(options.tool) {
    const char* path = std::getenv(compute_sanitizer_log_variable);
    log_ = path ? path : "";
}

/// The first finding in what was written since the last call.
SanitizerFinding WatchedServer::next_finding() const {
    std::string lines = read_from(log_, charged_);
    lines.resize(lines.rfind('\n') + 1);  // npos + 1 is 0
    if (lines.empty()) return {};
    charged_ += lines.size();
    std::ofstream(log_ + charged_suffix) << charged_;
    return first_finding(lines);
}

Outcome WatchedServer::run(std::string_view printed_case) const {
    Outcome outcome = server_.run(printed_case);
    const SanitizerFinding found = next_finding();
    if (found.text.empty()) return outcome;
    outcome.verdict = found.is_of_the_tool ? Verdict::errored : Verdict::failed;
    outcome.message = "compute-sanitizer says: " + found.text;
    if (!found.is_of_the_tool)
        outcome.message += fmt::format(" (replay with --compute-sanitizer={})", tool_);
    return outcome;
}

}  // namespace gradverify
