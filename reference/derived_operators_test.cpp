// SPDX-License-Identifier: Apache-2.0
// Operators that are declared by their forward function alone, against values worked by hand.
#include <cmath>

#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("bias_gelu at 1 is the normal distribution's share below 1, and its slope") {
    const double below = 0.5 * (1.0 + std::erf(1.0 / std::sqrt(2.0)));
    const double density = std::exp(-0.5) / std::sqrt(2.0 * 3.14159265358979323846);
    const auto y = run("bias_gelu", "forward", "rows=1", {{"x", {0.25}}, {"bias", {0.75}}});
    check_near(y[0], {below});
    const auto gradients = run("bias_gelu", "backward", "rows=2",
                               {{"dy", {2.0, 3.0}}, {"x", {0.25, 0.25}}, {"bias", {0.75}}});
    check_near(gradients[0], {2.0 * (below + density), 3.0 * (below + density)});
    check_near(gradients[1], {5.0 * (below + density)});
}

TEST_CASE("layer_norm of two numbers with eps 0.1 and its gradients, by hand") {
    // mean 2, variance 1, rstd = 1 / sqrt(1.1).
    const double rstd = 1.0 / std::sqrt(1.1);
    const Named values{
        {"x", {1.0, 3.0}}, {"gamma", {2.0, -1.0}}, {"beta", {0.5, 0.25}}, {"dy", {1.0, 4.0}}};
    const auto out = run("layer_norm", "forward", "rows=1,width=2,eps=0.1", values);
    check_near(out[0], {-rstd * 2.0 + 0.5, -rstd + 0.25});
    check_near(out[1], {2.0});
    check_near(out[2], {rstd});
    const auto gradients = run("layer_norm", "backward", "rows=1,width=2,eps=0.1", values);
    // g = dy gamma = (2, -4), mean -1; xhat = (-rstd, rstd), mean of g xhat = -3 rstd.
    const double along = -3.0 * rstd;
    check_near(gradients[0],
               {rstd * (2.0 + 1.0 + rstd * along), rstd * (-4.0 + 1.0 - rstd * along)});
    check_near(gradients[1], {-rstd, 4.0 * rstd});
    check_near(gradients[2], {1.0, 4.0});
}

TEST_CASE("embedding copies rows, gives zero for the padding index, and adds up gradients") {
    const std::string problem = "tokens=4,rows=3,width=2,padding=1";
    const Numbers index{2, 1, 0, 2};
    const auto y =
        run("embedding", "forward", problem, {{"index", index}, {"weight", {1, 2, 3, 4, 5, 6}}});
    CHECK(y[0] == Numbers{5, 6, 0, 0, 1, 2, 5, 6});
    const auto gradient = run("embedding", "grad_weight", problem,
                              {{"index", index}, {"dy", {1, 2, 3, 4, 5, 6, 7, 8}}});
    CHECK(gradient[0] == Numbers{5, 6, 0, 0, 8, 10});
    const auto none =
        run("embedding", "grad_weight", "tokens=1,rows=2,padding=2", {{"index", {1}}, {"dy", {3}}});
    CHECK(none[0] == Numbers{0, 3});
}

TEST_CASE("batch_norm normalises over batch and pixels, and moves the running statistics") {
    // Channel 0 holds 1, 3, 5, 7: mean 4, variance 5, unbiased 20 / 3.
    const Named values{
        {"x", {1, 3, 0, 0, 5, 7, 0, 0}}, {"gamma", {2, 1}},       {"beta", {0, 9}},
        {"running_mean", {10, 0}},       {"running_var", {1, 1}}, {"dy", {1, 0, 0, 0, 0, 0, 2, 0}}};
    const std::string problem = "n=2,c=2,pixels=2,eps=0.1,momentum=1";
    const auto out = run("batch_norm", "forward", problem, values);
    const double rstd = 1.0 / std::sqrt(5.1);
    check_near(out[0], {-6 * rstd, -2 * rstd, 9, 9, 2 * rstd, 6 * rstd, 9, 9});
    check_near(out[1], {4, 0});
    check_near(out[3], {4, 0});
    check_near(out[4], {20.0 / 3.0, 0});
    const auto kept = run("batch_norm", "forward", "n=2,c=2,pixels=2,momentum=0", values);
    check_near(kept[3], {10, 0});
    const auto gradients = run("batch_norm", "backward", problem, values);
    // dy = (1, 0, 0, 0): mean 1/4; xhat = (-3, -1, 1, 3) rstd, mean of dy xhat -3/4 rstd.
    const auto dx = [&](double dy, double from_mean) {
        return 2 * rstd * (dy - 0.25 + from_mean * rstd * 0.75 * rstd);
    };
    check_near({gradients[0].begin(), gradients[0].begin() + 2}, {dx(1, -3), dx(0, -1)});
    check_near(gradients[1], {-3 * rstd, 0});
    check_near(gradients[2], {1, 2});
}

TEST_CASE("a derived operator's parameters print and parse, real ones by their value") {
    const Operator& op = operator_of("layer_norm");
    const auto printed = [&](const char* text) { return Problem::parse(op.space, text).print(); };
    CHECK(printed("") == "rows=1");
    CHECK(printed("rows=3,eps=1e-12") == "rows=3,eps=1e-12");
    CHECK(printed("width=2,eps=0.00001") == "rows=1,width=2");
    CHECK(Problem::parse(op.space, "eps=0.1").real("eps") == 0.1);
    CHECK_THROWS_WITH_AS(
        Problem::parse(op.space, "eps=0.2"),
        "`0.2` is not accepted for eps, which is one of 1e-05, 0.1, 1e-12 (the operator's "
        "declaration lists them)",
        std::invalid_argument);
    CHECK_THROWS_WITH_AS(Problem::parse(op.space, "rows=1,eps=x"),
                         doctest::Contains("which is one of 1e-05, 0.1, 1e-12"),
                         std::invalid_argument);
}

}  // namespace gradverify
