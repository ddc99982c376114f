// SPDX-License-Identifier: Apache-2.0
// How a run's summary reads, to the letter, and when all is well.
#include "harness/report/text/summary.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/text.hpp"
#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

const std::vector<std::string> properties{"matches_finite_differences", "stays_in_bounds",
                                          "repeatable"};

std::string summary_of(const std::vector<RowResult>& results,
                       const std::vector<std::string>& absent = {}, double seconds = 1.0) {
    return summarize(properties, records_of(results, "gradverify"), absent, seconds);
}
/// A row of each of so many kernels; two in the middle have failed.
std::vector<RowRecord> rows_of_many(std::size_t kernels) {
    std::vector<RowRecord> records(
        kernels, record_of(result_of("plain", "repeatable", Verdict::passed), "gradverify"));
    const RowRecord failed =
        record_of(failure_of("plain", "repeatable", Outcome::failed("differs")), "gradverify");
    for (std::size_t i = 0; i < kernels; ++i) {
        if (i == kernels / 2 || i == kernels / 2 + 1) records[i] = failed;
        records[i].kernel = fmt::format("toy.forward/a_variant_with_a_long_name_{:04}", i);
    }
    return records;
}
bool are_well(const std::vector<RowResult>& results) {
    return all_well(records_of(results, "gradverify"));
}

std::vector<RowResult> mixed_results() {
    std::vector<RowResult> results{
        result_of("plain", "matches_finite_differences", Verdict::passed),
        failure_of("plain", "stays_in_bounds", Outcome::failed("differs")),
        result_of("tree_reduction", "matches_finite_differences", Verdict::vacuous, "only zeros"),
        result_of("tree_reduction", "stays_in_bounds", Verdict::errored, "no memory"),
        result_of("tree_reduction", "repeatable", Verdict::skipped, "time"),
        result_of("plain", "repeatable", Verdict::passed, "", "cuda")};
    for (const double share : {0.5, 0.125, 0.25, 0.0}) results[0].error_over_bound.add(share);
    for (const double count : {8.0, 32.0, 16.0}) results[0].multiply_adds.add(count);
    results[2].error_over_bound.add(0.125);
    results[5].error_over_bound.add(0.0);
    results[5].passed = 17;
    results[5].refused = 2;
    results[3].refused = 20;
    results[2].left_out = results[3].left_out = {"in=9: needs 1 <= in <= 4"};
    return results;
}

}  // namespace

TEST_CASE("rows that had no time for all of their cases are told in one line") {
    const auto line_of = [](const std::vector<RowResult>& results) {
        const std::string text = summary_of(results);
        const std::size_t begin = text.find("time ran out");
        return begin == std::string::npos ? "" : text.substr(begin, text.find("20 cases") - begin);
    };
    std::vector<RowResult> results{result_of("plain", "repeatable", Verdict::passed)};
    CHECK(line_of(results) == "");
    results[0].cut_of = 1000;
    CHECK(line_of(results) ==
          "time ran out: 20 of 1000 cases of toy.forward/plain, repeatable on cpu\n");
    results.push_back(results[0]);
    results[0].cases = 19;
    CHECK(contains(summary_of(results),
                   "time ran out: 2 rows ran a part of their cases, the least 19 of 1000 cases of "
                   "toy.forward/plain,\n  repeatable on cpu\n"));
}

TEST_CASE("a kernel whose threads its cost model does not know of is told, where they cost cases") {
    std::vector<RowResult> results{result_of("plain", "repeatable", Verdict::passed),
                                   result_of("plain", "stays_in_bounds", Verdict::passed)};
    for (RowResult& result : results) {
        result.cases = 60;
        result.cut_of = 1000;
        result.crowding = {.threads = 65536.0, .expected = 12.0, .seconds = 0.8 * result.seconds};
    }
    results[1].cases = 50;
    CHECK(contains(summary_of(results),
                   "few cases: toy.forward/plain, stays_in_bounds on cpu ran 50 of 1000, since its "
                   "calls begin up to\n  65536 threads where their cost model says 12: begin fewer "
                   "for small problems, or say how many by\n  .costs\n"));
    results[0].cases = results[1].cases = 49;
    CHECK_FALSE(contains(summary_of(results), "few cases"));
    results[0].cases = results[1].cases = 60;
    results[0].crowding.seconds = results[1].crowding.seconds = 0.4 * results[0].seconds;
    CHECK_FALSE(contains(summary_of(results), "few cases"));
    results[1].crowding.seconds = results[1].seconds;
    results[1].cut_of = 0;
    CHECK_FALSE(contains(summary_of(results), "few cases"));
}

