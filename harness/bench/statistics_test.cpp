// SPDX-License-Identifier: Apache-2.0
// What samples say, when two times differ, and on how many copies of its buffers a kernel is timed.
#include "harness/bench/statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/cases/measurement.hpp"

namespace {

using namespace gradverify;

/// Times around a centre, up to a share of it away, in no order.
std::vector<double> around(double centre, double share, std::size_t count, std::uint64_t seed) {
    SplitMix64 random(seed);
    std::vector<double> samples(count);
    for (double& sample : samples)
        sample = centre * (1.0 + share * (static_cast<double>(random.below(2001)) / 1000.0 - 1.0));
    return samples;
}

Difference verdict(const std::vector<double>& before, const std::vector<double>& after) {
    return difference_of(ratio_of_medians(before, after), std::min(before.size(), after.size()));
}

}  // namespace

TEST_CASE("a spread is the median and the quartiles, between samples where they fall there") {
    CHECK(spread_of(std::vector{5.0, 1.0, 4.0, 2.0, 30.0}) == Spread{4.0, 2.0, 5.0});
    CHECK(spread_of(std::vector{4.0, 3.0, 2.0, 1.0}) == Spread{2.5, 1.75, 3.25});
    CHECK(spread_of(std::vector{7.0}) == Spread{7.0, 7.0, 7.0});
    CHECK_THROWS_AS(spread_of({}), std::logic_error);
}

TEST_CASE("a ratio of medians lies in its interval, which narrows with the samples") {
    const Ratio few = ratio_of_medians(around(1.0, 0.1, 10, 1), around(2.0, 0.1, 10, 2));
    const Ratio many = ratio_of_medians(around(1.0, 0.1, 400, 1), around(2.0, 0.1, 400, 2));
    for (const Ratio& ratio : {few, many}) {
        CHECK(ratio.low < ratio.value);
        CHECK(ratio.value < ratio.high);
        CHECK(ratio.low > 1.7);
        CHECK(ratio.high < 2.4);
    }
    CHECK(many.high - many.low < 0.5 * (few.high - few.low));
    CHECK(ratio_of_medians(around(1.0, 0.1, 10, 1), around(2.0, 0.1, 10, 2)) == few);
    CHECK_THROWS_AS(ratio_of_medians({}, std::vector<double>{1.0}), std::logic_error);
}

TEST_CASE("an interval covers the true ratio about as often as it says") {
    int covered = 0;
    constexpr int runs = 200;
    for (std::uint64_t run = 0; run < runs; ++run) {
        const Ratio ratio =
            ratio_of_medians(around(1.0, 0.2, 30, 2 * run), around(1.5, 0.2, 30, 2 * run + 1));
        covered += ratio.low <= 1.5 && 1.5 <= ratio.high;
    }
    CHECK(covered >= runs * 90 / 100);
    CHECK(covered < runs);
}

TEST_CASE("times differ where the whole interval is beyond what two runs differ by anyway") {
    const auto before = around(1.0, 0.005, 50, 1);
    CHECK(verdict(before, around(0.9, 0.005, 50, 2)) == Difference::faster);
    CHECK(verdict(before, around(1.1, 0.005, 50, 2)) == Difference::slower);
    CHECK(verdict(before, around(1.0, 0.005, 50, 2)) == Difference::none);
    // One per cent is within what two runs differ by.
    CHECK(verdict(before, around(1.01, 0.005, 50, 2)) == Difference::none);
    CHECK(verdict(around(1.0, 0.4, 20, 1), around(1.02, 0.4, 20, 2)) == Difference::undecided);
    CHECK(verdict(before, around(2.0, 0.005, samples_to_compare - 1, 2)) == Difference::undecided);
    CHECK(verdict(before, around(2.0, 0.005, samples_to_compare, 2)) == Difference::slower);
}

TEST_CASE("copies of the buffers outgrow the cache, within half of the free memory") {
    const double scarce = 40e6, plenty = 100e9;
    struct Wanted {
        CopiesWanted of;
        std::int64_t copies;
        bool outgrows;
    };
    for (const auto& [of, copies, outgrows] : {
             Wanted{{300e6, 50e6, 300e6, plenty}, 1, true},
             {{3e6, 50e6, 3e6, plenty}, 34, true},
             {{1e3, 50e6, 3e6, plenty}, 1000, false},
             {{3e6, 50e6, 4e6, scarce}, 6, false},
             {{3e6, 50e6, 4e6, 0.0}, 1, false},
             {{0.0, 50e6, 512, scarce}, 1, false},
         }) {
        CHECK(buffer_copies(of) == copies);
        CHECK(outgrows_cache(of, copies) == outgrows);
    }
    CHECK(!outgrows_cache({3e6, 50e6, 3e6, plenty}, 33));
}

TEST_CASE("samples are as many as asked for, or as fit some time") {
    CHECK(wants_another_sample({.repetitions = 3}, 2, 1e9));
    CHECK(!wants_another_sample({.repetitions = 3}, 3, 0.0));
    CHECK(wants_another_sample({}, automatic_least - 1, 1e9));
    CHECK(!wants_another_sample({}, automatic_least, automatic_seconds));
    CHECK(wants_another_sample({}, automatic_most - 1, 0.5 * automatic_seconds));
    CHECK(!wants_another_sample({}, automatic_most, 0.0));
}
