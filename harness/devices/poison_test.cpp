// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/poison.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "harness/numbers/element_bits.hpp"

using namespace gradverify;

TEST_CASE("poison and guards of a floating type are NaNs that differ, and numbers") {
    const struct {
        DType dtype;
        std::uint64_t poison, guard;
    } rows[] = {
        {DType::f8e4m3, 0x7f, 0xff},          {DType::f8e5m2, 0x7d, 0xfd},
        {DType::f16, 0x7ed1, 0x7ea5},         {DType::bf16, 0x7fd1, 0x7fe5},
        {DType::f32, 0x7fc0d1ed, 0x7fc0a5a5}, {DType::f64, 0x7ff8d1edd1edd1ed, 0x7ff8a5a5a5a5a5a5},
    };
    for (const auto& row : rows) {
        const DTypeTraits type = traits_of(row.dtype);
        CAPTURE(type.name);
        const auto value = [&](std::uint64_t bits) { return number_of(row.dtype, bits); };
        CHECK(poison_bits(row.dtype, Poison::nan) == row.poison);
        CHECK(guard_bits(row.dtype, true) == row.guard);
        CHECK(std::isnan(value(row.poison)));
        CHECK(std::isnan(value(row.guard)));
        CHECK(std::abs(value(guard_bits(row.dtype, false)) - 0.71875) <= type.unit_roundoff);
        // Two of them can be added without an overflow, not three.
        const double huge = 0.75 * std::exp2(std::ilogb(type.largest));
        CHECK(value(poison_bits(row.dtype, Poison::positive_huge)) == huge);
        CHECK(value(poison_bits(row.dtype, Poison::negative_huge)) == -huge);
        CHECK(value(poison_bits(row.dtype, Poison::plausible)) == 0.625);
    }
}

TEST_CASE("poison of scales is their NaN, and powers of two near both ends") {
    const auto value = [](Poison poison) {
        return number_of(DType::f8e8m0, poison_bits(DType::f8e8m0, poison));
    };
    CHECK(std::isnan(value(Poison::nan)));
    CHECK(value(Poison::positive_huge) == 0x1p+125);
    CHECK(value(Poison::negative_huge) == 0x1p-125);
    CHECK(value(Poison::plausible) == 0.5);
    CHECK(std::isnan(number_of(DType::f8e8m0, guard_bits(DType::f8e8m0, true))));
    CHECK(number_of(DType::f8e8m0, guard_bits(DType::f8e8m0, false)) == 0.5);
}

TEST_CASE("poison and guards of an integer type are indices far outside of any tensor") {
    CHECK(poison_value(DType::i32, Poison::nan) == 0x7a7a7a7a);
    for (const DType dtype : {DType::i32, DType::i64}) {
        const auto value = [&](std::uint64_t bits) {
            return static_cast<std::int64_t>(number_of(dtype, bits));
        };
        CHECK(value(poison_bits(dtype, Poison::nan)) == 0x7a7a7a7a);
        CHECK(value(poison_bits(dtype, Poison::positive_huge)) == 0x5b5b5b5b);
        CHECK(value(poison_bits(dtype, Poison::negative_huge)) == -0x7a7a7a7a);
        CHECK(value(poison_bits(dtype, Poison::plausible)) == 1);
        CHECK(value(guard_bits(dtype, true)) == 0x7a7a7a7a);
        CHECK(value(guard_bits(dtype, false)) == -0x7a7a7a7a);
    }
}
