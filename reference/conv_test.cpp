// SPDX-License-Identifier: Apache-2.0
// The reference of conv against values worked by hand; conv_transpose_test.cpp holds it to
// conv_transpose's.
#include "reference/conv.hpp"

#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

namespace {

const Operator& op() { return operator_of("conv"); }

}  // namespace

TEST_CASE("conv.forward gives the values worked by hand for a 3x3 image and a 2x2 filter") {
    // Each output is a pixel minus its lower right neighbour, plus 10: 1 - 5 + 10 = 6 everywhere.
    const Named in{{"x", {1, 2, 3, 4, 5, 6, 7, 8, 9}}, {"w", {1, 0, 0, -1}}, {"b", {10}}};
    CHECK(run("conv", "forward", "in=3x3,filter=2x2", in)[0] == Numbers{6, 6, 6, 6});
}

TEST_CASE("conv refuses groups that do not divide the channels") {
    const auto why = [](const char* text) { return why_invalid(op(), text); };
    CHECK(why("c=3,k=2,groups=2,in=1x1") == "conv needs c multiple of groups");
    CHECK(why("c=2,k=3,groups=2,in=1x1") == "conv needs k multiple of groups");
    CHECK(why("in=3x3,padding=1+0x0+0") == "");
    CHECK(why("c=2,k=4,groups=2,in=3x3,padding=1") == "");
}

TEST_CASE("the products counted are those of the direct sum, padding included") {
    const Problem problem = valid_problem(op(), "n=2,c=4,k=6,groups=2,in=5x5,filter=3x2");
    const double products = 2.0 * 6 * 2 * 6 * 3 * 4, additions = 2.0 * 6 * 3 * 4;
    CHECK(op().forward().multiply_adds(problem) == products);
    CHECK(op().find_pass("grad_bias")->multiply_adds(problem) == additions);
    CHECK(op().find_pass("backward")->multiply_adds(problem) == 2.0 * products + additions);
    CHECK(op().find_pass("grad_weight")->reduction_length(problem) == 2 * 3 * 4);
}

}  // namespace gradverify
