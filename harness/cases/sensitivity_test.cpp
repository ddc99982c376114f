// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/sensitivity.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace gradverify;

static Expected expect(std::vector<double> values, std::vector<Bound> bounds) {
    const auto count = static_cast<std::int64_t>(values.size());
    return {
        .tensor = "y", .sizes = {count}, .values = std::move(values), .bounds = std::move(bounds)};
}

static Sensitivity of(const std::vector<Expected>& outputs, DType type = DType::f32) {
    const auto found = sensitivity_of(outputs, std::vector(outputs.size(), Rounding::of(type)));
    REQUIRE(found);
    return *found;
}

TEST_CASE("a bound is measured in ulps of the value that it belongs to") {
    // The gap between neighbours from 1 on, and from 4 on.
    const double at_1 = std::nextafter(1.0F, 2.0F) - 1.0F, at_4 = std::nextafter(4.0F, 8.0F) - 4.0F;
    CHECK(of({expect({1.0}, {at_1})}).median_ulps == 1.0);
    CHECK(of({expect({-1.9}, {3 * at_1})}).median_ulps == 3.0);
    CHECK(of({expect({4.0}, {at_4})}).median_ulps == 1.0);
    CHECK(of({expect({7.9}, {at_1})}).median_ulps == at_1 / at_4);
    CHECK(of({expect({1.0}, {at_1})}, DType::f64).median_ulps == 0x1p29);
    CHECK(of({expect({0x1p-140}, {0x1p-149})}).median_ulps == 1.0);
    CHECK(of({expect({1.5}, {0x1p-10})}, DType::f16).median_ulps == 1.0);
    CHECK(of({expect({0x1p-20}, {0x1p-24})}, DType::f16).median_ulps == 1.0);
    CHECK(of({expect({-6.0}, {0x1p-5})}, DType::bf16).median_ulps == 1.0);
    CHECK(of({expect({-6.0}, {0.0})}, DType::i32).median_ulps == 0.0);
    CHECK(of({expect({100.0}, {2.0})}, DType::i32).median_ulps == 2.0);
    const std::vector both{expect({1.0}, {0x1p-10}), expect({1.0}, {0x1p-23})};
    const std::vector types{Rounding::of(DType::f16), Rounding::of(DType::f32)};
    CHECK(sensitivity_of(both, types)->least_ulps == 1.0);
    CHECK(sensitivity_of(both, types)->median_ulps == 1.0);
}

TEST_CASE("the tightest and the median element speak for a case, over all its outputs") {
    const double ulp = 0x1p-23;
    const Sensitivity three =
        of({expect({1.0, 1.0}, {7 * ulp, 2 * ulp}), expect({1.0}, {5 * ulp})});
    CHECK(three.least_ulps == 2.0);
    CHECK(three.median_ulps == 5.0);
    const Sensitivity even = of({expect({1.0, 1.0}, {9 * ulp, 4 * ulp})});
    CHECK(even.median_ulps == 4.0);
    CHECK(even.least_ulps == 4.0);
}

TEST_CASE("zeros have no ulp, and no bound sees everything") {
    CHECK_FALSE(sensitivity_of({}, {}));
    CHECK_FALSE(sensitivity_of(std::vector{expect({0.0}, {1.0})}, std::vector{Rounding{}}));
    CHECK(of({expect({0.0, 2.0}, {})}).median_ulps == 0.0);
    CHECK(of({expect({2.0}, {INFINITY})}).median_ulps == INFINITY);
    const Sensitivity open = of({expect({2.0, NAN, 1.0}, {Bound::none(), Bound::none(), 0x1p-23})});
    CHECK_FALSE(sensitivity_of(std::vector{expect({NAN, -INFINITY}, {})}, std::vector{Rounding{}}));
    CHECK(open.least_ulps == 1.0);
    CHECK(open.median_ulps == INFINITY);
}
