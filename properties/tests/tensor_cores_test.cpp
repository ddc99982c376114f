// SPDX-License-Identifier: Apache-2.0
// Kernels on tensor cores: what the declaration allows them, and the bugs of their tiles.
#include <doctest/doctest.h>

#include <string>

#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {
int failures_of(const std::string& kernel, const std::string& property, std::int64_t cases) {
    return run_drawn(kernel, property, cases)[Verdict::failed];
}
}  // namespace

TEST_CASE("a bug of a tile is killed where it is smallest") {
    hunt_down_all(tensor_core_bugs, {.cases_maximum = 1000});
}

TEST_CASE("a kernel whose factors are cut to tf32 is right if it says so, and wrong if not") {
    for (const std::string pass : {"fc.forward/", "fc.grad_weight/"}) {
        CAPTURE(pass);
        for (const char* property :
             {"within_rounding_bound", "matches_reference", "repeatable", "stays_in_bounds"}) {
            CAPTURE(property);
            CHECK(failures_of(pass + "right_tf32", property, 500) == 0);
        }
        CHECK(failures_of(pass + "bug_undeclared_tf32", "within_rounding_bound", 100) > 90);
    }
    for (const char* property : {"matches_finite_differences", "adjoint_identity"})
        CHECK(failures_of("fc.grad_weight/right_tf32", property, 300) == 0);
}

TEST_CASE("a kernel on tensor cores that loses more than they do is wrong") {
    CHECK(failures_of("fc.forward/bug_tf32_drops_a_term", "matches_reference", 100) > 40);
    CHECK(failures_of("fc.forward/bug_tf32_drops_a_term", "within_rounding_bound", 100) > 60);
    for (const std::string pass : {"fc.forward/", "fc.grad_weight/"}) {
        CAPTURE(pass);
        CHECK(failures_of(pass + "bug_tf32_by_bfloat16", "within_rounding_bound", 100) > 20);
    }
}

}  // namespace gradverify
