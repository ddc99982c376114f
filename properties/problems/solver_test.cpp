// SPDX-License-Identifier: Apache-2.0
// Constraints become domains that hold exactly the problems that satisfy them.
#include "properties/problems/solver.hpp"

#include <doctest/doctest.h>

#include "properties/problems/value_range.hpp"
#include "properties/tests/operator.hpp"

using namespace gradverify;
using namespace gradverify::testing;

TEST_CASE("slots that must be equal become one class, slot by slot") {
    const Supported supported;
    CHECK(supported.domain().classes.size() == 14);
    CHECK(supported.of("padding_left_h").slots.size() == 2);
    CHECK(&supported.of("padding_left_h") == &supported.of("padding_right_h"));
    CHECK(&supported.of("padding_left_h") != &supported.of("padding_left_w"));
}

TEST_CASE("equalities, ranges and multiples are solved, and narrow each other") {
    struct Line {
        KernelDeclaration kernel;
        const char* slot;
        std::size_t slots;
        std::int64_t lowest, highest, step;
    };
    constexpr std::int64_t most = ParameterSpec{}.maximum;
    const KernelDeclaration equal = test_kernel()
                                        .where("filter_w", same_as("stride_w"))
                                        .where("stride", same_as("dilation"))
                                        .where("dilation_h", same_as("dilation_w"));
    const KernelDeclaration plain = plain_kernel()
                                        .where("n", between(3, 30))
                                        .where("n", multiple_of(4))
                                        .where("n", multiple_of(6));
    const KernelDeclaration ranges =
        test_kernel().where("c", between(5, 12)).where("groups", between(4, 100));
    const KernelDeclaration fixed =
        test_kernel().where("groups", equals(6)).where("c", multiple_of(4));
    const KernelDeclaration empty = test_kernel().with_empty_problems();
    for (const Line& line : {Line{equal, "filter_w", 5, 1, most, 1},
                             {equal, "filter_h", 1, 1, most, 1},
                             {plain, "stride_h", 1, 1, 1, 1},
                             {plain, "n", 1, 12, 24, 12},
                             {plain, "groups", 1, 1, 1, 1},
                             {ranges, "groups", 1, 4, 12, 1},
                             {ranges, "k", 1, 4, most, 1},
                             {fixed, "c", 1, 12, most / 12 * 12, 12},
                             {fixed, "k", 1, 6, most / 6 * 6, 6},
                             // A size of zero is for kernels that are given empty problems.
                             {test_kernel(), "n", 1, 1, most, 1},
                             {empty, "n", 1, 0, most, 1},
                             {test_kernel(), "padding_left_h", 2, 0, most, 1}}) {
        CAPTURE(std::string(line.slot));
        const Supported supported(line.kernel);
        const SlotClass& one = supported.of(line.slot);
        CHECK(one.slots.size() == line.slots);
        CHECK(one.lowest == line.lowest);
        CHECK(one.highest == line.highest);
        CHECK(one.step == line.step);
        CHECK(one.smallest == std::max(line.lowest, std::int64_t{line.slots == 2 ? 0 : 1}));
        CHECK(one.is_fixed() == (line.lowest == line.highest));
    }
}

TEST_CASE("two parameters that are multiples of each other are one") {
    const Supported supported(test_kernel().where("groups", multiple_of("c")));
    CHECK(&supported.of("groups") == &supported.of("c"));
    CHECK(&supported.of("groups") != &supported.of("k"));
    CHECK(supported.of("k").divisors.size() == 1);
    const Supported circle(test_kernel()
                               .where("stride_h", multiple_of("in_w"))
                               .where("in_w", multiple_of("dilation_w"))
                               .where("dilation_w", multiple_of("stride_h")));
    CHECK(circle.of("in_w").slots.size() == 3);
}

TEST_CASE("a problem is supported exactly if constraints, predicates and emptiness allow it") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("stride_h", same_as("stride_w")).only_if("n is not 3", [](const Problem& p) {
        return p.scalar("n") != 3;
    });
    const Supported supported(kernel), with_empty(kernel.with_empty_problems());
    struct Line {
        const char* problem;
        bool is_supported, is_with_empty;
    };
    for (const Line& line : {Line{"c=4,k=6,groups=2,in=5x4,stride=2", true, true},
                             {"c=4,k=5,groups=2,in=5x4", false, false},
                             {"in=5x4,stride=2x1", false, false},
                             {"in=5x4,padding=1+0x0", false, false},
                             {"n=3,in=5x4", false, false},
                             {"n=0,in=5x4", false, true},
                             {"in=5x4,filter=6x1", false, true}}) {
        CAPTURE(line.problem);
        CHECK(supported.problems.contains(supported.parse(line.problem)) == line.is_supported);
        CHECK(with_empty.problems.contains(with_empty.parse(line.problem)) == line.is_with_empty);
    }
}

TEST_CASE("what the operator calls invalid is not supported") {
    Operator op = make_test_operator();
    op.why_invalid = [](const Problem& p) -> std::optional<std::string> {
        if (p.on_axis("filter", 0) > p.on_axis("in", 0)) return "the filter is too high";
        return std::nullopt;
    };
    const Supported supported(test_kernel(), op);
    CHECK(supported.problems.contains(supported.parse("in=3x3,filter=3x3")));
    CHECK_FALSE(supported.problems.contains(supported.parse("in=3x3,filter=4x3,padding=1")));
}

TEST_CASE("membership agrees with the constraints on every small problem") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("n", multiple_of(2)).where("c", between(2, 4)).where("k", same_as("in_w"));
    const Supported supported(kernel);
    int inside = 0;
    for (int i = 0; i < 4 * 5 * 5 * 5 * 4; ++i) {
        Problem problem(test_operator().space, 2);
        problem[0] = i % 4 + 1, problem[1] = i / 4 % 5 + 1, problem[2] = i / 20 % 5 + 1;
        problem[3] = i / 100 % 5 + 1, problem[5] = i / 500 % 4 + 1;
        const bool expected = first_violated(kernel.constraints, problem) == nullptr &&
                              first_violated(test_operator().constraints, problem) == nullptr;
        CHECK(supported.problems.satisfies_constraints(problem) == expected);
        inside += expected;
    }
    CHECK(inside > 20);
}

TEST_CASE("rounding to multiples does not overflow, and a common multiple saturates") {
    constexpr std::int64_t most = std::int64_t{1} << 41;
    CHECK(least_common_multiple(4, 6) == 12);
    CHECK(least_common_multiple(most / 2, 3) == most);
    // The largest that does not saturate, and the first that does.
    CHECK(least_common_multiple(733007751850, 3) == 2199023255550);
    CHECK(least_common_multiple(733007751851, 3) == most);
    CHECK(least_common_multiple(6, 4) == 12);
    CHECK(round_up(9, 4) == 12);
    CHECK(round_up(12, 4) == 12);
    CHECK(round_down(11, 4) == 8);
    CHECK(round_down(12, 4) == 12);
    for (const auto& [target, nearest] : {std::pair{14, 10}, {15, 10}, {16, 20}})
        CHECK(nearest_in({0, 100, 10}, target) == nearest);
    CHECK(nearest_in({10, 20, 10}, -5) == 10);
    CHECK(nearest_in({10, 20, 10}, 99) == 20);
}
