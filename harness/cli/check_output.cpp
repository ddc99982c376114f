// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/check_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/interrupt.hpp"
#include "harness/base/terminal.hpp"
#include "harness/cli/result_files.hpp"
#include "harness/report/runs/merge.hpp"
#include "harness/report/text/failure.hpp"
#include "harness/report/text/progress.hpp"
#include "harness/report/text/summary.hpp"

namespace gradverify {

namespace {

constexpr const char* default_corpus = ".gradverify";

std::vector<ordered_json> lines_of_page(const RunRecord& run, const std::vector<RowRecord>& records,
                                        const std::vector<std::string>& gone, double seconds) {
    MergedResults results{.runs = {run}, .records = records, .absent = run.absent, .missing = {}};
    results.seconds = seconds;
    std::vector<Note> notes;
    notes.reserve(gone.size());
    for (const std::string& sentence : gone) notes.push_back({sentence, Note::Tone::bad});
    return lines_of(results, notes);
}

}  // namespace

void say(const std::string& text) {
    static const bool in_colour = wants_colour(STDOUT_FILENO);
    std::fputs((in_colour ? with_alarms(text) : text).c_str(), stdout);
    std::fflush(stdout);
}

std::size_t table_width() {
    return static_cast<std::size_t>(
        terminal_width(STDOUT_FILENO).value_or(std::numeric_limits<int>::max()));
}

void ProgressLine::show(std::int64_t done, std::int64_t most, std::int64_t failed) {
    static const bool is_terminal = isatty(STDERR_FILENO) != 0;
    const auto now = Clock::now();
    if (!is_terminal || now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    clear();
    const Progress progress{.done = done,
                            .most = most,
                            .failed = failed,
                            .seconds = std::chrono::duration<double>(now - start_).count(),
                            .limit = limit_};
    std::fputs(("\r" + progress.print() + " ").c_str(), stderr);
    is_shown_ = true;
}

void ProgressLine::clear() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
    is_shown_ = false;
}

std::optional<Corpus> corpus_of(const Suite& suite, const CheckArguments& arguments) {
    if (arguments.corpus.empty() && !std::filesystem::is_directory(default_corpus))
        return std::nullopt;
    const Registry& registry = Registry::instance();
    const auto why_not = [&](const Case& one) -> std::optional<std::string> {
        const Property* const property = suite.find(one.property);
        if (!property) return "there is no property '" + one.property + "'";
        if (property->applies_to(*registry.find_kernel(one.kernel))) return std::nullopt;
        return one.property + " does not apply to " + one.kernel;
    };
    return Corpus(arguments.corpus.empty() ? default_corpus : arguments.corpus, registry, why_not);
}

CheckOutput::CheckOutput(const CheckArguments& arguments, RunRecord run,
                         std::optional<double> limit, std::optional<Corpus> corpus)
    : arguments_(arguments), run_(std::move(run)), progress_(limit), corpus_(std::move(corpus)) {
    const ResultOptions& files = arguments.results;
    require_different_files({files.json, files.html, files.junit, files.sarif, arguments.baseline,
                             arguments.problems_file});
    if (!files.json.empty()) json_.emplace(files.json);
    if (json_) json_->write(json_of_run(run_));
    begin_results(files);
}

CheckObserver CheckOutput::observer() {
    CheckObserver observer{
        .row_ended =
            [this](const RowResult& result) {
                if (json_)
                    json_->write(
                        json_of_verdict(record_of(result, run_.program), run_.shard.count > 1));
                if (corpus_ && result.failure && !result.known) keep(result);
            },
        .bug_found =
            [this](const auto& bug, bool is_more) {
                if (arguments_.is_quiet) return;
                progress_.clear();
                say("\n" + (is_more ? report_more(bug) : report_bug(bug, run_.program)));
            },
        .failure_waits =
            [this](const Case& found, const Outcome& outcome) {
                progress_.clear();
                if (!arguments_.is_quiet) say(report_seen(found));
                if (json_) json_->write(json_of_seen(found, outcome));
            },
        .progressed = [this](auto done, auto most,
                             auto failed) { progress_.show(done, most, failed); }};
    if (isatty(STDERR_FILENO) == 0)
        observer.lives = [](const SignOfLife& sign) {
            std::fputs((print(sign) + "\n").c_str(), stderr);
            std::fflush(stderr);
        };
    if (json_)
        observer.row_goes_on = [this](const RowResult& result) {
            json_->write(json_of_progress(result));
        };
    return observer;
}

/// What can't be kept must not cost the run its results.
void CheckOutput::keep(const RowResult& result) try {
    corpus_->keep(result.failure->smallest, result.message);
} catch (const EnvironmentError& wrong) {
    corpus_wrong_ = wrong.what();
}

/// What is of no one row.
std::string CheckOutput::remarks_of(const std::vector<std::string>& gone) const {
    std::string text;
    if (arguments_.filters.empty() && interrupt_signal() == 0)
        text += Registry::instance().all_left_out(std::getenv("GRADVERIFY_VERIFY"));
    for (const std::string& sentence : gone) text += sentence + "\n";
    if (!corpus_) return text;
    for (const std::string& stale : corpus_->stale()) text += "stale: " + stale + "\n";
    if (corpus_->kept() > 0)
        text += fmt::format("{}: {} new case{}\n",
                            arguments_.corpus.empty() ? default_corpus : arguments_.corpus,
                            corpus_->kept(), corpus_->kept() == 1 ? "" : "s");
    return text;
}

void CheckOutput::end(const std::vector<std::string>& properties,
                      const std::vector<RowRecord>& records, const std::vector<std::string>& gone,
                      double seconds) {
    progress_.clear();
    const bool was_interrupted = interrupt_signal() != 0;
    const std::string remarks = remarks_of(gone);
    say(was_interrupted ? remarks + summarize_interrupted(records, seconds, run_.seed)
                        : summarize(properties, records, run_.absent, seconds,
                                    {.is_verbose = arguments_.is_verbose,
                                     .is_quiet = arguments_.is_quiet,
                                     .table_width = table_width(),
                                     .remarks = remarks}));
    if (json_) json_->write(json_of_summary(records, seconds, was_interrupted, gone));
    write_results(arguments_.results, records, lines_of_page(run_, records, gone, seconds),
                  seconds);
    if (!corpus_wrong_.empty()) throw EnvironmentError(corpus_wrong_);
}

}  // namespace gradverify
