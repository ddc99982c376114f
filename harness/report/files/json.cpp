// SPDX-License-Identifier: Apache-2.0
#include "harness/report/files/json.hpp"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "harness/base/json_fields.hpp"
#include "harness/base/text.hpp"
#include "harness/report/text/summary.hpp"

namespace gradverify {

namespace {

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

/// What a passed row could have missed.
ordered_json missed_by(const RowRecord& record) {
    ordered_json missed;
    if (record.verdict == Verdict::passed && record.coverage.problems() > 0) {
        missed["coverage"] = object_of(record.coverage, record.within_reach.get());
        missed["supports_only"] = record.conditions;
        if (record.sensitivity.cases() > 0) missed["ulps"] = object_of(record.sensitivity);
        if (!record.error_over_bound.empty()) missed["errors"] = object_of(record.error_over_bound);
    }
    if (record.as_told.is_object()) missed.update(record.as_told);
    return missed;
}

// The parts of a row's verdict, which add up with those of its other shards.

template <class Words>
std::string print_words(const Words& words) {
    std::vector<std::string> texts;
    texts.reserve(words.size());
    for (const std::uint64_t word : words) texts.push_back(word == 0 ? "" : print_word(word));
    return joined(texts, ",");
}

std::vector<std::uint64_t> parse_words(const std::string& text) {
    std::vector<std::uint64_t> words;
    if (text.empty()) return words;
    for (const std::string_view word : split(text, ','))
        words.push_back(word.empty() ? 0 : parse_word(word));
    return words;
}

/// One rank: what was met there, if anything, and what is within reach, if that is known.
ordered_json json_of(int rank, const RankCoverage* met, const LevelPairs* within_reach) {
    ordered_json object{{"rank", rank}, {"factors", ordered_json::array()}};
    for (const Factor& factor : (met ? met->pairs() : *within_reach).factors())
        object["factors"].push_back({factor.name, factor.levels});
    if (met) {
        if (!met->slots().empty()) object["slots"] = met->slots();
        object["met"] = print_words(met->pairs().bits());
        object["largest"] = {met->largest().slots, met->largest().values};
    }
    if (within_reach) object["within_reach"] = print_words(within_reach->bits());
    return object;
}

std::vector<Factor> factors_from(const ordered_json& object) {
    std::vector<Factor> factors;
    for (const ordered_json& factor : object)
        factors.push_back({.name = factor.at(0), .levels = factor.at(1), .slots = {}});
    return factors;
}

void take_rank(RowRecord& record, PairsByRank& reach, const ordered_json& object) {
    const int rank = object.at("rank");
    const std::vector<Factor> factors = factors_from(object.at("factors"));
    if (object.contains("met")) {
        auto slots = object.value("slots", std::vector<SlotCoverage>());
        LargestPair largest;
        // Files of before have none.
        if (object.contains("largest"))
            largest = {object["largest"].at(0), object["largest"].at(1)};
        for (const std::size_t slot : largest.slots)
            if (slot >= slots.size() && LargestPair{} < largest)
                throw std::invalid_argument("the largest pair is of no parameter");
        record.coverage.add(
            rank, RankCoverage(std::move(slots), {factors, parse_words(object["met"])}, largest));
    }
    if (object.contains("within_reach"))
        reach.emplace(rank, LevelPairs(factors, parse_words(object["within_reach"])));
}

void part_fields(auto& record, auto& visit) {
    visit.needed("errors", record.error_over_bound);
    visit.needed("multiply_adds", record.multiply_adds);
    visit.needed("least_ulps", record.sensitivity.least_ulps);
    visit.needed("median_ulps", record.sensitivity.medians);
    visit.needed("conditions", record.conditions);
}

ordered_json json_of_parts(const RowRecord& record) {
    ordered_json parts;
    FieldWriter visit(parts);
    part_fields(record, visit);
    parts["problems"] = print_words(record.coverage.hashes().smallest());
    parts["ranks"] = ordered_json::array();
    std::map<int, std::pair<const RankCoverage*, const LevelPairs*>> ranks;
    for (const auto& [rank, met] : record.coverage.ranks()) ranks[rank].first = &met;
    if (record.within_reach)
        for (const auto& [rank, pairs] : *record.within_reach) ranks[rank].second = &pairs;
    for (const auto& [rank, of] : ranks)
        parts["ranks"].push_back(json_of(rank, of.first, of.second));
    return parts;
}

void take_parts(RowRecord& record, const ordered_json& parts) {
    FieldReader visit(parts);
    part_fields(record, visit);
    for (const std::uint64_t hash : parse_words(parts.at("problems")))
        record.coverage.add_hash(hash);
    PairsByRank reach;
    for (const ordered_json& of : parts.at("ranks")) take_rank(record, reach, of);
    if (!reach.empty()) record.within_reach = std::make_shared<const PairsByRank>(std::move(reach));
}

void run_fields(auto& run, auto& visit) {
    visit.always("version", run.version);
    visit.needed("seed", run.seed);
    visit.needed("devices", run.devices);
    visit.always("program", run.program);
    visit("shard", run.shard);
    visit("how", run.how);
    visit("merged", run.is_merged);
    visit.needed("rows", run.rows);
    visit("absent", run.absent);
}

}  // namespace

static void to_json(ordered_json& object, const RowName& row) {
    object = {row.kernel, row.property, row.device};
}
static void from_json(const ordered_json& object, RowName& row) {
    row = {object.at(0), object.at(1), object.at(2)};
}

static void to_json(ordered_json& object, const Shard& shard) {
    object = {{"index", shard.index + 1}, {"count", shard.count}};
}
static void from_json(const ordered_json& object, Shard& shard) {
    shard = {.index = count_of(object.at("index")) - 1, .count = object.at("count")};
    if (shard.index < 0 || shard.index >= shard.count || shard.count > Shard::most)
        throw std::invalid_argument("there is no such shard");
}

ordered_json json_of_run(const RunRecord& run) {
    ordered_json object{{"kind", "run"}};
    FieldWriter visit(object);
    run_fields(run, visit);
    return object;
}

RunRecord run_from(const ordered_json& line) {
    RunRecord run{.version = "0.1.0", .devices = {}, .program = "gradverify"};
    FieldReader visit(line);
    run_fields(run, visit);
    return run;
}

ordered_json json_of_verdict(RowRecord record, bool has_parts) {
    ordered_json object{{"kind", "verdict"}};
    FieldWriter visit(object);
    record.as_told = missed_by(record);
    row_fields(visit, record);
    if (has_parts) object["parts"] = json_of_parts(record);
    return object;
}

RowRecord record_from(const ordered_json& line) {
    RowRecord record;
    FieldReader visit(line);
    row_fields(visit, record);
    if (record.as_told.contains("supports_only"))
        record.conditions = record.as_told["supports_only"];
    if (!line.contains("parts")) return record;
    record.as_told = nullptr;
    take_parts(record, line["parts"]);
    return record;
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

}  // namespace gradverify
