// SPDX-License-Identifier: Apache-2.0
// The values that a parameter is drawn at: small ones, large ones, and the ends of its range.
#include "properties/problems/value_levels.hpp"

#include <doctest/doctest.h>

#include <map>

#include "properties/tests/test_operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;
using Role = ClassLevels::Role;

ClassLevels levels_for(const KernelDeclaration& kernel, std::string_view slot) {
    const Supported supported(kernel);
    const RankDomain& domain = supported.domain();
    return levels_of(supported.op.space, domain, domain.index_of(supported.of(slot).slots.front()));
}

std::map<std::int64_t, int> drawn(const ClassLevels& levels, std::int64_t unit = 1,
                                  bool generous = false) {
    SplitMix64 random(7);
    std::map<std::int64_t, int> counts;
    for (int i = 0; i < 20'000; ++i) ++counts[small_value(levels, unit, generous, random)];
    return counts;
}

}  // namespace

TEST_CASE("roles, axes and weights follow from a parameter's kind and relations") {
    const KernelDeclaration kernel = test_kernel().with_empty_problems();
    struct Expected {
        const char* slot;
        Role role;
        int axis, weight;
        bool takes_zero;
    };
    for (const Expected& one : {Expected{"n", Role::scalar, -1, 6, true},
                                {"c", Role::multiple, -1, 3, false},
                                {"groups", Role::divisor, -1, 1, false},
                                {"in_w", Role::size, 1, 3, false},
                                {"filter_h", Role::geometry, 0, 1, false},
                                {"padding_left_w", Role::padding, 1, 1, false}}) {
        CAPTURE(std::string(one.slot));
        const ClassLevels levels = levels_for(kernel, one.slot);
        CHECK(levels.role == one.role);
        CHECK(levels.axis == one.axis);
        CHECK(levels.large_weight == one.weight);
        CHECK(levels.takes_zero == one.takes_zero);
        CHECK_FALSE(levels.is_bounded);
    }
    CHECK_FALSE(levels_for(test_kernel(), "n").takes_zero);
    CHECK(levels_for(test_kernel().where("in", same_as("filter_w")), "in_h").axis == -1);
    CHECK(levels_for(test_kernel().where("in_h", same_as("filter_h")), "in_h").axis == 0);
}

TEST_CASE("large values are lengths at which code paths change, rounded to what is allowed") {
    using Values = std::vector<std::int64_t>;
    CHECK(levels_for(test_kernel(), "in_h").large ==
          Values{15,  16,  17,  31,  32,  33,  63,  64,  65,   127,  128, 129,
                 255, 256, 257, 511, 512, 513, 768, 769, 1023, 1024, 1025});
    const ClassLevels n = levels_for(test_kernel(), "n");
    CHECK(n.large.size() == 25);
    CHECK(n.large.back() == 65536);
    CHECK(n.beyond_grid == 65536);
    CHECK(levels_for(test_kernel(), "c").beyond_grid == 65536);
    // A divisor is no count.
    CHECK_FALSE(levels_for(test_kernel(), "groups").beyond_grid.has_value());
    // Neighbours of a power of two.
    for (const std::int64_t length : {4095, 4096, 4097, 65537, 262143})
        CHECK(std::ranges::count(n.longest, length) == 1);
    CHECK_FALSE(levels_for(test_kernel().where("n", between(1, 65535)), "n").beyond_grid);
    // From seven steps above the smallest on, each once; the upper end of a range too.
    CHECK(levels_for(test_kernel().where("n", multiple_of(4)).where("n", between(1, 70)), "n")
              .large == Values{36, 60, 64, 68});
    CHECK(levels_for(test_kernel().where("n", between(8, 20)), "n").large == Values{16, 17, 20});
    CHECK(levels_for(test_kernel().where("n", between(9, 17)), "n").large == Values{17});
    const ClassLevels none = levels_for(test_kernel().where("n", between(10, 17)), "n");
    CHECK(none.large.empty());
    CHECK(none.large_weight == 0);
}

TEST_CASE("a range of up to 1024 is drawn to its end, and a few of up to 64 steps") {
    CHECK(levels_for(test_kernel().where("n", between(1, 1024)), "n").is_bounded);
    CHECK_FALSE(levels_for(test_kernel().where("n", between(1, 1025)), "n").is_bounded);
    const auto counts =
        drawn({.role = Role::scalar, .is_bounded = true, .smallest = 3, .highest = 1000}, 5);
    CHECK(counts.begin()->first == 3);
    CHECK(counts.rbegin()->first == 1000);
    CHECK(counts.rbegin()->second > 20'000 / 10);
    CHECK(counts.rbegin()->second < 20'000 / 6);
    CHECK(std::next(counts.rbegin())->first == 3 + 63 * 5);
    CHECK(counts.size() == 64 + 1);
    // Each of four values comes often, and nothing beyond.
    const auto four = drawn({.role = Role::size, .is_bounded = true, .smallest = 2, .highest = 5});
    CHECK(four.size() == 4);
    for (const auto& [value, count] : four) CHECK(count > 2000);
}
