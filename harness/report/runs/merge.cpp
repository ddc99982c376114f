// SPDX-License-Identifier: Apache-2.0
#include "harness/report/runs/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <utility>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/base/version.hpp"
#include "harness/run/result.hpp"

namespace gradverify {

namespace {

// Rows that are named one by one; more are counted.
constexpr std::size_t most_named = 5;

RowName row_of(const ordered_json& line) {
    return {line.at("kernel"), line.at("property"), line.at("device")};
}

void take_line(ResultFile& file, const ordered_json& line) {
    const std::string kind = line.at("kind");
    if (kind == "run") {
        file.run = run_from(line);
    } else if (kind == "verdict") {
        const RowRecord record = record_from(line);
        file.progress.erase(record);
        file.seen.erase(record);
        file.verdicts.insert_or_assign(record, record);  // the last one holds
    } else if (kind == "seen") {
        file.seen[row_of(line)] = line.at("case").get<std::string>();
    } else if (kind == "progress") {
        file.progress[row_of(line)] = line.at("cases");
    } else if (kind == "summary") {
        file.has_ended = true;
        file.was_interrupted = line.value("interrupted", false);
        file.remarks = line.value("remarks", std::vector<std::string>());
        file.seconds = line.value("seconds", 0.0);
    }
}

bool has_stopped(const RowRecord& record) {
    return record.found_at.has_value() || record.verdict == Verdict::failed;
}

/// Which of two rows that something stopped is told: of one run that of the lower index.
bool comes_before(const RowRecord& a, const RowRecord& b) {
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
    return a.found_at.value_or(last) < b.found_at.value_or(last);
}

/// The same of two runs, whose indices have nothing to do with each other: what nobody knows comes
/// first, and of that a failure.
bool is_worse(const RowRecord& a, const RowRecord& b) {
    const auto rank = [](const RowRecord& one) {
        return std::pair(one.known, one.verdict != Verdict::failed);
    };
    return rank(a) < rank(b);
}

/// The shards of one run.
struct Shards {
    std::map<std::int64_t, const ResultFile*> by_index;

