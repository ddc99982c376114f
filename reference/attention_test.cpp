// SPDX-License-Identifier: Apache-2.0
// The reference of attention against values worked by hand.
#include <cmath>

#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

namespace {

const double two = std::log(2.0), three = std::log(3.0);

/// One query of width 4, so products are halved: keys of weights 1, 2 and 3 of 6.
const Named of_three_keys{{"q", {2, 0, 0, 0}},
                          {"k", {0, 9, 0, 0, two, 0, 9, 0, three, 0, 0, 9}},
                          {"v", {6, 0, 0, 0, 0, 6, 0, 0, 0, 0, 6, 12}}};

Named with(Named named, const Named& more) {
    named.insert(named.end(), more.begin(), more.end());
    return named;
}

}  // namespace

TEST_CASE("attention weighs values by the exponentials of scaled products") {
    const auto out = run("attention", "forward", "sk=3,d=4", of_three_keys);
    check_near(out[0], {1, 2, 3, 6});
    check_near(out[1], {std::log(6.0)});
}

TEST_CASE("the last causal query sees all keys, and the one before it a key less") {
    const Named values{{"v", {6, 12, 30}}};
    check_near(run("attention", "forward", "sq=2,sk=3,causal=1", values)[0], {9, 16});
    check_near(run("attention", "forward", "sq=2,sk=3", values)[0], {16, 16});
    CHECK(why_invalid(operator_of("attention"), "sq=3,sk=2,causal=1") != "");
    CHECK(why_invalid(operator_of("attention"), "sq=3,sk=2") == "");
}

TEST_CASE("attention of products that are too large for an exponential is finite") {
    const Named values{{"q", {3000}}, {"k", {1, 0.5}}, {"v", {7, 5}}};
    const auto out = run("attention", "forward", "sk=2", values);
    check_near(out[0], {7});
    check_near(out[1], {3000});
}

TEST_CASE("attention's gradients are from o and lse, and the derived ones") {
    // do v is 6, 0 and 0, of weights 1/6, 1/3 and 1/2: do o is 1.
    const Named given = with(of_three_keys, {{"do", {1, 0, 0, 0}}});
    const Named saved = with(given, {{"o", {1, 2, 3, 6}}, {"lse", {std::log(6.0)}}});
    const auto out = run("attention", "backward", "sk=3,d=4", saved);
    const double slopes[] = {5.0 / 6, -1.0 / 3, -1.0 / 2};
    const Numbers dq{(slopes[1] * two + slopes[2] * three) / 2, slopes[0] * 9 / 2,
                     slopes[1] * 9 / 2, slopes[2] * 9 / 2};
    const Numbers dk{slopes[0], 0, 0, 0, slopes[1], 0, 0, 0, slopes[2], 0, 0, 0};
    const Numbers dv{1.0 / 6, 0, 0, 0, 1.0 / 3, 0, 0, 0, 1.0 / 2, 0, 0, 0};
    check_near(out[0], dq);
    check_near(out[1], dk);
    check_near(out[2], dv);
    const Operator& op = operator_of("attention");
    const auto derived =
        run(op, *op.find_pass("backward")->derived, valid_problem(op, "sk=3,d=4"), given);
    check_near(derived[0], dq);
    check_near(derived[1], dk);
    check_near(derived[2], dv);
}

}  // namespace gradverify
