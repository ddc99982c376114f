// SPDX-License-Identifier: Apache-2.0
#include "harness/report/files/ci.hpp"

#include <doctest/doctest.h>

#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;
using nlohmann::json;

RowRecord failed(const std::string& message) {
    RowRecord record = record_of(failure_of("plain", "repeatable", Outcome::failed(message)), "g");
    record.file = "kernels/toy/plain.cu";
    record.line = 7;
    return record;
}

RowRecord known() {
    RowRecord record = failed("differs");
    record.known = true;
    return record;
}

}  // namespace

TEST_CASE("GitHub shows failures at the line that they name, else at the kernel") {
    CHECK(github_annotations({failed("100 % wrong,\nat once"), failed("differs, too"), known(),
                              record_of(result_of("plain", "repeatable", Verdict::passed), "g")}) ==
          "::error file=kernels/toy/plain.cu,line=7,title=toy.forward/plain%3A failed::"
          "toy.forward/plain on cpu, repeatable: 100 %25 wrong,%0Aat once; smallest problem "
          "n=2,in=3%0Arepro 'v1:toy.forward/plain:repeatable:cpu:n=2,in=3:data=x[0]=1'\n");
    CHECK(contains(github_annotations({failed("a race at a,b.cu:12: x[0]")}),
                   "::error file=b.cu,line=12,title="));
    RowRecord vacuous = record_of(result_of("plain", "repeatable", Verdict::vacuous, "zeros"), "g");
    vacuous.file = "a,b:c.cu";
    vacuous.line = 0;
    CHECK(github_annotations({vacuous}) ==
          "::error file=a%2Cb%3Ac.cu,line=1,title=toy.forward/plain%3A vacuous::toy.forward/plain "
          "on cpu, repeatable: zeros\n");
}

TEST_CASE("SARIF has a result for each row that is wrong") {
    const json sarif = sarif_of({failed("differs"), known(), failed("a race at k.cu:12: x[0]")});
    CHECK(sarif.at("version") == "2.1.0");
    const json& run = sarif.at("runs").at(0);
    CHECK(run.at("tool").at("driver").at("rules") == json{{{"id", "repeatable"}}});
    REQUIRE(run.at("results").size() == 2);
    const json& first = run.at("results").at(0);
    CHECK(first.at("ruleId") == "repeatable");
    CHECK(
        contains(first.at("message").at("text"), "differs; smallest problem n=2,in=3\nrepro 'v1:"));
    CHECK(first.at("locations").at(0).at("physicalLocation") ==
          json{{"artifactLocation", {{"uri", "kernels/toy/plain.cu"}}},
               {"region", {{"startLine", 7}}}});
    CHECK(run["results"][1]["locations"][0]["physicalLocation"]["region"]["startLine"] == 12);
}
