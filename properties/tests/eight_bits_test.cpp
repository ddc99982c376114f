// SPDX-License-Identifier: Apache-2.0
// Kernels of 8-bit floats that take a format for another, sum in less than float or round wrongly:
// each is killed by the property that claims it and shrunk to the smallest problem known for it.
// And what is right beyond the largest number.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "harness/registry/element_types.hpp"
#include "properties/data/values.hpp"
#include "properties/properties.hpp"
#include "properties/suite/suite.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

TEST_CASE("a kernel that is wrong on floats of 8 bits is killed where it is smallest") {
    hunt_down_all(eight_bit_bugs, {.cases_maximum = 400});
}

TEST_CASE("a result beyond the largest number may be anything, and one below it may not") {
    const KernelSuite suite(Registry::instance());
    const auto verdict = [&](const std::string& kernel, const std::string& data) {
        return suite
            .run("v1:conv.forward/" + kernel + ":within_rounding_bound:cpu:in=1x1:data=" + data)
            .verdict;
    };
    CHECK(verdict("right_f8_nan", "x[0]=20,w[0]=30") == Verdict::vacuous);
    CHECK(verdict("right_f8_nan", "x[0]=20,w[0]=22") == Verdict::passed);
    // CUDA's conversion saturates: 448 for 600. Who says so is held to it.
    CHECK(verdict("direct_f8_all", "x[0]=20,w[0]=30") == Verdict::passed);
    CHECK(verdict("direct_f8_all", "x[0]=20,w[0]=-30") == Verdict::passed);
    CHECK(verdict("direct_f8_all", "x[0]=20,w[0]=22") == Verdict::passed);
    CHECK(verdict("bug_f8_nan_beyond", "x[0]=20,w[0]=30") == Verdict::failed);
    CHECK(verdict("bug_f8_nan_beyond", "x[0]=20,w[0]=22") == Verdict::passed);
    CHECK(verdict("bug_f8_largest_is_nan", "x[0]=20,w[0]=30") == Verdict::passed);
    CHECK(verdict("bug_f8_largest_is_nan", "x[0]=448,w[0]=1") == Verdict::failed);
    // A float has room for it.
    CHECK(verdict("direct_f8", "x[0]=20,w[0]=30") == Verdict::passed);
    CHECK(verdict("bug_f8_saturates_sums", "x[0]=20,w[0]=30") == Verdict::failed);
    CHECK(verdict("bug_f8_saturates_sums", "x[0]=20,w[0]=22") == Verdict::passed);
    CHECK_THROWS_WITH_AS(verdict("direct_f8", "x[0]=500,w[0]=1"),
                         "data: x[0] is beyond the largest f8e4m3", std::invalid_argument);
}

TEST_CASE("a sum of integers that 8 bits do not hold is rounded once, and no alarm") {
    const KernelSuite suite(Registry::instance());
    for (const char* property : {"matches_reference", "within_rounding_bound", "adjoint_identity",
                                 "matches_finite_differences", "repeatable", "stays_in_bounds"})
        for (int seed = 0; seed < 60; ++seed) {
            const Outcome outcome =
                suite.run("v1:conv.grad_bias/right_f8_sums:" + std::string(property) +
                          ":cpu:n=27,in=10x20:seed=" + std::to_string(seed));
            CAPTURE(property);
            CAPTURE(seed);
            CHECK(outcome.verdict != Verdict::failed);
            CHECK(outcome.verdict != Verdict::errored);
        }
}

TEST_CASE("a conversion that gives NaN for what is too large is no alarm") {
    const KernelSuite suite(Registry::instance());
    // All of x alike: dx is some 316 * 2 and its opposite.
    for (const char* property :
         {"within_rounding_bound", "stays_in_bounds", "repeatable", "matches_finite_differences"}) {
        CAPTURE(property);
        const Outcome outcome =
            suite.run("v1:layer_norm.backward/right_f8_dx_nan:" + std::string(property) +
                      ":cpu:rows=1,width=2:data=dy[0]=4,gamma[0]=1");
        CAPTURE(outcome.message);
        CHECK(outcome.verdict != Verdict::failed);
        CHECK(outcome.verdict != Verdict::errored);
    }
    // A direction that leaves the NaN aside.
    CHECK(suite
              .run("v1:layer_norm.backward/right_f8_dx_nan:matches_finite_differences:cpu:"
                   "rows=4,width=7:dense=2")
              .verdict == Verdict::passed);
}

TEST_CASE("an infinite result of 8 bits is the largest number where the kernel says so") {
    const KernelSuite suite(Registry::instance());
    for (const std::string property : {"matches_reference", "within_rounding_bound"}) {
        CAPTURE(property);
        const auto verdict = [&](const std::string& kernel) {
            return suite
                .run("v1:relu.forward/" + kernel + ":" + property + ":cpu:n=6:data=x[2]=3,x[4]=inf")
                .verdict;
        };
        for (const char* right : {"right_f8_inf_lost", "right_f8_inf_kept", "right_f8_saturates"})
            CHECK(verdict(right) == Verdict::passed);
        CHECK(verdict("bug_f8_inf_kept") == Verdict::failed);
    }
}

TEST_CASE("a sum beyond what it is computed in is without a bound, saturated or not") {
    // 448 * 448 is infinite in half, and its difference from itself is NaN.
    const Outcome outcome = KernelSuite(Registry::instance())
                                .run(
                                    "v1:conv.forward/right_f8_sums_in_half:within_rounding_bound:"
                                    "cpu:c=2,in=1x1:data=x[0]=448,x[1]=448,w[0]=448,w[1]=-448");
    CAPTURE(outcome.message);
    CHECK(outcome.verdict == Verdict::vacuous);
}

TEST_CASE("a derivative that is stored as 0 is as far off as it is large, and no alarm") {
    const KernelSuite suite(Registry::instance());
    const std::string row =
        "v1:layer_norm.backward/right_f8_dx:matches_finite_differences:cpu:rows=1,width=2:data=";
    for (const char* data : {"dy[0]=1,x[0]=1,gamma[0]=1", "dy[0]=1.5,x[0]=1,gamma[0]=1",
                             "dy[0]=1,x[0]=2,gamma[0]=0.25", "dy[0]=1,x[1]=3,gamma[0]=1"}) {
        const Outcome outcome = suite.run(row + data);
        CAPTURE(data);
        CHECK(outcome.verdict != Verdict::failed);
        CHECK(outcome.verdict != Verdict::errored);
    }
}

TEST_CASE("integers of 8-bit factors add up to what a float holds, where sums are floats") {
    const KernelSuite suite(Registry::instance());
    const Registry& registry = Registry::instance();
    const Row row{registry.find_kernel("conv.grad_weight/direct_f8"),
                  find_property("matches_reference"), "cpu"};
    int many = 0;
    for (std::int64_t i = 0; i < 100; ++i) {
        const Case drawn = suite.draw(row, 1, i).drawn.value();
        const Outcome outcome = suite.run(drawn.print());
        CHECK(outcome.verdict != Verdict::failed);
        const Array<double> dy =
            draw_tensor(*row.kernel->op, drawn.problem, drawn.data, ValueKind::integers,
                        ElementTypes(row.kernel->any(), *row.kernel->op), "dy");
        const auto zeros = std::ranges::count(dy.data, 0.0);
        many += dy.data.size() > 16 && 4 * static_cast<std::size_t>(zeros) < dy.data.size();
    }
    CHECK(many > 20);
}

}  // namespace gradverify
