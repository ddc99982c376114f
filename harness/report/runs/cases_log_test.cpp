// SPDX-License-Identifier: Apache-2.0
#include "harness/report/runs/cases_log.hpp"

#include <doctest/doctest.h>

#include <set>

#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;
using nlohmann::json;

json line_of(const Outcome& outcome) {
    return json_of_case(case_of(result_of("plain", "repeatable", Verdict::passed)), outcome, 12.5);
}

}  // namespace

TEST_CASE("a case has the fields of the schema, and its parameters as features") {
    Outcome outcome = Outcome::passed();
    outcome.error_over_bound = 0.25;
    outcome.seconds_kernel = 1.0;
    outcome.seconds_total = 3.0;
    const json line = line_of(outcome);
    std::set<std::string> fields;
    for (const auto& [field, value] : line.items()) fields.insert(field);
    CHECK(fields == std::set<std::string>{"type", "status", "status_reason", "representation",
                                          "arguments", "how_generated", "features", "coverage",
                                          "timing", "metadata", "property", "run_start"});
    CHECK(line.at("property") == "toy.forward/plain, repeatable on cpu");
    CHECK(line.at("representation") == "v1:toy.forward/plain:repeatable:cpu:n=2,in=3:data=x[0]=1");
    CHECK(line.at("arguments") == json{{"n", 2}, {"in_w", 3}});
    CHECK(line.at("features").at("in_w") == 3);
    CHECK(line.at("features").at("error_over_bound") == 0.25);
    CHECK(line.at("timing") ==
          json{{"execute:kernel", 1.0}, {"execute:reference", 0.0}, {"execute:rest", 2.0}});
}

TEST_CASE("what compared nothing gave up, what could not be judged failed") {
    const auto said = [](const Outcome& outcome) {
        const json line = line_of(outcome);
        return line.at("status").get<std::string>() + ": " +
               line.at("status_reason").get<std::string>();
    };
    CHECK(said(Outcome::passed()) == "passed: ");
    CHECK(said(Outcome::failed("differs")) == "failed: differs");
    CHECK(said(Outcome::errored("no memory")) == "failed: no memory");
    CHECK(said(Outcome::skipped("too large")) == "gave_up: too large");
    CHECK(said(Outcome()) == "gave_up: every expected value is zero");
}
