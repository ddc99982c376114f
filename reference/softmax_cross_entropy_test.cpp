// SPDX-License-Identifier: Apache-2.0
// The reference of softmax_cross_entropy against values worked by hand.
#include <cmath>

#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

namespace {

std::vector<Numbers> forward(const std::string& problem, const Numbers& logits,
                             const Numbers& labels) {
    return run("softmax_cross_entropy", "forward", problem,
               {{"logits", logits}, {"labels", labels}});
}

Numbers backward(const std::string& problem, double dloss, const Numbers& probs,
                 const Numbers& labels) {
    return run("softmax_cross_entropy", "backward", problem,
               {{"dloss", {dloss}}, {"probs", probs}, {"labels", labels}})[0];
}

}  // namespace

TEST_CASE("softmax_cross_entropy of logarithms gives their shares, and the mean of their losses") {
    const double two = std::log(2.0), three = std::log(3.0);
    // Shares 1, 2, 3 of 6, and 1, 1, 2 of 4.
    const Numbers logits{0, two, three, 5, 5, 5 + two};
    const auto out = forward("n=2,v=3", logits, {1, 0});
    check_near(out[0], {1.0 / 6, 2.0 / 6, 3.0 / 6, 0.25, 0.25, 0.5});
    check_near(out[1], {(std::log(3.0) + std::log(4.0)) / 2});
    // Upstream 8 over a batch of 2: four times probabilities less one-hot.
    const Numbers gradient{4.0 / 6, -16.0 / 6, 2, -3, 1, 2};
    check_near(backward("n=2,v=3", 8, out[0], {1, 0}), gradient);
    const Operator& op = operator_of("softmax_cross_entropy");
    REQUIRE(op.find_pass("backward")->derived);
    const auto derived = run(op, *op.find_pass("backward")->derived, valid_problem(op, "n=2,v=3"),
                             {{"dloss", {8}}, {"logits", logits}, {"labels", {1, 0}}});
    check_near(derived[0], gradient);
}

TEST_CASE("softmax_cross_entropy of large logits is finite") {
    const auto out = forward("n=2,v=2", {30000, 29000, -30000, -30000}, {1, 0});
    check_near(out[0], {1, 0, 0.5, 0.5});
    check_near(out[1], {(1000 + std::log(2.0)) / 2});
}

TEST_CASE("softmax_cross_entropy of one class has neither loss nor gradient") {
    check_near(forward("n=1", {7}, {0})[1], {0});
    CHECK(backward("n=1", 3, {1}, {0}) == Numbers{0});
}

TEST_CASE("an invalid label makes the loss NaN, and its row of the gradient, and nothing else") {
    for (const double label : {-1.0, 2.0, -2147483648.0, 2147483647.0}) {
        const auto out = forward("n=2,v=2", {1, 1, 0, std::log(3.0)}, {label, 0});
        check_near(out[0], {0.5, 0.5, 0.25, 0.75});
        CHECK(std::isnan(out[1][0]));
        const auto gradient = backward("n=2,v=2", 8, out[0], {label, 0});
        CHECK(std::isnan(gradient[0]));
        CHECK(std::isnan(gradient[1]));
        check_near({gradient[2], gradient[3]}, {-3, 3});
    }
}

TEST_CASE("softmax_cross_entropy of an empty batch is the mean of nothing, not a number") {
    const auto out = forward("n=0,v=3", {}, {});
    CHECK(out[0].empty());
    CHECK(std::isnan(out[1][0]));
    CHECK(backward("n=0,v=3", 1, {}, {}).empty());
}

}  // namespace gradverify
