// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/distribution.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace {

using gradverify::Distribution;

constexpr double infinity = std::numeric_limits<double>::infinity();

Distribution of(std::initializer_list<double> values) {
    Distribution distribution;
    for (const double value : values) distribution.add(value);
    return distribution;
}

}  // namespace

TEST_CASE("a quantile is the value at this share, whatever the order") {
    CHECK(Distribution().quantile(0.5) == 0.0);
    CHECK(of({8.0}).quantile(0.99) == 8.0);
    for (const auto& [share, value] :
         {std::pair(0.0, 0.0), {0.25, 0.5}, {0.5, 1.0}, {0.75, 2.0}, {1.0, infinity}})
        CHECK(of({infinity, 2.0, 0.0, 1.0, 0.5}).quantile(share) == value);
}

TEST_CASE("a quantile is at most 2.2 % below the value") {
    for (double value = 1e-30; value < 1e30; value *= 1.37) {
        const double told = of({value}).quantile(0.5);
        CHECK(told <= value * (1 + 1e-12));
        CHECK(told > 0.978 * value);
    }
}

TEST_CASE("distributions add up to that of all values, and have no place for a NaN") {
    Distribution sum = of({1.0, 0.0, infinity});
    sum.add(of({3.0, 1.0, 0.0, infinity, std::nan("")}));
    CHECK(sum.count() == 7);
    CHECK(sum.zeros() == 2);
    CHECK(sum.infinite() == 2);
    CHECK(sum.bins() == of({1.0, 1.0, 3.0}).bins());
}
