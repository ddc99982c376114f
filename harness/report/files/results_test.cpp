// SPDX-License-Identifier: Apache-2.0
// What the result files hold, and when.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/errors.hpp"
#include "harness/base/files.hpp"
#include "harness/base/version.hpp"
#include "harness/report/files/json.hpp"
#include "harness/report/files/json_lines.hpp"
#include "harness/report/files/junit.hpp"
#include "harness/testing/made_results.hpp"
#include "harness/testing/temporary_folder.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;
using nlohmann::json;

json verdict_line(const RowResult& result) {
    return json_of_verdict(record_of(result, "gradverify"));
}

/// Without what draws a failure, which has tests of its own.
std::string brief_line(const RowResult& result) {
    ordered_json line = json_of_verdict(record_of(result, "gradverify"));
    for (const char* field : {"parameters", "tensors", "data", "report"}) line.erase(field);
    return line.dump();
}

RowResult awkward_failure() {
    RowResult result = failure_of("plain", "repeatable",
                                  Outcome::failed("a < b && \"c\" > 'd'\nnext\x01 gr\u00fc\u00df"));
    result.failure->outcome.maps = {
        {.tensor = "y", .sizes = {2}, .wrong = 1, .total = 2, .marks = "#."}};
    return result;
}

}  // namespace

TEST_CASE("a result file is open in no process that this one starts") {
    const TemporaryFolder folder;
    const JsonLines lines((folder.path() / "a.json").string());
    int found = 0;
    for (int fd = 0; fd < 256; ++fd) {
        std::error_code none;
        const auto file = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), none);
        if (file.filename() != "a.json") continue;
        ++found;
        CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHECK(found > 0);
}

TEST_CASE("the JSON results are a run, verdicts and a summary, with their fields in this order") {
    const RunRecord run{.seed = 18446744073709551615u,
                        .devices = {"cpu", "cuda"},
                        .program = "build/gradverify",
                        .rows = {{"toy.forward/plain", "repeatable", "cpu"}}};
    CHECK(json_of_run(run).dump() ==
          R"({"kind":"run","version":")" + std::string(version) +
              R"(","seed":18446744073709551615,"devices":["cpu","cuda"],)"
              R"("program":"build/gradverify","rows":[["toy.forward/plain","repeatable","cpu"]]})");
    const RowResult passed = result_of("plain", "repeatable", Verdict::passed);
    CHECK(
        brief_line(passed) ==
        R"({"kind":"verdict","kernel":"toy.forward/plain","property":"repeatable","device":"cpu",)"
        R"("verdict":"passed","cases":20,"passed":20,"seconds":0.25,)"
        R"("file":"kernels/plain.cu","line":7})");
    RowResult refusing = result_of("tree_reduction", "repeatable", Verdict::skipped, "time");
    refusing.refused = 3;
    CHECK(brief_line(refusing) ==
          R"({"kind":"verdict","kernel":"toy.forward/tree_reduction","property":"repeatable",)"
          R"("device":"cpu","verdict":"skipped","cases":0,"passed":0,"seconds":0.25,)"
          R"("file":"kernels/tree_reduction.cu","line":7,"refused":3,"message":"time"})");
    CHECK(json_of_summary(records_of({passed, refusing}, "gradverify"), 1.5, false).dump() ==
          R"({"kind":"summary","rows":2,"passed":1,"failed":0,"known":0,"vacuous":0,"skipped":1,)"
          R"("errored":0,"cases":20,"not_verified":["toy.forward/tree_reduction"],"seconds":1.5})");
}

TEST_CASE("a passed verdict has integers that wrapped back, and what it takes for contiguous") {
    RowResult result = result_of("plain", "repeatable", Verdict::passed);
    for (const char* field : {"wrapping", "contiguous_alone"})
        CHECK_FALSE(verdict_line(result).contains(field));
    result.wrapping = {.cases = 3, .overflows = "int overflow at a.cu:1: 2 * 3"};
    result.contiguous_alone = "dy";
    CHECK(brief_line(result).ends_with(
        R"("wrapping":{"cases":3,"overflows":"int overflow at a.cu:1: 2 * 3"},)"
        R"("contiguous_alone":"dy"})"));
    result.uncompared = {.elements = 3, .total = 4, .place = "x[1]"};
    result.not_compared = {"in=9"};
    const RowRecord read = record_from(verdict_line(result));
    CHECK(read.uncompared.place == "x[1]");
    CHECK(read.not_compared == std::vector<std::string>{"in=9"});
}

TEST_CASE("a line is in the file as soon as it is written, whatever bytes a message holds") {
    const TemporaryFile file;
    JsonLines lines(file.path);
    lines.write({{"message", "differs\n\"so\" \xff"}});
    REQUIRE(file.lines().size() == 1);
    CHECK(json::parse(file.lines()[0]).at("message") == "differs\n\"so\" \xef\xbf\xbd");
}