TEST_CASE("passed rows that did not get their cases are thin, and told in one line") {
    std::vector<RowResult> results(3, result_of("plain", "repeatable", Verdict::passed));
    for (RowResult& result : results) {
        result.cut_of = 1000;
        result.thin_of = 100;
    }
    results[0].thin_of = 0;
    results[2].cases = 19;
    const std::string text = summary_of(results);
    CHECK(contains(text,
                   "thin: 2 rows passed fewer cases than --at-least, the fewest 19 of 100 in "
                   "toy.forward/plain,\n  repeatable on cpu\n"));
    CHECK_FALSE(contains(text, "time ran out"));
    CHECK(are_well(results));
}

TEST_CASE("rows and kernels that time ran out before are counted, and not listed") {
    std::vector<RowResult> results{
        result_of("plain", "repeatable", Verdict::skipped, "time"),
        result_of("tree_reduction", "repeatable", Verdict::skipped, "time"),
        result_of("tree_reduction", "stays_in_bounds", Verdict::skipped, "time")};
    for (RowResult& result : results) result.cut_short = true;
    const std::string text = summary_of(results);
    CHECK(contains(text,
                   "skipped: the run ended before the first case of 3 rows\nnot verified: "
                   "toy.forward/plain and 1 other kernel had no case before the run ended\n"));
    CHECK_FALSE(are_well(results));
    results[2] = result_of("tree_reduction", "stays_in_bounds", Verdict::skipped, "no partner");
    CHECK(contains(summary_of(results),
                   "skipped: toy.forward/tree_reduction, stays_in_bounds on cpu: no partner\n"
                   "skipped: the run ended before the first case of 2 rows\n"
                   "not verified: toy.forward/tree_reduction has no passed row\n"
                   "not verified: toy.forward/plain had no case before the run ended\n"));
    results[1] = result_of("tree_reduction", "repeatable", Verdict::skipped, "no partner");
    CHECK(contains(summary_of(results),
                   "skipped: 2 rows of toy.forward/tree_reduction on cpu: no partner\n"
                   "skipped: the run ended"));
}

TEST_CASE("an interrupted run is summed up in one sentence, behind what is wrong") {
    const auto told = [](const std::vector<RowResult>& results) {
        return summarize_interrupted(records_of(results, "gradverify"), 6.4, 7);
    };
    std::vector<RowResult> results(2, result_of("plain", "repeatable", Verdict::passed));
    CHECK(told(results) ==
          "\ninterrupted after 6 s: 40 cases of 2 rows passed, none failed; go on "
          "with --seed 7\n");
    results.push_back(result_of("plain", "stays_in_bounds", Verdict::skipped, "interrupted"));
    results.back().cut_short = true;
    results.push_back(failure_of("plain", "stays_in_bounds", Outcome::failed("differs")));
    results.push_back(result_of("plain", "repeatable", Verdict::errored, "no memory"));
    CHECK(told(results) ==
          "\nFAILED toy.forward/plain on cpu: stays_in_bounds\n"
          "  gradverify repro 'v1:toy.forward/plain:stays_in_bounds:cpu:n=2,in=3:data=x[0]=1'\n"
          "errored: toy.forward/plain, repeatable on cpu: no memory\n"
          "interrupted after 6 s: 40 cases of 2 rows passed, 1 row failed, 1 row errored, 1 row "
          "had no case yet; go on with --seed 7\n");
}

TEST_CASE("a summary has a table for each device, what is not passed, and the counts") {
    CHECK(summary_of(mixed_results(), {"for another device: toy.grad_x/fast"}, 2.25) ==
          R"(
cases on cpu                matches     stays in    repeatable
                            finite      bounds
                            differences
toy.forward/plain           20          FAILED      -
toy.forward/tree_reduction  VACUOUS     ERRORED     skipped

cases on cuda      repeatable
toy.forward/plain  17/20

a/b: of b cases, a compared a value other than zero

skipped: toy.forward/tree_reduction, repeatable on cpu: time
refused: 2 of 20 problems by toy.forward/plain, repeatable on cuda
not run: toy.forward/tree_reduction on in=9: needs 1 <= in <= 4
not verified: toy.forward/tree_reduction has no passed row
not run, for another device: toy.grad_x/fast

FAILED toy.forward/plain on cpu: stays_in_bounds
  gradverify repro 'v1:toy.forward/plain:stays_in_bounds:cpu:n=2,in=3:data=x[0]=1'
vacuous: toy.forward/tree_reduction, matches_finite_differences on cpu: only zeros
errored: toy.forward/tree_reduction, stays_in_bounds on cpu: no memory
100 cases, median 16 multiply-adds, in 2.2 s
6 rows: 2 passed, 1 failed, 1 vacuous, 1 errored, 1 skipped
)");
}

