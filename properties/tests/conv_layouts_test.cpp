// SPDX-License-Identifier: Apache-2.0
// Kernels that are wrong in one layout, one dimension, on one side or for one output mask: each is
// killed by the property that claims it and shrunk to the smallest problem known for it.
#include <doctest/doctest.h>

#include <string>

#include "properties/suite/suite.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

TEST_CASE(
    "a kernel that is wrong in one layout, dimension or mask is killed where it is smallest") {
    hunt_down_all(layout_bugs, {.cases_maximum = 400});
}

// The sum of an expanded cotangent is all of one sign: 273 ones are no number of bfloat16.
TEST_CASE("long sums of an expanded cotangent are not held to be exact in a narrow type") {
    const KernelSuite suite(Registry::instance());
    for (const std::string& device : test_devices())
        for (const char* property : {"adjoint_identity", "matches_reference"}) {
            const Outcome outcome =
                suite.run("v1:conv.backward/direct_bf16:" + std::string(property) + ":" + device +
                          ":n=13,in=1x2,padding=0+2x5+0:dense=6:layout=dy.expand0123");
            CHECK_MESSAGE(outcome.verdict == Verdict::passed, outcome.message);
        }
}

// 65,520 is beyond the largest half.
TEST_CASE("a gradient that overflows its type is not held against its derivative") {
    const KernelSuite suite(Registry::instance());
    for (const char* property : {"adjoint_identity", "matches_finite_differences"}) {
        const Outcome outcome =
            suite.run("v1:conv.backward/direct_f16:" + std::string(property) +
                      ":cpu:n=65520,c=3,k=3,groups=3,in=1:seed=11993378:layout=dy.expand012");
        CHECK_MESSAGE(outcome.verdict == Verdict::passed, property << ": " << outcome.message);
    }
}

TEST_CASE("an expanded cotangent is zero only where all of its elements are") {
    const KernelSuite suite(Registry::instance());
    const auto verdict_of = [&](const std::string& data) {
        return suite
            .run("v1:conv.grad_weight/direct:matches_reference:cpu:in=1x2,n=2:data=" + data +
                 ":layout=dy.expand03")
            .verdict;
    };
    CHECK(verdict_of("dy[3]=3,x[0]=2") == Verdict::passed);
    CHECK(verdict_of("x[0]=2") == Verdict::vacuous);
}

}  // namespace gradverify