    const RunRecord& run() const { return by_index.begin()->second->run; }
};

/// Files of one seed, each by itself unless it is a shard.
std::vector<Shards> runs_of(const std::vector<ResultFile>& files) {
    std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<Shards>> sharded;
    std::vector<Shards> runs;
    for (const ResultFile& file : files) {
        if (file.run.is_merged)
            throw UsageError(
                file.path +
                " was written by `report`; give the files that it was put together from");
        const Shard& shard = file.run.shard;
        if (shard.count == 1) {
            for (const Shards& other : runs)
                if (other.run().seed == file.run.seed && other.run().rows == file.run.rows)
                    throw UsageError(fmt::format("{} and {} both hold the run of seed {}",
                                                 other.by_index.begin()->second->path, file.path,
                                                 file.run.seed));
            runs.push_back({.by_index = {{0, &file}}});
            continue;
        }
        // The same shard of another device or filter belongs to another run.
        std::vector<Shards>& alike = sharded[{file.run.seed, shard.count}];
        const auto fits = std::ranges::find_if(alike, [&](const Shards& run) {
            const RunRecord& other = run.run();
            return other.rows == file.run.rows && other.how == file.run.how &&
                   other.version == file.run.version;
        });
        Shards& run = fits == alike.end() ? alike.emplace_back() : *fits;
        if (const auto [twice, is_new] = run.by_index.try_emplace(shard.index, &file); !is_new)
            throw UsageError(fmt::format("{} and {} both hold shard {}/{} of seed {}",
                                         twice->second->path, file.path, shard.index + 1,
                                         shard.count, file.run.seed));
    }
    for (auto& [key, of_key] : sharded) std::ranges::move(of_key, std::back_inserter(runs));
    return runs;
}

std::string named(const std::vector<std::string>& names, std::string_view between = "; ") {
    if (names.size() <= most_named) return joined(names, between);
    return fmt::format("{}{}and {} more", joined(std::span(names).first(most_named), between),
                       between, names.size() - most_named);
}

std::string by_another_version(const std::string& writer) {
    return fmt::format(" was written by gradverify {}, and this is {}", writer, version);
}

void note_missing(const ResultFile& file, std::vector<Note>& notes) {
    std::set<RowName> told;
    for (const auto& [row, record] : file.verdicts) told.insert(row);
    std::vector<std::string> rows;
    for (const RowName& row : file.run.rows) {
        if (told.contains(row)) continue;
        if (const auto seen = file.seen.find(row); seen != file.seen.end())
            notes.push_back({fmt::format("FAILED {}, before its run was ended: {} repro {}",
                                         row.name(), file.run.program, shell_quoted(seen->second)),
                             Note::Tone::bad});
        const auto begun = file.progress.find(row);
        rows.push_back(row.name() + (begun == file.progress.end()
                                         ? std::string()
                                         : fmt::format(" (after {} cases)", begun->second)));
    }
    const std::string what =
        file.run.shard.count == 1
            ? file.path
            : fmt::format("shard {}/{} of seed {} ({})", file.run.shard.index + 1,
                          file.run.shard.count, file.run.seed, file.path);
    if (!rows.empty())
        notes.push_back({fmt::format("missing: {} has no verdict of {} of its {} rows: {}", what,
                                     rows.size(), file.run.rows.size(), named(rows)),
                         Note::Tone::bad});
    else if (!file.has_ended)
        notes.push_back({fmt::format("{} was ended before its summary, with every verdict", what)});
    for (const std::string& remark : file.remarks)
        notes.push_back({fmt::format("{}: {}", what, remark), Note::Tone::bad});
    if (file.run.version != version)
        notes.push_back({file.path + by_another_version(file.run.version)});
    if (file.was_interrupted)
        notes.push_back({fmt::format("missing: {} was interrupted, so its rows have fewer cases "
                                     "than they were to have",
                                     what),
                         Note::Tone::bad});
}

void note_missing(const Shards& run, std::vector<Note>& notes) {
    const RunRecord& of = run.run();
    std::vector<std::string> shards;
    for (std::int64_t i = 0; i < of.shard.count; ++i)
        if (!run.by_index.contains(i)) shards.push_back(fmt::to_string(i + 1));
    if (of.shard.count > 1 && !shards.empty())
        notes.push_back({fmt::format("missing: of the {} shards of seed {} there is no file of {}",
                                     of.shard.count, of.seed, named(shards, ", ")),
                         Note::Tone::bad});
    for (const auto& [index, file] : run.by_index) note_missing(*file, notes);
}

/// What was met is held against what is within reach by the places of factors and levels.
void require_one_kernel(const RowRecord& of) {
    if (!of.within_reach) return;
    for (const auto& [rank, met] : of.coverage.ranks())
        if (const auto reach = of.within_reach->find(rank); reach != of.within_reach->end())
            LevelPairs(met.pairs()).add(reach->second);  // throws
}

void add(bool& sum, bool other) { sum |= other; }
void add(std::string& sum, const std::string& other) {
    if (sum.empty()) sum = other;
}
void add(std::vector<std::string>& sum, const std::vector<std::string>& other) {
    for (const std::string& one : other)
        if (std::ranges::find(sum, one) == sum.end()) sum.push_back(one);
}
void add(RowCounts::Skips& sum, const RowCounts::Skips& other) {
    for (const auto& [reason, count] : other) sum[reason] += count;
}
template <class T>
void add(T& sum, const T& other) {
    if constexpr (requires { add_to(sum, other); })
        add_to(sum, other);
    else if constexpr (requires { sum.add(other); })
        sum.add(other);
    else
        sum += other;
}

/// Adds a row's fields to those of another.
struct Adder {
    void needed(const char*, auto& sum, const auto& other) { add(sum, other); }
    void always(const char*, auto& sum, const auto& other) { add(sum, other); }
    void operator()(const char*, auto& sum, const auto& other) { add(sum, other); }
    void kept(const auto&...) {}
    void whole(const auto&...) {}
    void one_of(const auto&...) {}
    void inner(const auto&...) {}
    void told(const auto&...) {}
    void rest(const auto&...) {}
};

using Before = bool (*)(const RowRecord&, const RowRecord&);

/// Adds the verdict of another shard, or run. Of two that something stopped, `before` decides.
void add(RowRecord& sum, const RowRecord& other, Before before) {
    const bool takes_other = has_stopped(other) && (!has_stopped(sum) || before(other, sum));
    const bool is_known = sum.known || other.known;
    // A part that was not cut ran all that it was to run.
    const auto asked = [](const RowRecord& part) { return std::max(part.cut_of, part.cases); };
    if (sum.cut_of + other.cut_of > 0) sum.cut_of = asked(sum) + asked(other);
    Adder visit;
    row_fields(visit, sum, other);
    sum.thin_of = std::max(sum.thin_of, other.thin_of);
    if (sum.cases >= sum.thin_of) sum.thin_of = 0;
    // A problem that one of them has compared, too, stands in one list alone.
    std::erase_if(sum.not_compared, [&](const std::string& problem) {
        return std::ranges::find(other.not_compared, problem) == other.not_compared.end();
    });
    sum.error_over_bound.add(other.error_over_bound);
    sum.multiply_adds.add(other.multiply_adds);
    sum.sensitivity.add(other.sensitivity);
    sum.coverage.add(other.coverage);
    if (!sum.within_reach) sum.within_reach = other.within_reach;
    require_one_kernel(sum);
    if (sum.conditions.empty()) sum.conditions = other.conditions;
    if (!has_stopped(sum) && !takes_other) sum.known = is_known;
    if (!takes_other) return;
    sum.found_at = other.found_at;
    sum.verdict = other.verdict;
    sum.message = other.message;
    sum.failure = other.failure;
    sum.known = other.known;
}

/// A row that no case stopped: the counts of all shards decide. That one of them had nothing to do
/// is no reason where another had.
void decide(RowRecord& record) {
    if (has_stopped(record)) return;
    if (record.cases > 0)
        for (const char* reason : {no_case_in_shard, no_problem_in_shard})
            record.skips.erase(reason);
    auto [verdict, reason] = verdict_of(record);
    record.verdict = verdict;
    record.message = std::move(reason);
    record.known &= record.is_bad();
}

std::map<RowName, RowRecord> rows_of(const Shards& run) {
    std::map<RowName, RowRecord> rows;
    std::set<RowName> shared;
    for (const auto& [index, file] : run.by_index)
        for (const auto& [name, record] : file->verdicts) {
            const auto [row, is_new] = rows.try_emplace(name, record);
            if (is_new) continue;
            add(row->second, record, comes_before);
            shared.insert(name);
        }
    for (const RowName& row : shared) decide(rows.at(row));
    return rows;
}

void add_rows(std::map<RowName, RowRecord>& rows, const Shards& run) {
    for (const auto& [name, record] : rows_of(run)) {
        const auto [row, is_new] = rows.try_emplace(name, record);
        if (is_new) continue;
        add(row->second, record, is_worse);
        decide(row->second);
    }
}

std::string problem_of(const RowRecord& record) {
    const std::string problem = record.failing_problem();
    return problem.empty() ? record.message : "at " + problem;
}

/// Twice as slow a case, of rows that take long enough to tell.
bool is_slower(const RowRecord& before, const RowRecord& after) {
    constexpr double least_seconds = 1.0;
    return before.seconds > least_seconds && after.seconds > least_seconds &&
           after.seconds / static_cast<double>(after.cases) >
               2.0 * before.seconds / static_cast<double>(before.cases);
}

void compare_row(const RowRecord& before, const RowRecord& after, std::vector<Note>& notes) {
    const auto say = [&](Note::Tone tone, const std::string& text) {
        notes.push_back({text, tone});
    };
    if (after.is_bad() && !before.is_bad())
        say(Note::Tone::bad, fmt::format("new: {} {} ({})", after.name(), name_of(after.verdict),
                                         problem_of(after)));
    else if (before.is_bad() && after.is_bad() && problem_of(before) != problem_of(after))
        say(Note::Tone::plain,
            fmt::format("still {}, and otherwise: {} ({}, before {})", name_of(after.verdict),
                        after.name(), problem_of(after), problem_of(before)));
    else if (before.is_bad() && after.verdict == Verdict::passed)
        say(Note::Tone::good,
            fmt::format(
                "fixed: {}, which {}", after.name(),
                before.verdict == Verdict::vacuous ? "was vacuous" : name_of(before.verdict)));
    else if (before.verdict == Verdict::passed && after.verdict == Verdict::skipped)
        say(Note::Tone::plain, fmt::format("skipped now: {} ({})", after.name(), after.message));
    else if (before.verdict == Verdict::passed && after.verdict == Verdict::passed &&
             10 * after.passed < 9 * before.passed)
        say(Note::Tone::plain, fmt::format("covered less: {} in {} cases, before in {}",
                                           after.name(), after.passed, before.passed));
    if (is_slower(before, after)) say(Note::Tone::plain, fmt::format("slower: {}", after.name()));
}

ordered_json json_of(const Note& note) {
    constexpr const char* tones[] = {"plain", "bad", "good"};
    return {{"kind", "note"},
            {"text", note.text},
            {"tone", tones[static_cast<std::size_t>(note.tone)]}};
}

}  // namespace

ResultFile ResultFile::read(const std::string& path) {
    std::ifstream in(path);
    if (!in || std::filesystem::is_directory(path)) throw UsageError("can't read " + path);
    ResultFile file;
    file.path = path;
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
    if (in.bad() || lines.empty()) throw UsageError(path + " holds no results");
    for (std::size_t i = 0; i < lines.size(); ++i) try {
            const ordered_json line = parse_json(lines[i]);
            if (i == 0 && line.at("kind") != "run")
                throw UsageError(path + " does not begin as a file of `check --json` does");
            if (i == 0 && !line.contains("rows"))
                throw UsageError(path +
                                 " is of a version of gradverify that did not write what a "
                                 "report needs");
            take_line(file, line);
        } catch (const ordered_json::parse_error&) {
            // A run that was killed may have been writing.
            if (i == 0 || i + 1 < lines.size())
                throw UsageError(fmt::format("line {} of {} is not JSON", i + 1, path));
        } catch (const UsageError&) {
            throw;
        } catch (const std::exception&) {
            throw UsageError(fmt::format(
                "line {} of {} is not a line that `check --json` writes{}", i + 1, path,
                file.run.version == version ? "" : "; it" + by_another_version(file.run.version)));
        }
    return file;
}

MergedResults merge(const std::vector<ResultFile>& files) {
    MergedResults merged;
    std::map<RowName, RowRecord> rows;
    std::set<std::string> absent;
    for (const Shards& run : runs_of(files)) {
        merged.runs.push_back(run.run());
        merged.runs.back().shard = {};
        merged.runs.back().is_merged = true;
        note_missing(run, merged.missing);
        try {
            add_rows(rows, run);
        } catch (const std::invalid_argument& wrong) {
            throw UsageError(fmt::format("{} does not go with the others: {}",
                                         run.by_index.begin()->second->path, wrong.what()));
        }
        for (const auto& [index, file] : run.by_index) {
            merged.seconds = std::max(merged.seconds, file->seconds);
            absent.insert(file->run.absent.begin(), file->run.absent.end());
        }
    }
    for (auto& [name, record] : rows) merged.records.push_back(std::move(record));
    merged.absent.assign(absent.begin(), absent.end());
    return merged;
}

std::vector<Note> compare(const MergedResults& before, const MergedResults& after) {
    std::map<RowName, const RowRecord*> known, now;
    for (const RowRecord& record : before.records) known[record] = &record;
    for (const RowRecord& record : after.records) now[record] = &record;
    std::vector<Note> notes;
    for (const auto& [name, record] : now) {
        if (const auto found = known.find(name); found != known.end())
            compare_row(*found->second, *record, notes);
        else if (record->is_bad())
            notes.push_back({fmt::format("new: {} {} ({}), and was not run before", record->name(),
                                         name_of(record->verdict), problem_of(*record)),
                             Note::Tone::bad});
    }
    for (const auto& [name, record] : known)
        if (!now.contains(name))
            notes.push_back({"not run any more: " + record->name(), Note::Tone::plain});
    return notes;
}

std::vector<ordered_json> lines_of(const MergedResults& merged, const std::vector<Note>& notes) {
    std::vector<ordered_json> lines;
    for (const RunRecord& run : merged.runs) lines.push_back(json_of_run(run));
    for (const std::vector<Note>& some : {merged.missing, notes})
        for (const Note& note : some) lines.push_back(json_of(note));
    for (const RowRecord& record : merged.records) lines.push_back(json_of_verdict(record));
    lines.push_back(json_of_summary(merged.records, merged.seconds, false));
    return lines;
}

}  // namespace gradverify
