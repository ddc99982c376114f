// SPDX-License-Identifier: Apache-2.0
#include "harness/report/files/json.hpp"

#include <array>
#include <stdexcept>

#include "harness/base/version.hpp"
#include "harness/report/files/json_numbers.hpp"
#include "harness/report/text/parts.hpp"
#include "harness/report/text/summary.hpp"

namespace gradverify {

namespace {

ordered_json object_of(const ExhaustiveCover& cover) {
    ordered_json object{{"problems", cover.problems},
                        {"compared", cover.compared},
                        {"distance", cover.distance},
                        {"beyond", cover.beyond},
                        {"all", cover.is_all}};
    if (cover.shards > 1) object["shards"] = cover.shards;
    if (cover.gave_up) object["gave_up"] = true;
    return object;
}

ExhaustiveCover cover_from(const ordered_json& object) {
    return {.problems = count_of(object.at("problems")),
            .compared = count_of(object.at("compared")),
            .distance = object.at("distance"),
            .beyond = count_of(object.at("beyond")),
            .is_all = object.at("all"),
            .gave_up = object.value("gave_up", false),
            .shards = object.value("shards", 1)};
}

/// A character for every two factors, 0 with 1, 0 with 2 and so on: how many tenths of the pairs of
/// levels within reach were met, `a` for all, `-` where none is within reach.
std::string tenths_met(const LevelPairs& met, const LevelPairs& within_reach) {
    std::string tenths;
    const int count = static_cast<int>(met.factors().size());
    for (int i = 0; i < count; ++i)
        for (int j = i + 1; j < count; ++j) {
            const std::int64_t of = within_reach.count_of(i, j, within_reach);
            if (of == 0)
                tenths += '-';
            else
                tenths += "0123456789a"[10 * met.count_of(i, j, within_reach) / of];
        }
    return tenths;
}

ordered_json object_of(const RankCoverage& met, int rank, const PairsByRank* within_reach) {
    ordered_json parameters;
    for (const SlotCoverage& slot : met.slots()) {
        ordered_json remainders;
        for (const int block : block_sizes_of_interest)
            remainders[std::to_string(block)] = slot.remainders_of(block);
        parameters[slot.name()] = {{"values", slot.values()},
                                   {"smallest", slot.smallest()},
                                   {"largest", slot.largest()},
                                   {"remainders", remainders}};
    }
    ordered_json object{
        {"rank", rank}, {"parameters", parameters}, {"pairs_of_levels", met.pairs().count()}};
    const auto reach = within_reach ? within_reach->find(rank) : PairsByRank::const_iterator{};
    if (!within_reach || reach == within_reach->end()) return object;
    for (const Factor& factor : met.pairs().factors()) object["factors"].push_back(factor.name);
    object["pairs"] = tenths_met(met.pairs(), reach->second);
    return object;
}

ordered_json object_of(const Coverage& coverage, const PairsByRank* within_reach) {
    ordered_json object{{"problems", coverage.problems()}};
    for (const auto& [rank, met] : coverage.ranks())
        object["by_rank"].push_back(object_of(met, rank, within_reach));
    if (!within_reach) return object;
    const PairsCovered pairs = pairs_covered(coverage, *within_reach);
    object["pairs"] = {{"met", pairs.met}, {"of", pairs.of}, {"missed", pairs.missed}};
    return object;
}

/// In octaves, which are enough for a picture.
ordered_json object_of(const Distribution& errors) {
    std::map<int, std::int64_t> octaves;
    for (const auto& [bin, count] : errors.bins())
        octaves[(bin - (bin < 0 ? Distribution::bins_of_octave - 1 : 0)) /
                Distribution::bins_of_octave] += count;
    ordered_json bins = ordered_json::array();
    for (const auto& [octave, count] : octaves) bins.push_back({octave, count});
    return {{"zero", errors.zeros()}, {"bins", std::move(bins)}};
}

ordered_json object_of(const SensitivityOfCases& ulps) {
    return {{"cases", ulps.cases()},
            {"least", json_of_number(ulps.least_ulps)},
            {"median", json_of_number(ulps.median_ulps())}};
}

ordered_json object_of(const ImpreciseRecord& imprecise) {
    ordered_json object{{"cases", imprecise.cases}, {"case", imprecise.printed_case}};
    object.update(json_of_element(imprecise.worst));
    object["largest"] = json_of_number(imprecise.largest);
    return object;
}

ImpreciseRecord imprecise_from(const ordered_json& object) {
    return {.cases = count_of(object.at("cases")),
            .printed_case = object.at("case"),
            .worst = element_from(object),
            .largest = number_of(object.at("largest"))};
}

/// What a passed row could have missed.
void add_missed(ordered_json& object, const RowRecord& record) {
    object["coverage"] = object_of(record.coverage, record.within_reach.get());
    object["supports_only"] = record.conditions;
    if (record.sensitivity.cases() > 0) object["ulps"] = object_of(record.sensitivity);
    if (!record.error_over_bound.empty()) object["errors"] = object_of(record.error_over_bound);
}

/// Fields of a verdict line that a failure's smallest case has.
constexpr std::array failure_fields{
    "case",           "problem",    "minimal",        "minimality",
    "smaller_passed", "smaller",    "smaller_silent", "smaller_is_least",
    "rule",           "seen",       "problems_run",   "values",
    "witnesses",      "parameters", "tensors",        "two_calls",
    "worst",          "maps",       "source",         "found",
    "data",           "given",      "report"};

}  // namespace

ordered_json json_of_run(const RunRecord& run) {
    ordered_json object{{"kind", "run"},
                        {"version", run.version},
                        {"seed", run.seed},
                        {"devices", run.devices},
                        {"program", run.program}};
    if (run.shard.count > 1)
        object["shard"] = {{"index", run.shard.index + 1}, {"count", run.shard.count}};
    if (!run.how.empty()) object["how"] = run.how;
    if (run.is_merged) object["merged"] = true;
    object["rows"] = ordered_json::array();
    for (const RowName& row : run.rows)
        object["rows"].push_back({row.kernel, row.property, row.device});
    if (!run.absent.empty()) object["absent"] = run.absent;
    return object;
}

ordered_json json_of_verdict(const RowRecord& record, bool has_parts) {
    ordered_json object{{"kind", "verdict"},
                        {"kernel", record.kernel},
                        {"property", record.property},
                        {"device", record.device},
                        {"verdict", name_of(record.verdict)},
                        {"cases", record.cases},
                        {"passed", record.passed},
                        {"seconds", record.seconds}};
    if (!record.file.empty()) {
        object["file"] = record.file;
        object["line"] = record.line;
    }
    if (record.refused > 0) object["refused"] = record.refused;
    if (record.cut_of > 0) object["cut_of"] = record.cut_of;
    if (record.cut_short) object["cut_short"] = true;
    if (record.thin_of > 0) {
        object["thin"] = true;
        object["at_least"] = record.thin_of;
    }
    if (record.found_at) object["found_at"] = *record.found_at;
    if (record.exhaustive) object["exhaustive"] = object_of(*record.exhaustive);
    if (record.verdict == Verdict::passed && record.coverage.problems() > 0)
        add_missed(object, record);
    if (record.as_told.is_object()) object.update(record.as_told);
    if (record.imprecise) object["imprecise"] = object_of(*record.imprecise);
    if (record.uncompared && record.uncompared->elements > 0)
        object["uncompared"] = *record.uncompared;
    if (const auto& wrapping = record.wrapping)
        object["wrapping"] = {{"cases", wrapping->cases}, {"overflows", wrapping->overflows}};
    if (!record.contiguous_alone.empty()) object["contiguous_alone"] = record.contiguous_alone;
    if (!record.message.empty()) object["message"] = record.message;
    if (!record.skips.empty()) object["skips"] = record.skips;
    if (record.failure.is_object()) object.update(record.failure);
    if (!record.left_out.empty()) object["left_out"] = record.left_out;
    if (!record.not_compared.empty()) object["not_compared"] = record.not_compared;
    if (record.known) object["known"] = true;
    if (has_parts) object["parts"] = json_of_parts(record);
    return object;
}

ordered_json json_of_seen(const Case& found, const Outcome& outcome) {
    return {{"kind", "seen"},         {"kernel", found.kernel},     {"property", found.property},
            {"device", found.device}, {"message", outcome.message}, {"case", found.print()}};
}

ordered_json json_of_progress(const RowResult& result) {
    return {{"kind", "progress"},
            {"kernel", result.row.kernel->name},
            {"property", result.row.property_name()},
            {"device", result.row.device},
            {"cases", result.cases},
            {"passed", result.passed}};
}

ordered_json json_of_summary(const std::vector<RowRecord>& records, double seconds,
                             bool was_interrupted, const std::vector<std::string>& remarks) {
    const Counts counts = count(records);
    ordered_json object{{"kind", "summary"},
                        {"rows", records.size()},
                        {"passed", counts.of(Verdict::passed)},
                        {"failed", counts.of(Verdict::failed)},
                        {"known", counts.known},
                        {"vacuous", counts.of(Verdict::vacuous)},
                        {"skipped", counts.of(Verdict::skipped)},
                        {"errored", counts.of(Verdict::errored)},
                        {"cases", counts.cases},
                        {"not_verified", not_verified(records)},
                        {"seconds", seconds}};
    if (was_interrupted) object["interrupted"] = true;
    if (!remarks.empty()) object["remarks"] = remarks;
    return object;
}

RunRecord run_from(const ordered_json& line) {
    RunRecord run{.version = line.value("version", "0.1.0"),
                  .seed = line.at("seed"),
                  .devices = line.at("devices"),
                  .program = line.value("program", "gradverify"),
                  .how = line.value("how", ""),
                  .is_merged = line.value("merged", false),
                  .absent = line.value("absent", std::vector<std::string>())};
    if (line.contains("shard")) {
        run.shard = {.index = count_of(line["shard"].at("index")) - 1,
                     .count = line["shard"].at("count")};
        if (run.shard.index < 0 || run.shard.index >= run.shard.count ||
            run.shard.count > Shard::most)
            throw std::invalid_argument("there is no such shard");
    }
    for (const ordered_json& row : line.at("rows"))
        run.rows.push_back({row.at(0), row.at(1), row.at(2)});
    return run;
}

RowRecord record_from(const ordered_json& line) {
    RowRecord record{.kernel = line.at("kernel"),
                     .property = line.at("property"),
                     .device = line.at("device"),
                     .file = line.value("file", ""),
                     .line = line.value("line", 0),
                     .verdict = verdict_named(line.at("verdict")),
                     .message = line.value("message", ""),
                     .known = line.value("known", false),
                     .cases = count_of(line.at("cases")),
                     .passed = count_of(line.value("passed", ordered_json(0))),
                     .refused = count_of(line.value("refused", ordered_json(0))),
                     .cut_of = count_of(line.value("cut_of", ordered_json(0))),
                     .cut_short = line.value("cut_short", false),
                     .thin_of = count_of(line.value("at_least", ordered_json(0))),
                     .skips = line.value("skips", std::map<std::string, std::int64_t>()),
                     .seconds = line.value("seconds", 0.0),
                     .contiguous_alone = line.value("contiguous_alone", ""),
                     .conditions = line.value("supports_only", std::vector<std::string>()),
                     .left_out = line.value("left_out", std::vector<std::string>()),
                     .not_compared = line.value("not_compared", std::vector<std::string>())};
    for (const auto& [reason, count] : record.skips) count_of(count);  // throws
    if (line.contains("found_at")) record.found_at = count_of(line["found_at"]);
    for (const char* field : failure_fields)
        if (line.contains(field)) record.failure[field] = line[field];
    for (const char* field : {"case", "problem", "rule", "seen", "values", "witnesses", "report"})
        if (line.contains(field) && !line[field].is_string())
            throw std::invalid_argument(std::string(field) + " is no text");
    if (line.contains("exhaustive")) record.exhaustive = cover_from(line["exhaustive"]);
    if (line.contains("imprecise")) record.imprecise = imprecise_from(line["imprecise"]);
    if (line.contains("uncompared")) record.uncompared = line["uncompared"].get<Uncompared>();
    if (line.contains("wrapping"))
        record.wrapping = {.cases = count_of(line["wrapping"].at("cases")),
                           .overflows = line["wrapping"].at("overflows")};
    if (line.contains("parts"))
        take_parts(record, line["parts"]);
    else
        for (const char* field : {"coverage", "supports_only", "ulps", "errors"})
            if (line.contains(field)) record.as_told[field] = line[field];
    return record;
}

}  // namespace gradverify
