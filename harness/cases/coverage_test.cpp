// SPDX-License-Identifier: Apache-2.0
// What is counted of a row's problems, and what is said to have been missed.
#include "harness/cases/coverage.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "harness/report/missed.hpp"
#include "harness/testing/results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

const Kernel& plain() { return *registry_of_results().find_kernel("toy.forward/plain"); }

Coverage coverage_of(const std::vector<std::string>& problems, const Kernel& kernel = plain()) {
    Coverage coverage;
    for (const std::string& text : problems)
        coverage.add(kernel, Problem::parse(kernel.op->space, text));
    return coverage;
}

}  // namespace

TEST_CASE("values of each parameter are counted once, by rank") {
    const Coverage coverage = coverage_of({"in=3", "n=0,in=3", "in=3", "n=2,in=63", "in=64",
                                           "in=400", "n=2,in=400", "n=2,in=3x1", "in=3x5"});
    CHECK(coverage.problems() == 8);
    REQUIRE(coverage.ranks().size() == 2);
    const auto told = [&](int rank) {
        std::string text;
        for (const SlotCoverage& slot : coverage.ranks().at(rank).slots())
            text +=
                fmt::format("{} from {} to {}; ", slot.values(), slot.smallest(), slot.largest());
        return text;
    };
    CHECK(told(1) == "3 from 0 to 2; 4 from 3 to 400; ");
    CHECK(told(2) == "2 from 1 to 2; 1 from 3 to 3; 2 from 1 to 5; ");
}

TEST_CASE("remainders are counted by each block size") {
    const Coverage coverage = coverage_of({"in=1", "in=3", "in=33", "in=8", "in=19"});
    const SlotCoverage& in = coverage.ranks().at(1).slots()[1];
    CHECK(in.remainders_of(32) == 4);  // 1, 3, 8, 19
    CHECK(in.remainders_of(16) == 3);  // 1, 3, 8
    CHECK(in.remainders_of(8) == 3);   // 1, 3, 0
    CHECK(in.remainders_of(4) == 3);   // 1, 3, 0
    CHECK(in.remainders_of(2) == 2);
    std::vector<std::string> all;
    for (int size = 1; size <= 32; ++size) all.push_back("in=" + std::to_string(size));
    const Coverage complete = coverage_of(all);
    for (const int block : block_sizes_of_interest)
        CHECK(complete.ranks().at(1).slots()[1].remainders_of(block) == block);
}

TEST_CASE("pairs of levels are held against those within reach, of every rank") {
    const Coverage met = coverage_of({"n=2,in=3", "n=3,in=2", "in=1", "n=2,in=70"});
    const auto reach = reach_of(plain(), {"n=2,in=2", "in=1", "n=2,in=1", "in=5x1"});
    const PairsCovered pairs = pairs_covered(met, *reach);
    CHECK(pairs.of == 6);
    CHECK(pairs.met == 2);
    CHECK(pairs.missed == std::vector<std::string>{"n 2 or 3 with in_w 1",
                                                   "n 1 with in_h 5, 9, 17 or 33",
                                                   "n 1 with in_w 1"});
}

TEST_CASE("a kernel says what it could have missed, by the row that covered least") {
    const Declared own(toy_kernel("own").where("n", between(1, 4)));
    const auto reach = reach_of(*own.kernel, {"n=2,in=1", "in=9", "n=2,in=8"});
    RowResult wide, narrow, failed;
    wide.row = narrow.row = failed.row =
        Row{own.kernel, property_called("matches_reference"), "cpu"};
    wide.verdict = narrow.verdict = Verdict::passed;
    failed.verdict = Verdict::failed;
    wide.within_reach = narrow.within_reach = reach;
    narrow.coverage = coverage_of({"n=2,in=1", "in=9"}, *own.kernel);
    wide.coverage = coverage_of({"n=3,in=8", "in=11", "n=2,in=70"}, *own.kernel);
    wide.sensitivity = {{2.0, 4.0}, {1.5, 30.0}};
    narrow.sensitivity = {{1.75, 12.25}};
    CHECK(missed_lines({wide, narrow, failed}) ==
          R"(what the passed rows could have missed (each row's own: --json)
  toy.forward/own on cpu
      errors below 12.2 ulps, or 1.5 in the most exact element; ran 2 problems, with 2 of 3
      combinations of two parameters' kinds of value (not n 2 or 3 with in_w 4, 8, 16 or 32); only
      with 1 <= n <= 4, no empty tensors

)");
    CHECK(missed_lines({failed}).empty());
    // Nothing to hold pairs against, as where the user's own problems were run.
    wide.within_reach = nullptr;
    CHECK(contains(missed_lines({wide}), "ran 3 problems, with every"));
}

TEST_CASE("errors are summed up by the median of the cases and the least of all") {
    CHECK_FALSE(summarize(std::span<const Sensitivity>()));
    const std::vector<Sensitivity> cases{{3.0, 9.0}, {0.5, 8.0}, {2.0, 100.0}};
    const auto ulps = summarize(cases);
    REQUIRE(ulps);
    CHECK(ulps->cases == 3);
    CHECK(ulps->least_ulps == 0.5);
    CHECK(ulps->median_ulps == 9.0);
}