TEST_CASE("a passed verdict says what it covered, and what its kernel left out") {
    RowResult result = result_of("plain", "repeatable", Verdict::passed);
    for (const char* problem : {"n=2,in=1", "in=9"})
        result.coverage.add(*result.row.kernel,
                            Problem::parse(result.row.kernel->op->space, problem));
    result.within_reach = reach_of(*result.row.kernel, {"n=2,in=1", "n=2,in=9", "in=40"});
    for (const Sensitivity& one : {Sensitivity{0.5, 4.0}, {2.0, INFINITY}, {2.0, INFINITY}})
        result.sensitivity.add(one);
    for (const double share : {0.0, 0.3, 0.5, 0.9}) result.error_over_bound.add(share);
    result.exhaustive = ExhaustiveCover{.problems = 5, .compared = 4, .distance = 2, .beyond = 1};
    RowResult failed = result;
    failed.verdict = Verdict::failed;
    const json passed = verdict_line(result);
    CHECK(passed.at("coverage").at("problems") == 2);
    CHECK(
        passed.at("coverage").at("pairs") ==
        json{{"met", 1},
             {"of", 3},
             {"missed", {"n 1 with in_w another below 63", "n 2 or 3 with in_w 5, 9, 17 or 33"}}});
    const json& one = passed.at("coverage").at("by_rank").at(0);
    CHECK(one.at("rank") == 1);
    CHECK(one.at("pairs_of_levels") == 2);
    CHECK(one.at("parameters").at("n").at("values") == 2);
    CHECK(one.at("parameters").at("in_w") ==
          json{{"values", 2},
               {"smallest", 1},
               {"largest", 9},
               {"remainders", {{"2", 1}, {"4", 1}, {"8", 1}, {"16", 2}, {"32", 2}}}});
    CHECK(passed.at("supports_only") == json{"no empty tensors"});
    CHECK(passed.at("ulps") == json{{"cases", 3}, {"least", 0.5}, {"median", "inf"}});
    CHECK(passed.at("errors") == json{{"zero", 1}, {"bins", {{-2, 1}, {-1, 2}}}});
    CHECK(one.at("factors") == json{"n", "in_w"});
    CHECK(one.at("pairs") == "3");
    CHECK(passed.at("exhaustive") ==
          json{{"problems", 5}, {"compared", 4}, {"distance", 2}, {"beyond", 1}, {"all", false}});
    CHECK_FALSE(verdict_line(failed).contains("coverage"));
}

TEST_CASE("a failure's line has the case that repro accepts, and whether it is minimal") {
    using enum Minimality::Kind;
    const Outcome differs = Outcome::failed("differs");
    const auto line_of = [&](const Minimality& minimality) {
        return brief_line(failure_of("plain", "repeatable", differs, minimality));
    };
    const std::string printed = "v1:toy.forward/plain:repeatable:cpu:n=2,in=3:data=x[0]=1";
    const std::string start =
        R"({"kind":"verdict","kernel":"toy.forward/plain","property":"repeatable","device":"cpu",)"
        R"("verdict":"failed","cases":20,"passed":0,"seconds":0.25,"file":"kernels/plain.cu",)"
        R"("line":7,"message":"differs","case":")" +
        printed + R"(","problem":"n=2,in=3","minimal":)";
    CHECK(line_of({certified, 7, 7}) ==
          start + R"(true,"minimality":"certified","smaller_passed":7,"smaller":7})");
    CHECK(line_of({boxed, 3, 9, true}) ==
          start + R"(false,"minimality":"boxed","smaller_passed":3,"smaller":9,)"
                  R"("smaller_is_least":true})");
    CHECK(line_of({none, 3, 9}) == start + "false}");
    CHECK(Case::parse(printed, registry_of_results()).print() == printed);
}

TEST_CASE("a failure's line has the rule, or what was seen, and what the witnesses say") {
    RowResult ruled = failure_of("plain", "repeatable", Outcome::failed("differs"));
    CHECK_FALSE(verdict_line(ruled).contains("rule"));
    ruled.failure->generality = {"fails wherever n >= 2", true, 52};
    ruled.failure->witnesses = "the kernel stands alone";
    ruled.failure->symptoms.pattern = "got = 2 x want in all of y";
    RowResult seen = ruled;
    seen.failure->generality.is_rule = false;
    const json line = verdict_line(ruled);
    CHECK(line.at("rule") == "fails wherever n >= 2");
    CHECK(line.at("problems_run") == 52);
    CHECK(line.at("witnesses") == "the kernel stands alone");
    CHECK(line.at("pattern") == "got = 2 x want in all of y");
    CHECK_FALSE(verdict_line(seen).contains("rule"));
    CHECK(verdict_line(seen).at("seen") == "fails wherever n >= 2");
    for (const RowResult& result : {ruled, seen})
        CHECK(FailureFacts(*record_from(verdict_line(result)).failure) ==
              FailureFacts(*result.failure));
    CHECK(contains(
        junit_xml(records_of({seen}, "gradverify"), 0.0),
        "<failure message=\"differs; got = 2 x want in all of y; fails wherever n &gt;= 2; the "
        "kernel stands alone\">"));
}

