// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/base/json_fields.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

// Words of bits in base 16, since JSON's numbers are not exact everywhere.
std::string print_word(std::uint64_t word) { return fmt::format("{:x}", word); }

std::uint64_t parse_word(std::string_view text) {
    std::uint64_t word = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), word, 16);
    if (wrong != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument(fmt::format("'{}' is no number in base 16", text));
    return word;
}

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

ordered_json json_of(const Distribution& values) {
    ordered_json bins = ordered_json::array();
    for (const auto& [bin, count] : values.bins()) bins.push_back({bin, count});
    return {{"zero", values.zeros()}, {"infinite", values.infinite()}, {"bins", std::move(bins)}};
}

Distribution distribution_from(const ordered_json& object) {
    Distribution values;
    values.add_zeros(count_of(object.at("zero")));
    values.add_infinite(count_of(object.at("infinite")));
    for (const ordered_json& bin : object.at("bins"))
        values.add_to_bin(bin.at(0), count_of(bin.at(1)));
    return values;
}

ordered_json json_of(const SlotCoverage& slot) {
    const SlotCoverage::Met& met = slot.met();
    return {
        {"name", slot.name()},         {"free", slot.is_free()},   {"small", print_word(met.small)},
        {"others", met.others},        {"smallest", met.smallest}, {"largest", met.largest},
        {"remainders", met.remainders}};
}

SlotCoverage slot_from(const ordered_json& object) {
    return {object.at("name"),
            object.at("free"),
            {.small = parse_word(object.at("small").get<std::string>()),
             .others = object.at("others"),
             .smallest = object.at("smallest"),
             .largest = object.at("largest"),
             .remainders = object.at("remainders")}};
}

/// One rank: what was met there, if anything, and what is within reach, if that is known.
ordered_json json_of(int rank, const RankCoverage* met, const LevelPairs* within_reach) {
    ordered_json object{{"rank", rank}, {"factors", ordered_json::array()}};
    for (const Factor& factor : (met ? met->pairs() : *within_reach).factors())
        object["factors"].push_back({factor.name, factor.levels});
    if (met) {
        for (const SlotCoverage& slot : met->slots()) object["slots"].push_back(json_of(slot));
        object["met"] = print_words(met->pairs().bits());
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
        std::vector<SlotCoverage> slots;
        for (const ordered_json& slot : object.value("slots", ordered_json::array()))
            slots.push_back(slot_from(slot));
        record.coverage.add(rank,
                            RankCoverage(std::move(slots), {factors, parse_words(object["met"])}));
    }
    if (object.contains("within_reach"))
        reach.emplace(rank, LevelPairs(factors, parse_words(object["within_reach"])));
}

}  // namespace

ordered_json json_of_parts(const RowRecord& record) {
    ordered_json parts{{"errors", json_of(record.error_over_bound)},
                       {"multiply_adds", json_of(record.multiply_adds)},
                       {"least_ulps", json_of_number(record.sensitivity.least_ulps)},
                       {"median_ulps", json_of(record.sensitivity.medians)},
                       {"conditions", record.conditions},
                       {"problems", print_words(record.coverage.hashes().smallest())},
                       {"ranks", ordered_json::array()}};
    PairsByRank none;
    const PairsByRank& reach = record.within_reach ? *record.within_reach : none;
    std::set<int> ranks;
    for (const auto& [rank, met] : record.coverage.ranks()) ranks.insert(rank);
    for (const auto& [rank, pairs] : reach) ranks.insert(rank);
    for (const int rank : ranks) {
        const auto met = record.coverage.ranks().find(rank);
        const auto pairs = reach.find(rank);
        parts["ranks"].push_back(
            json_of(rank, met == record.coverage.ranks().end() ? nullptr : &met->second,
                    pairs == reach.end() ? nullptr : &pairs->second));
    }
    return parts;
}

void take_parts(RowRecord& record, const ordered_json& parts) {
    record.error_over_bound = distribution_from(parts.at("errors"));
    record.multiply_adds = distribution_from(parts.at("multiply_adds"));
    record.sensitivity = {.least_ulps = number_of(parts.at("least_ulps")),
                          .medians = distribution_from(parts.at("median_ulps"))};
    record.conditions = parts.at("conditions");
    for (const std::uint64_t hash : parse_words(parts.at("problems")))
        record.coverage.add_hash(hash);
    PairsByRank reach;
    for (const ordered_json& of : parts.at("ranks")) take_rank(record, reach, of);
    if (!reach.empty()) record.within_reach = std::make_shared<const PairsByRank>(std::move(reach));
}

}  // namespace gradverify
