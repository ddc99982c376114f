// SPDX-License-Identifier: Apache-2.0
// Sums that decay, products and log-sum-exps along rows of thousands of steps: bounds hold for
// kernels that go step by step and for those that go in chunks, and a chunk's missing beginning is
// seen in them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr const char* passes[] = {"decayed_sum.forward",         "decayed_sum.backward",
                                  "running_product.forward",     "running_product.grad_x",
                                  "running_log_sum_exp.forward", "running_log_sum_exp.grad_x"};
constexpr int seeds = 4;

std::string long_row(int seed) { return fmt::format("rows=1,length=4096:seed={}", seed); }

}  // namespace

TEST_CASE("kernels pass that go step by step, or in chunks") {
    for (const std::string pass : passes)
        for (const char* kernel : {"/right_serial", "/right_chunked"})
            for (const char* property : {"within_rounding_bound", "matches_finite_differences"}) {
                if (pass.ends_with("forward") && property[0] == 'm') continue;
                CAPTURE(pass);
                CAPTURE(kernel);
                CAPTURE(property);
                const Verdicts verdicts = run_drawn(pass + kernel, property, 200);
                CHECK(verdicts.first_alarm == "");
                CHECK(verdicts[Verdict::passed] > 150);
            }
}

TEST_CASE("so do they in 4,096 steps") {
    for (const std::string pass : passes)
        for (const char* kernel : {"/right_serial", "/right_chunked"})
            for (int seed = 0; seed < seeds; ++seed)
                check_verdict(Verdict::passed, pass + kernel, "within_rounding_bound",
                              long_row(seed));
}

TEST_CASE("what a chunk begins with is missed among 4,096 steps") {
    for (const std::string pass : passes)
        for (int seed = 0; seed < seeds; ++seed)
            check_verdict(Verdict::failed, pass + "/bug_chunk_alone", "within_rounding_bound",
                          long_row(seed));
}

TEST_CASE("a block may wait for the one before where blocks are declared to begin in order") {
    for (const char* property :
         {"within_rounding_bound", "repeatable", "stays_in_bounds", "free_of_races"}) {
        CAPTURE(std::string(property));
        const Verdicts right = run_drawn("running_product.forward/right_look_back", property, 100);
        CHECK(right.first_alarm == "");
        CHECK(right[Verdict::passed] > 50);
    }
    const Outcome undeclared = run("running_product.forward/bug_order_not_declared", "repeatable",
                                   "rows=1,length=8:seed=1:order=descending");
    CHECK(undeclared.verdict == Verdict::failed);
    CAPTURE(undeclared.message);
    CHECK(undeclared.message.find("a thread spins for ever") != std::string::npos);
    CHECK(undeclared.message.find("blocks_begin_in_order()") != std::string::npos);
    check_verdict(Verdict::failed, "running_product.forward/bug_does_not_wait", "free_of_races",
                  "rows=1,length=8:seed=1");
}

}  // namespace gradverify
