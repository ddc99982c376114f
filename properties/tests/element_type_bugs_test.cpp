// SPDX-License-Identifier: Apache-2.0
// Kernels of half, bfloat16, double and 8-bit floats, and on tensor cores, that compute in less
// than they declare: each is killed by the property that claims it and shrunk to its smallest
// problem. Honest declarations pass, and what is right beyond the largest number does.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr const char *bound = "within_rounding_bound", *differences = "matches_finite_differences";

int failures_of(const std::string& kernel, const std::string& property, std::int64_t cases) {
    return run_drawn(kernel, property, cases)[Verdict::failed];
}

}  // namespace

TEST_CASE("a kernel that computes in less than it declares is killed at its smallest problem") {
    hunt_down_all(element_type_bugs, {.cases_maximum = 200});
}

TEST_CASE("a kernel that declares what it does passes") {
    for (const char* kernel :
         {"conv.grad_weight/right_f16_sums_in_half", "conv.grad_weight/right_f64_sums_in_float",
          "conv.grad_weight/right_bf16x6"})
        for (const char* property : {"matches_reference", "within_rounding_bound",
                                     "matches_finite_differences", "adjoint_identity"}) {
            CAPTURE(kernel);
            CAPTURE(property);
            const Verdicts verdicts = run_drawn(kernel, property, 300);
            CHECK(verdicts.first_alarm == "");
            CHECK(verdicts[Verdict::passed] > 200);
        }
}

TEST_CASE("listed data are rounded to the tensor's type") {
    check_verdict(Verdict::passed, "conv.forward/naive_f16", "within_rounding_bound",
                  "in=1x1:data=x[0]=0.1,w[0]=0.3");
}

// ---- floats of 8 bits

TEST_CASE("a kernel that is wrong on floats of 8 bits is killed where it is smallest") {
    hunt_down_all(eight_bit_bugs, {.cases_maximum = 400});
}

TEST_CASE("a result beyond the largest number may be anything, and one below it may not") {
    const std::string beyond = "x[0]=20,w[0]=30", below = "x[0]=20,w[0]=22";
    const auto check = [&](Verdict verdict, const std::string& kernel, const std::string& data) {
        check_verdict(verdict, "conv.forward/" + kernel, bound, "in=1x1:data=" + data);
    };
    check(Verdict::vacuous, "right_f8_nan", beyond);
    check(Verdict::passed, "right_f8_nan", below);
    // CUDA's conversion saturates: 448 for 600. A kernel that declares so is held to it.
    for (const std::string& data : {beyond, below, std::string("x[0]=20,w[0]=-30")})
        check(Verdict::passed, "direct_f8_all", data);
    check(Verdict::failed, "bug_f8_nan_beyond", beyond);
    check(Verdict::passed, "bug_f8_nan_beyond", below);
    check(Verdict::passed, "bug_f8_largest_is_nan", beyond);
    check(Verdict::failed, "bug_f8_largest_is_nan", "x[0]=448,w[0]=1");
    // A float has room for it.
    check(Verdict::passed, "direct_f8", beyond);
    check(Verdict::failed, "bug_f8_saturates_sums", beyond);
    check(Verdict::passed, "bug_f8_saturates_sums", below);
}

TEST_CASE("a sum of integers that 8 bits do not hold is rounded once, and no alarm") {
    for (const char* property : {"matches_reference", bound, "adjoint_identity", differences,
                                 "repeatable", "stays_in_bounds"})
        for (int seed = 0; seed < 60; ++seed)
            check_no_alarm("conv.grad_bias/right_f8_sums", property,
                           fmt::format("n=27,in=10x20:seed={}", seed));
}

TEST_CASE("a conversion that gives NaN for what is too large is no alarm") {
    // All of x alike: dx is some 316 * 2 and its opposite.
    for (const char* property : {bound, "stays_in_bounds", "repeatable", differences})
        check_no_alarm("layer_norm.backward/right_f8_dx_nan", property,
                       "rows=1,width=2:data=dy[0]=4,gamma[0]=1");
    // This direction does not meet the NaN.
    check_verdict(Verdict::passed, "layer_norm.backward/right_f8_dx_nan", differences,
                  "rows=4,width=7:dense=2");
}

TEST_CASE("an infinite result of 8 bits is the largest number where the kernel says so") {
    const std::string data = "n=6:data=x[2]=3,x[4]=inf";
    for (const char* property : {"matches_reference", bound}) {
        for (const std::string right :
             {"right_f8_inf_lost", "right_f8_inf_kept", "right_f8_saturates"})
            check_verdict(Verdict::passed, "relu.forward/" + right, property, data);
        check_verdict(Verdict::failed, "relu.forward/bug_f8_inf_kept", property, data);
    }
}

TEST_CASE("a sum beyond what it is computed in is without a bound, saturated or not") {
    // 448 * 448 is infinite in half, and its difference from itself is NaN.
    check_verdict(Verdict::vacuous, "conv.forward/right_f8_sums_in_half", bound,
                  "c=2,in=1x1:data=x[0]=448,x[1]=448,w[0]=448,w[1]=-448");
}

TEST_CASE("a derivative that is stored as 0 is as far off as it is large, and no alarm") {
    for (const std::string data : {"dy[0]=1,x[0]=1,gamma[0]=1", "dy[0]=1.5,x[0]=1,gamma[0]=1",
                                   "dy[0]=1,x[0]=2,gamma[0]=0.25", "dy[0]=1,x[1]=3,gamma[0]=1"})
        check_no_alarm("layer_norm.backward/right_f8_dx", differences,
                       "rows=1,width=2:data=" + data);
}

// ---- tensor cores

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

TEST_CASE("weights that are rounded are right if the kernel says so, and wrong if not") {
    for (const char* kernel : {"right_whole_weights", "right_rounded_weights"})
        for (const char* property : {"within_rounding_bound", "repeatable", "stays_in_bounds"})
            CHECK(failures_of("attention.forward/" + std::string(kernel), property, 500) == 0);
    // In a quarter of the problems all queries see one key, whose weight is 1; where queries or
    // keys are tiny, all weights are alike.
    CHECK(failures_of("attention.forward/bug_undeclared_weights", "within_rounding_bound", 300) >
          160);
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