TEST_CASE("what passed rows leave open is told of one kernel, and of many with -v") {
    std::vector<RowResult> results = mixed_results();
    const RowResult failed =
        std::exchange(results[1], result_of("plain", "stays_in_bounds", Verdict::passed));
    const auto told = [&](bool is_verbose) {
        return contains(summarize(properties, records_of(results, "gradverify"), {}, 1.0,
                                  {.is_verbose = is_verbose}),
                        "  toy.forward/plain on cpu           median 0.250  99 % 0.500  max 0.500");
    };
    CHECK(told(true));
    CHECK_FALSE(told(false));
    results.resize(2);
    CHECK(contains(summary_of(results),
                   "  toy.forward/plain on cpu  median 0.250  99 % 0.500  max 0.500\n"));
    // The errors of a kernel's passed cases say nothing where it fails.
    results[1] = failed;
    CHECK_FALSE(contains(summary_of(results), "median 0.250"));
}

TEST_CASE("a summary of many kernels is short, and ends with those that failed and how to replay") {
    for (const std::size_t kernels : {40, 1000}) {
        CAPTURE(kernels);
        const std::vector<RowRecord> records = rows_of_many(kernels);
        const std::string text = summarize(properties, records, {}, 1.0, {.table_width = 80});
        const auto lines = split(text, '\n');
        CHECK(lines.size() < 20);
        for (const std::size_t i : {kernels / 2, kernels / 2 + 1}) {
            const auto at =
                std::ranges::find(lines, "FAILED " + records[i].kernel + " on cpu: repeatable");
            REQUIRE(at < lines.end() - 1);
            CHECK(lines.end() - at < 8);
            CHECK(at[1].starts_with("  gradverify repro 'v1:toy.forward/plain:repeatable:cpu:"));
        }
        CHECK(contains(
            text,
            fmt::format("and {} kernels on cpu without a wrong row, which -v lists", kernels - 2)));
        CHECK(split(summarize(properties, records, {}, 1.0, {.is_verbose = true}), '\n').size() >
              kernels);
    }
    std::vector<RowRecord> records = rows_of_many(1000);
    for (RowRecord& record : records) {
        record.verdict = Verdict::failed;
        record.failure = rows_of_many(2)[1].failure;
    }
    for (std::size_t i = 0; i < 500; ++i) {
        records[i].verdict = Verdict::skipped;
        records[i].message = "no partner";
    }
    const std::string text = summarize(properties, records, {}, 1.0, {.table_width = 80});
    CHECK(split(text, '\n').size() <= 60);
    CHECK(contains(text, "skipped: and 497 more, which -v prints\n"));
    CHECK(contains(text, "and 488 more that are wrong, which -v lists\n"));
}

TEST_CASE("a quiet summary is what is wrong and the counts") {
    CHECK(summarize(properties, records_of(mixed_results(), "gradverify"), {}, 1.0,
                    {.is_quiet = true, .remarks = "stale: x\n"})
              .starts_with("stale: x\nFAILED toy.forward/plain on cpu: stays_in_bounds\n"));
}

TEST_CASE("rows of few cases look thin") {
    std::vector<RowResult> results(2, result_of("plain", "repeatable", Verdict::passed));
    results[1].row.property = property_called("stays_in_bounds");
    results[0].cases = results[0].passed = 9;
    CHECK(contains(summary_of(results), "toy.forward/plain  20          (9)\n\n(n): few cases\n"));
    results[1].thin_of = 100;
    CHECK(contains(summary_of(results), "toy.forward/plain  (20)        (9)\n"));
    results[0].exhaustive = ExhaustiveCover{.problems = 9, .compared = 9, .distance = 1};
    CHECK(contains(summary_of(results), "toy.forward/plain  (20)        9\n"));
}

