// SPDX-License-Identifier: Apache-2.0
// The reference of fc against values worked by hand and against conv's.
#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("fc of two rows of three features gives the values worked by hand") {
    const Named in{{"x", {1, 2, 3, -1, 0, 4}},
                   {"w", {1, 0, -2, 3, 1, 1}},
                   {"b", {10, 20}},
                   {"dy", {1, 2, 3, -1}}};
    const auto result = [&](const char* pass) { return run("fc", pass, "n=2,c=3,k=2", in)[0]; };
    // 1 + 0 - 6 + 10, 3 + 2 + 3 + 20; -1 + 0 - 8 + 10, -3 + 0 + 4 + 20.
    CHECK(result("forward") == Numbers{5, 28, 1, 21});
    // dy w: (1, 0, -2) + 2 (3, 1, 1), and 3 (1, 0, -2) - (3, 1, 1).
    CHECK(result("grad_input") == Numbers{7, 2, 0, 0, -1, -7});
    // dy^T x: (1, 2, 3) + 3 (-1, 0, 4), and 2 (1, 2, 3) - (-1, 0, 4).
    CHECK(result("grad_weight") == Numbers{-2, 2, 15, 3, 4, 2});
    CHECK(result("grad_bias") == Numbers{4, 1});
}

TEST_CASE("every pass of fc is that of a convolution of one pixel") {
    const Operator& op = operator_of("fc");
    for (const std::string text :
         {"n=1", "n=5,c=7,k=3", "n=1,c=1,k=9", "n=4,c=1,k=1", "n=2,c=17,k=33", "n=0,c=2,k=3"}) {
        CAPTURE(text);
        const Problem problem = valid_problem(op, text);
        CHECK(op.is_empty(problem) == (problem.scalar("n") == 0));
        const Named in = random_tensors(op, problem, {"x", "w", "b", "dy"});
        for (const PassSpec& pass : op.passes)
            CHECK(run(op, pass, problem, in) == run("conv", pass.name, text + ",in=1", in));
    }
}

TEST_CASE("fc counts its products, and the terms of its longest sums") {
    const Operator& op = operator_of("fc");
    const Problem problem = valid_problem(op, "n=2,c=3,k=5");
    CHECK(op.forward().multiply_adds(problem) == 30);
    CHECK(op.find_pass("grad_bias")->multiply_adds(problem) == 10);
    CHECK(op.forward().reduction_length(problem) == 4);
    CHECK(op.find_pass("grad_input")->reduction_length(problem) == 5);
    CHECK(op.find_pass("grad_weight")->reduction_length(problem) == 2);
}

}  // namespace gradverify
