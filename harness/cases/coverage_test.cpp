// SPDX-License-Identifier: Apache-2.0
// What is counted of a row's problems, and what is said to have been missed.
#include "harness/cases/coverage.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>

#include "harness/base/random.hpp"
#include "harness/report/text/missed.hpp"
#include "harness/testing/made_results.hpp"

using namespace gradverify;
using namespace gradverify::testing;

static const Kernel& plain() { return *registry_of_results().find_kernel("toy.forward/plain"); }

static Coverage coverage_of(const std::vector<std::string>& problems,
                            const Kernel& kernel = plain()) {
    Coverage coverage;
    for (const std::string& text : problems)
        coverage.add(kernel, Problem::parse(kernel.op->space, text));
    return coverage;
}

static std::string missed(const std::vector<RowResult>& results) {
    return missed_lines(records_of(results, "gradverify"));
}

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
    for (const Sensitivity& one : {Sensitivity{2.0, 4.0}, {1.5, 32.0}}) wide.sensitivity.add(one);
    narrow.sensitivity.add({1.75, 16.0});
    for (const double value : {-2.5, 0.0, double(INFINITY), 1.2e-38}) narrow.values.add(value);
    wide.values.add(3.4e33);
    CHECK(missed({wide, narrow, failed}) ==
          R"(what the passed rows could have missed (each row's own: --json)
  toy.forward/own on cpu
      errors below 16 ulps, or 1.5 in the most exact element; ran 2 problems, with 2 of 3
      combinations of two parameters' kinds of value (not n 2 or 3 with in_w 4, 8, 16 or 32);
      largest n x in_w: 1 x 9; values from 1.2e-38 to 3.4e+33; only with 1 <= n <= 4, no empty
      tensors

)");
    CHECK(missed({failed}).empty());
    // Nothing to hold pairs against, as where the user's own problems were run.
    wide.within_reach = nullptr;
    CHECK(contains(missed({wide}), "ran 3 problems, with every"));
}

TEST_CASE("the largest two free parameters of one problem are told, of any rank") {
    Coverage coverage = coverage_of({"n=3,in=8", "in=9000", "n=60,in=40", "n=2,in=3x5"});
    const auto said = [&] {
        RowResult row;
        row.row = Row{&plain(), property_called("matches_reference"), "cpu"};
        row.verdict = Verdict::passed;
        row.coverage = coverage;
        return missed({row});
    };
    CHECK(contains(said(), "; largest n x in_w: 60 x 40"));
    coverage.add(coverage_of({"in=70x90", "n=1100,in=3x1"}));
    CHECK(contains(said(), "; largest in_h x in_w: 70 x 90"));
}

TEST_CASE("errors are summed up by the median of the cases and the least of all") {
    SensitivityOfCases ulps, other;
    CHECK(ulps.cases() == 0);
    ulps.add(Sensitivity{3.0, 8.0});
    other.add(Sensitivity{0.5, 4.0});
    other.add(Sensitivity{2.0, 128.0});
    ulps.add(other);
    CHECK(ulps.cases() == 3);
    CHECK(ulps.least_ulps == 0.5);
    CHECK(ulps.median_ulps() == 8.0);
}

TEST_CASE("coverage of several runs adds up to that of all problems") {
    const std::vector<std::string> all{"in=3",   "n=0,in=3",   "n=2,in=63", "in=64",
                                       "in=400", "n=2,in=3x1", "in=3x5"};
    const Coverage whole = coverage_of(all);
    Coverage sum = coverage_of({all.begin(), all.begin() + 4});
    sum.add(coverage_of({all.begin() + 2, all.end()}));
    CHECK(sum.problems() == whole.problems());
    REQUIRE(sum.ranks().size() == whole.ranks().size());
    for (const auto& [rank, met] : whole.ranks()) {
        const RankCoverage& added = sum.ranks().at(rank);
        CHECK(added.pairs().bits() == met.pairs().bits());
        CHECK(added.pairs().count() == met.pairs().count());
        for (std::size_t i = 0; i < met.slots().size(); ++i) {
            CHECK(added.slots()[i].values() == met.slots()[i].values());
            CHECK(added.slots()[i].smallest() == met.slots()[i].smallest());
            CHECK(added.slots()[i].largest() == met.slots()[i].largest());
            CHECK(added.slots()[i].remainders_of(32) == met.slots()[i].remainders_of(32));
        }
    }
}

TEST_CASE("different hashes are counted exactly up to a thousand, and within a tenth above") {
    for (const int different : {0, 1, 1000, 5000, 200000}) {
        DistinctCount count, twice, even, odd;
        SplitMix64 random(7);
        for (int i = 0; i < different; ++i) {
            const std::uint64_t hash = random.next();
            count.add(hash);
            twice.add(hash);
            twice.add(hash);
            (i % 2 == 0 ? even : odd).add(hash);
        }
        for (const std::uint64_t hash : odd.smallest()) even.add(hash);
        CHECK(std::abs(count.count() - different) <= (different > 1000 ? different / 10 : 0));
        CHECK(twice.count() == count.count());
        CHECK(even.count() == count.count());
    }
}