TEST_CASE("a table that is wider than a terminal is cut into several") {
    CHECK(contains(summarize(properties, records_of(mixed_results(), "gradverify"), {}, 1.0,
                             {.table_width = 60}),
                   R"(
cases on cpu                matches     stays in
                            finite      bounds
                            differences
toy.forward/plain           20          FAILED
toy.forward/tree_reduction  VACUOUS     ERRORED

cases on cpu                repeatable
toy.forward/plain           -
toy.forward/tree_reduction  skipped

)"));
}

TEST_CASE("integers that wrap back are told once for each kernel and device") {
    std::vector<RowResult> results{result_of("plain", "stays_in_bounds", Verdict::passed),
                                   result_of("plain", "repeatable", Verdict::passed),
                                   result_of("plain", "repeatable", Verdict::passed, "", "cuda")};
    results[0].wrapping = {.cases = 3, .overflows = "int overflow at a.cu:1: 2 * 3"};
    results[1].wrapping = {.cases = 4, .overflows = "int overflow at a.cu:1: 5 * 6"};
    const std::string text = summary_of(results);
    CHECK(
        contains(text,
                 "\noverflow: toy.forward/plain on cpu, in 7 cases that passed, so it wraps back: "
                 "int overflow at\n  a.cu:1: 2 * 3\n"));
    CHECK_FALSE(contains(text, "5 * 6"));
}

TEST_CASE("a summary says how far exhaustive rows got, and how many had a value to compare") {
    std::vector<RowResult> results{result_of("plain", "stays_in_bounds", Verdict::passed),
                                   result_of("plain", "repeatable", Verdict::passed),
                                   result_of("tree_reduction", "repeatable", Verdict::passed),
                                   result_of("tree_reduction", "stays_in_bounds", Verdict::passed)};
    results[0].exhaustive = ExhaustiveCover{.problems = 1200, .compared = 1200, .distance = 4};
    results[1].exhaustive = ExhaustiveCover{.problems = 1200, .compared = 1100, .distance = 4};
    results[2].exhaustive = ExhaustiveCover{.problems = 7, .compared = 7, .distance = 2};
    results[3].exhaustive = ExhaustiveCover{.problems = 5, .compared = 5, .distance = 1};
    CHECK(contains(summary_of(results), R"(
every problem in order, with dense data
  toy.forward/plain on cpu           all 1,200 problems up to distance 4, at least 1,100 of them
                                     with a value other than zero
  toy.forward/tree_reduction on cpu  all 5 problems up to distance 1: stays_in_bounds
  toy.forward/tree_reduction on cpu  all 7 problems up to distance 2: repeatable

)"));
}

TEST_CASE("kernels that take a cotangent for contiguous are named in one line") {
    std::vector<RowResult> results{
        result_of("plain", "repeatable", Verdict::passed),
        result_of("tree_reduction", "repeatable", Verdict::passed, "", "cuda"),
        result_of("tree_reduction", "stays_in_bounds", Verdict::passed)};
    CHECK_FALSE(contains(summary_of(results), "contiguous"));
    for (RowResult& result : results) result.contiguous_alone = "dy";
    CHECK(contains(summary_of(results), R"(
only for contiguous dy: toy.forward/plain, toy.forward/tree_reduction; frameworks give sliced and
  expanded ones, too: declare .contiguous("dy"), or go by strides and declare .strided()
)"));
    for (RowResult& result : results) result.contiguous_alone = "dy, dz";
    CHECK(contains(summary_of(results), "only for contiguous dy, dz: "));
    CHECK(contains(summary_of(results), "declare .contiguous(), or"));
    CHECK(are_well(results));
}

TEST_CASE("a kernel is verified by a passed row on any device") {
    std::vector<RowResult> results{
        result_of("plain", "repeatable", Verdict::skipped, "time"),
        result_of("plain", "repeatable", Verdict::passed, "", "cuda"),
        result_of("tree_reduction", "repeatable", Verdict::skipped, "time")};
    CHECK(not_verified(records_of(results, "gradverify")) ==
          std::vector<std::string>{"toy.forward/tree_reduction"});
    CHECK_FALSE(are_well(results));
    results.push_back(result_of("tree_reduction", "stays_in_bounds", Verdict::passed));
    CHECK(not_verified(records_of(results, "gradverify")).empty());
    CHECK(are_well(results));
}

TEST_CASE("all is well only when nothing failed, was vacuous or errored") {
    for (const Verdict verdict :
         {Verdict::failed, Verdict::vacuous, Verdict::errored, Verdict::skipped})
        CHECK(are_well({result_of("plain", "repeatable", Verdict::passed),
                        result_of("plain", "stays_in_bounds", verdict)}) ==
              (verdict == Verdict::skipped));
}

TEST_CASE("what is known not to pass is accepted, and said") {
    RowResult known = failure_of("plain", "repeatable", Outcome::failed("differs"));
    known.known = true;
    CHECK(are_well({known}));
    CHECK_FALSE(are_well({known, failure_of("plain", "stays_in_bounds", Outcome::failed("no"))}));
    CHECK(count(records_of({known}, "gradverify")).of(Verdict::failed) == 1);
    CHECK(count(records_of({known}, "gradverify")).known == 1);
    const std::string text = summary_of({known});
    CHECK(contains(text, "known to be failed: toy.forward/plain, repeatable on cpu: differs\n"));
    CHECK(contains(text, "0 skipped, 1 of them known not to pass\n"));
}
