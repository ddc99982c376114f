// SPDX-License-Identifier: Apache-2.0
// What is counted of the problems that were run, and what is said to have been missed.
#include "harness/coverage.hpp"

#include <doctest/doctest.h>

#include "harness/missed.hpp"
#include "harness/test_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

const Kernel& plain() { return *registry_of_results().find_kernel("toy.forward/plain"); }

Coverage coverage_of(const std::vector<std::string>& problems, const Kernel& kernel = plain()) {
    Coverage coverage;
    for (const std::string& text : problems) coverage.add(Problem::parse(kernel.op->space, text));
    return coverage;
}

/// A kernel of `toy` with these constraints, in a registry of its own.
struct Declared {
    Registry registry;
    const Kernel* kernel;

    explicit Declared(const KernelDeclaration& declaration) {
        registry.add(toy_operator());
        registry.add(declaration);
        registry.check();
        kernel = registry.find_kernel("toy.forward/own");
    }
};

}  // namespace

TEST_CASE("values of each parameter are counted once, by rank") {
    const Coverage coverage =
        coverage_of({"in=3", "n=0,in=3", "in=3", "n=2,in=40", "n=2,in=3x1", "in=3x5"});
    CHECK(coverage.problems() == 5);
    REQUIRE(coverage.ranks().size() == 2);
    const RankCoverage& one = coverage.ranks().at(1);
    CHECK(one.slots()[0].values == std::set<std::int64_t>{0, 1, 2});
    CHECK(one.slots()[1].values == std::set<std::int64_t>{3, 40});
    CHECK(one.largest().print() == "n=2,in=40");
    CHECK(coverage.ranks().at(2).largest().print() == "n=2,in=3x5");
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

TEST_CASE("pairs are met where both parameters have left their defaults at once") {
    const Coverage apart = coverage_of({"n=2,in=1x1", "in=2x1", "in=1x2", "n=3,in=1x2"});
    const RankCoverage& met = apart.ranks().at(2);
    CHECK_FALSE(met.met_together(0, 1));
    CHECK(met.met_together(0, 2));
    CHECK(met.met_together(2, 0));
    const PairsCovered pairs = pairs_covered(plain(), apart);
    CHECK(pairs.met == 1);
    CHECK(pairs.of == 3);
    CHECK(pairs.missed == std::vector<std::string>{"n with in_h", "in_h with in_w"});
}

TEST_CASE("pairs of values are counted once, and large values as one") {
    CHECK(coverage_of({"n=2,in=3", "n=2,in=3", "n=3,in=3", "n=2,in=4"})
              .ranks()
              .at(1)
              .pairs_of_values() == 3);
    CHECK(coverage_of({"in=14", "in=15", "in=16", "in=400"}).ranks().at(1).pairs_of_values() == 2);
    CHECK(coverage_of({"n=2,in=3x4"}).ranks().at(2).pairs_of_values() == 3);
}

TEST_CASE("parameters that the declaration holds fixed, or equal, are in no pair") {
    const Declared fixed(toy_kernel("own").where("n", equals(1)));
    CHECK(free_slots(*fixed.kernel, 2) == std::vector{1, 2});
    const Declared alike(toy_kernel("own").where("in_w", same_as("n")));
    CHECK(free_slots(*alike.kernel, 2) == std::vector{0, 1});
    const Declared chain(toy_kernel("own").where("in_w", equals(1)).where("n", same_as("in_w")));
    CHECK(free_slots(*chain.kernel, 2) == std::vector{1});
    CHECK(free_slots(*chain.kernel, 1).empty());
    const Declared range(toy_kernel("own").where("n", between(1, 2)));
    CHECK(free_slots(*range.kernel, 2) == std::vector{0, 1, 2});
    CHECK(free_slots(*range.kernel, 1) == std::vector{0, 1});
}

TEST_CASE("a kernel says what it could have missed, by the row that covered least") {
    const Declared own(toy_kernel("own").where("n", between(1, 4)));
    RowResult wide, narrow, failed;
    wide.row = narrow.row = failed.row = {own.kernel, "matches_reference", "cpu"};
    wide.verdict = narrow.verdict = Verdict::passed;
    failed.verdict = Verdict::failed;
    narrow.coverage = coverage_of({"n=2,in=1", "in=9"}, *own.kernel);
    wide.coverage = coverage_of({"n=3,in=8", "in=11", "n=2,in=70"}, *own.kernel);
    wide.sensitivity = {{2.0, 4.0}, {1.5, 30.0}};
    narrow.sensitivity = {{1.75, 12.25}};
    CHECK(missed_lines({wide, narrow, failed}) ==
          R"(what the passed rows could have missed (each row's own: --json)
  toy.forward/own on cpu
      errors below 12.2 ulps (at best 1.5); ran 2 problems, 0 of 1 pairs (not n with in_w); only
      with 1 <= n <= 4, no empty tensors

)");
    CHECK(missed_lines({failed}).empty());
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
