// SPDX-License-Identifier: Apache-2.0
#include "harness/results_json.hpp"

#include <nlohmann/json.hpp>

#include "harness/errors.hpp"
#include "harness/summary.hpp"
#include "harness/version.hpp"

namespace gradverify {

using nlohmann::ordered_json;

namespace {

std::string text_of(const ordered_json& object) {
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void add_minimality(ordered_json& object, const Shrunk& failure) {
    const Minimality& minimality = failure.minimality;
    object["minimal"] = failure.minimal();
    if (minimality.kind == Minimality::Kind::none) return;
    object["minimality"] = minimality.kind == Minimality::Kind::certified ? "certified" : "boxed";
    object["smaller_passed"] = minimality.passed;
    object["smaller"] = minimality.of;
    if (minimality.of_is_least) object["smaller_is_least"] = true;
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

}  // namespace

JsonResults::JsonResults(const std::string& path, std::uint64_t seed,
                         const std::vector<std::string>& devices)
    : path_(path), file_(path) {
    write(text_of({{"kind", "run"}, {"version", version}, {"seed", seed}, {"devices", devices}}));
}

void JsonResults::write(const std::string& line) {
    file_ << line << '\n';
    file_.flush();
    if (!file_) throw EnvironmentError("can't write " + path_);
}

void JsonResults::add(const RowResult& result) {
    ordered_json object{{"kind", "verdict"},
                        {"kernel", result.row.kernel->name},
                        {"property", result.row.property},
                        {"device", result.row.device},
                        {"verdict", name_of(result.verdict)},
                        {"cases", result.cases},
                        {"seconds", result.seconds}};
    if (result.exhaustive) object["exhaustive"] = object_of(*result.exhaustive);
    if (!result.message.empty()) object["message"] = result.message;
    if (result.failure) {
        object["case"] = result.failure->smallest.print();
        object["problem"] = result.failure->smallest.problem.print();
        add_minimality(object, *result.failure);
    }
    if (result.known) object["known"] = true;
    write(text_of(object));
}

void JsonResults::finish(const std::vector<RowResult>& results, double seconds) {
    const Counts counts = count(results);
    write(text_of({{"kind", "summary"},
                   {"rows", results.size()},
                   {"passed", counts.passed},
                   {"failed", counts.failed},
                   {"known", counts.known},
                   {"vacuous", counts.vacuous},
                   {"skipped", counts.skipped},
                   {"errored", counts.errored},
                   {"cases", counts.cases},
                   {"not_verified", not_verified(results)},
                   {"seconds", seconds}}));
}

}  // namespace gradverify
