// SPDX-License-Identifier: Apache-2.0
#include "harness/report/json.hpp"

#include <cmath>

#include "harness/base/version.hpp"
#include "harness/report/missed.hpp"
#include "harness/report/summary.hpp"

namespace gradverify {

using nlohmann::ordered_json;

namespace {

void add_minimality(ordered_json& object, const Shrunk& failure) {
    const Minimality& minimality = failure.minimality;
    object["minimal"] = failure.minimal();
    if (minimality.kind == Minimality::Kind::none) return;
    object["minimality"] = minimality.kind == Minimality::Kind::certified ? "certified" : "boxed";
    object["smaller_passed"] = minimality.passed;
    object["smaller"] = minimality.of;
    if (minimality.silent > 0) object["smaller_silent"] = minimality.silent;
    if (minimality.of_is_least) object["smaller_is_least"] = true;
}

/// A rule that every problem agrees with is `rule`; anything less is `seen`.
void add_explanation(ordered_json& object, const Shrunk& failure) {
    const Generality& generality = failure.generality;
    if (!generality.text.empty()) {
        object[generality.is_rule ? "rule" : "seen"] = generality.text;
        object["problems_run"] = generality.problems;
    }
    if (!failure.values.empty()) object["values"] = failure.values;
    if (!failure.witnesses.empty()) object["witnesses"] = failure.witnesses;
}

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

ordered_json object_of(const Kernel& kernel, const Coverage& coverage,
                       const PairsByRank* within_reach) {
    ordered_json object{{"problems", coverage.problems()}};
    for (const auto& [rank, met] : coverage.ranks()) {
        ordered_json parameters;
        for (std::size_t i = 0; i < met.slots().size(); ++i) {
            const SlotCoverage& slot = met.slots()[i];
            ordered_json remainders;
            for (const int block : block_sizes_of_interest)
                remainders[std::to_string(block)] = slot.remainders_of(block);
            parameters[kernel.op->space.slots(rank)[i].name] = {{"values", slot.values()},
                                                                {"smallest", slot.smallest()},
                                                                {"largest", slot.largest()},
                                                                {"remainders", remainders}};
        }
        object["by_rank"].push_back(
            {{"rank", rank}, {"parameters", parameters}, {"pairs_of_levels", met.pairs().count()}});
    }
    if (!within_reach) return object;
    const PairsCovered pairs = pairs_covered(coverage, *within_reach);
    object["pairs"] = {{"met", pairs.met}, {"of", pairs.of}, {"missed", pairs.missed}};
    return object;
}

/// JSON has no infinity.
ordered_json object_of(const SensitivityOfCases& ulps) {
    const auto number = [](double value) {
        return std::isfinite(value) ? ordered_json(value) : ordered_json("inf");
    };
    return {{"cases", ulps.cases},
            {"least", number(ulps.least_ulps)},
            {"median", number(ulps.median_ulps)}};
}

ordered_json object_of(const ImpreciseCases& imprecise) {
    const WrongElement& worst = imprecise.found.worst;
    Case strict = imprecise.worst;
    strict.setting.is_strict = true;
    return {{"cases", imprecise.cases},
            {"case", strict.print()},
            {"tensor", worst.tensor},
            {"got", worst.got},
            {"want", worst.want},
            {"bound", worst.bound},
            {"largest", imprecise.found.largest}};
}

/// What a passed row could have missed.
void add_missed(ordered_json& object, const RowResult& result) {
    const Kernel& kernel = *result.row.kernel;
    object["coverage"] = object_of(kernel, result.coverage, result.within_reach.get());
    object["supports_only"] = kernel.conditions();
    if (const auto ulps = summarize(result.sensitivity)) object["ulps"] = object_of(*ulps);
}

}  // namespace

ordered_json json_of_run(std::uint64_t seed, const std::vector<std::string>& devices) {
    return {{"kind", "run"}, {"version", version}, {"seed", seed}, {"devices", devices}};
}

ordered_json json_of_verdict(const RowResult& result) {
    ordered_json object{{"kind", "verdict"},
                        {"kernel", result.row.kernel->name},
                        {"property", result.row.property_name()},
                        {"device", result.row.device},
                        {"verdict", name_of(result.verdict)},
                        {"cases", result.cases},
                        {"passed", result.passed},
                        {"seconds", result.seconds}};
    if (result.refused > 0) object["refused"] = result.refused;
    if (result.exhaustive) object["exhaustive"] = object_of(*result.exhaustive);
    if (result.verdict == Verdict::passed && result.coverage.problems() > 0)
        add_missed(object, result);
    if (result.imprecise) object["imprecise"] = object_of(*result.imprecise);
    if (const auto& wrapping = result.wrapping)
        object["wrapping"] = {{"cases", wrapping->cases}, {"overflows", wrapping->overflows}};
    if (!result.message.empty()) object["message"] = result.message;
    if (result.failure) {
        object["case"] = result.failure->smallest.print();
        object["problem"] = result.failure->smallest.problem.print();
        add_minimality(object, *result.failure);
        add_explanation(object, *result.failure);
    }
    if (result.known) object["known"] = true;
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

ordered_json json_of_summary(const std::vector<RowResult>& results, double seconds) {
    const Counts counts = count(results);
    return {{"kind", "summary"},
            {"rows", results.size()},
            {"passed", counts.of(Verdict::passed)},
            {"failed", counts.of(Verdict::failed)},
            {"known", counts.known},
            {"vacuous", counts.of(Verdict::vacuous)},
            {"skipped", counts.of(Verdict::skipped)},
            {"errored", counts.of(Verdict::errored)},
            {"cases", counts.cases},
            {"not_verified", not_verified(results)},
            {"seconds", seconds}};
}

}  // namespace gradverify