TEST_CASE("a failure's line has what draws it: parameters, tensors, elements and source lines") {
    const TemporaryFile source("one\ntwo\nthree\n");
    const std::string path = source.path + ".cu";
    std::filesystem::copy_file(source.path, path);
    RowResult result =
        failure_of("plain", "repeatable", Outcome::failed("a race at " + path + ":2"));
    result.failure->outcome.worst = {
        {.tensor = "y", .index = {1, 0}, .got = NAN, .want = -2.0, .dtype = DType::f32}};
    result.failure->outcome.maps = {{.tensor = "y",
                                     .sizes = {4},
                                     .wrong = 2,
                                     .total = 4,
                                     .marks = "..##",
                                     .got = {0.0, 1.0, INFINITY, 3.0},
                                     .want = {0.0, 1.0, 2.0, 4.0}}};
    const ordered_json line = json_of_verdict(record_of(result, "gradverify"));
    std::filesystem::remove(path);
    const auto drawn = [&](const char* field) { return line.at(field).dump(); };
    CHECK(line.at("parameters").at(1).dump() ==
          R"({"name":"in_w","parameter":"in","axis":0,"side":"none","value":3})");
    CHECK(line.at("tensors").at(2).dump() ==
          R"({"name":"y","role":"output","dtype":"f32","sizes":[2,3]})");
    CHECK(drawn("data") == R"([{"tensor":"x","index":[0,0],"value":1.0}])");
    CHECK(drawn("worst") ==
          R"([{"tensor":"y","index":[1,0],"got":"nan","want":-2.0,"bound":0.0,"dtype":"f32"}])");
    CHECK(drawn("maps") == R"([{"tensor":"y","sizes":[4],"wrong":2,"total":4,"marks":"..##",)"
                           R"("got":[0.0,1.0,"inf",3.0],"want":[0.0,1.0,2.0,4.0],)"
                           R"("pattern":"every element from 2 on"}])");
    CHECK(drawn("source") ==
          R"([{"file":")" + path + R"(","line":2,"first":1,"lines":["one","two","three"]}])");
}

TEST_CASE("a result file that can't be written is the environment's fault") {
    const std::string path = "/no/such/folder/results";
    CHECK_THROWS_WITH_AS(JsonLines{path},
                         "can't write /no/such/folder/results: No such file or directory",
                         EnvironmentError);
    CHECK_THROWS_WITH_AS(write_file(path, ""),
                         "can't write /no/such/folder/results: No such file or directory",
                         EnvironmentError);
    const TemporaryFile file("an earlier run's");
    write_file(file.path, "");
    CHECK(file.lines().empty());
    // A full disk is noticed when it is written to.
    CHECK_THROWS_AS(JsonLines("/dev/full").write({{"kind", "run"}}), EnvironmentError);
    CHECK_THROWS_AS(write_file("/dev/full", "<xml/>"), EnvironmentError);
}

TEST_CASE("the JUnit document has its rows, whatever messages hold") {
    RowResult known = failure_of("plain", "repeatable", Outcome::failed("a > b"));
    known.known = true;
    const std::vector<RowResult> results{
        result_of("plain", "repeatable", Verdict::passed),
        awkward_failure(),
        result_of("plain", "stays_in_bounds", Verdict::vacuous, "only zeros"),
        result_of("plain", "adjoint_identity", Verdict::errored, "no memory"),
        result_of("plain", "repeatable", Verdict::skipped, "time", "cuda"),
        known};
    RowResult thin = results.front();
    thin.cases = thin.passed = 1;
    CHECK(contains(junit_xml(records_of({thin}, "gradverify"), 0.0),
                   "time=\"0.250000\"><system-out>thin: 1 case</system-out></testcase>"));
    CHECK(junit_xml(records_of(results, "gradverify"), 1.5) ==
          R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="gradverify" tests="6" failures="2" errors="1" skipped="2" time="1.500000">
  <testcase classname="toy.forward/plain" name="repeatable@cpu" time="0.250000"></testcase>
  <testcase classname="toy.forward/plain" name="repeatable@cpu" time="0.250000"><failure message="a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'&#10;next  grüß">FAILED toy.forward/plain&#10;  kernel     toy.forward/plain on cpu&#10;  property   repeatable: a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'&#10;next  grüß&#10;  problem    n=2,in=3 (minimal, certified: all 7 smaller problems pass; 41 runs)&#10;  given      x[0] = 1&#10;  wrong      1 of 2 elements of y&#10;    y&#10;    ┌───┬───┐&#10;    │ # │ · │&#10;    └───┴───┘&#10;  replay     gradverify repro 'v1:toy.forward/plain:repeatable:cpu:n=2,in=3:data=x[0]=1'&#10;</failure></testcase>
  <testcase classname="toy.forward/plain" name="stays_in_bounds@cpu" time="0.250000"><failure message="vacuous: only zeros"/></testcase>
  <testcase classname="toy.forward/plain" name="adjoint_identity@cpu" time="0.250000"><error message="no memory"/></testcase>
  <testcase classname="toy.forward/plain" name="repeatable@cuda" time="0.250000"><skipped message="time"/></testcase>
  <testcase classname="toy.forward/plain" name="repeatable@cpu" time="0.250000"><skipped message="known to be failed: a &gt; b"/></testcase>
</testsuite>
)");
}
