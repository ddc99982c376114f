// SPDX-License-Identifier: Apache-2.0
// Which failures a baseline accepts, and when it complains.
#include "harness/report/runs/baseline.hpp"

#include <doctest/doctest.h>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"
#include "harness/report/files/json.hpp"
#include "harness/report/files/json_lines.hpp"
#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// What a run with these results leaves, read as a baseline.
Baseline baseline_of(const std::vector<RowResult>& results) {
    const TemporaryFile file;
    JsonLines lines(file.path);
    lines.write(json_of_run({.seed = 1, .devices = {"cpu"}, .program = "gradverify"}));
    const std::vector<RowRecord> records = records_of(results, "gradverify");
    for (const RowRecord& record : records) lines.write(json_of_verdict(record));
    lines.write(json_of_summary(records, 1.0, false));
    return Baseline::read(file.path);
}

RowResult failed(const std::string& variant, const char* problem, bool minimal = true) {
    RowResult result =
        failure_of(variant, "repeatable", Outcome::failed("differs"),
                   {minimal ? Minimality::Kind::certified : Minimality::Kind::boxed});
    result.failure->smallest = case_of(result, problem);
    return result;
}

bool knows(const Baseline& baseline, const RowResult& result) {
    return baseline.knows(record_of(result, "gradverify"));
}
std::vector<std::string> gone_of(const Baseline& baseline, const std::vector<RowResult>& results) {
    return baseline.gone(records_of(results, "gradverify"));
}

/// What is said of a file with this text; empty where it is a baseline.
std::string complaint(const std::string& text) {
    const TemporaryFile file(text);
    const std::string why = refusal([&] { Baseline::read(file.path); });
    const std::string rest = " of " + file.path + " is not a line that `check --json` writes";
    CHECK((why.empty() || why.ends_with(rest)));
    return why.substr(0, why.find(" of "));
}

}  // namespace

TEST_CASE("a baseline knows the rows that did not pass, and no others") {
    const RowResult vacuous = result_of("plain", "stays_in_bounds", Verdict::vacuous, "zeros");
    const RowResult errored = result_of("tree_reduction", "repeatable", Verdict::errored, "oh");
    const RowResult passed = result_of("plain", "repeatable", Verdict::passed, "", "cuda");
    const Baseline baseline = baseline_of({failed("plain", "in=3"), vacuous, errored, passed});
    CHECK(knows(baseline, failed("plain", "in=3")));
    CHECK(knows(baseline, vacuous));
    CHECK(knows(baseline, errored));
    CHECK_FALSE(knows(baseline, passed));
    CHECK_FALSE(knows(baseline, failed("tree_reduction", "in=3")));  // it was errored
    RowResult other_device = failed("plain", "in=3");
    other_device.row.device = "cuda";
    CHECK_FALSE(knows(baseline, other_device));
    CHECK_FALSE(knows(Baseline(), failed("plain", "in=3")));
}

TEST_CASE("a failure is known at its certified problem alone") {
    const Baseline certified = baseline_of({failed("plain", "in=3")});
    CHECK_FALSE(knows(certified, failed("plain", "in=2")));
    CHECK(knows(certified, failed("plain", "in=2", false)));
    const Baseline shrunk = baseline_of({failed("plain", "in=3", false)});
    CHECK(knows(shrunk, failed("plain", "in=2")));
}

TEST_CASE("a known failure that is gone is named, unless its row did not run") {
    const Baseline baseline = baseline_of({failed("plain", "in=3")});
    CHECK(gone_of(baseline, {failed("plain", "in=3")}).empty());
    CHECK(gone_of(baseline, {}).empty());
    CHECK(gone_of(baseline, {result_of("plain", "repeatable", Verdict::skipped, "time")}).empty());
    const auto gone = [&](const RowResult& result) { return joined(gone_of(baseline, {result})); };
    const std::string row = "toy.forward/plain, repeatable on cpu";
    CHECK(gone(result_of("plain", "repeatable", Verdict::passed)) ==
          "no longer failed: " + row + "; take its line out of the baseline");
    CHECK(gone(result_of("plain", "repeatable", Verdict::errored, "oh")) ==
          "not the known failure: " + row + " was failed");
    CHECK(gone(failed("plain", "in=2")) ==
          "not the known failure: " + row + " failed from in=3 on");
}

TEST_CASE("a file that is no result file is refused with its line") {
    CHECK_THROWS_WITH_AS(Baseline::read("/no/such/file"), "--baseline: can't read /no/such/file",
                         UsageError);
    CHECK(complaint("{\"kind\":\"run\"}\n\nconv.forward/naive\n") == "--baseline: line 3");
    CHECK(complaint("{\"kind\":\"verdict\",\"verdict\":\"failed\"}\n") == "--baseline: line 1");
    CHECK(complaint("") == "");
}
