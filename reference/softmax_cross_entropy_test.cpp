// SPDX-License-Identifier: Apache-2.0
// The reference of softmax_cross_entropy against values worked by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

using Numbers = std::vector<double>;

const Operator& softmax() { return *Registry::instance().find_operator("softmax_cross_entropy"); }

/// A pass on the numbers of what its reference takes; its outputs.
std::vector<Numbers> run(const PassSpec& pass, const std::string& problem_text,
                         const std::vector<Numbers>& numbers) {
    const Problem problem = Problem::parse(softmax().space, problem_text);
    REQUIRE_FALSE(softmax().validate(problem));
    std::vector<Array<double>> inputs, outputs;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        inputs.push_back({softmax().sizes_of(pass.taken_by_reference()[i], problem), numbers[i]});
        REQUIRE(static_cast<std::int64_t>(numbers[i].size()) == element_count(inputs[i].sizes));
    }
    for (const std::string& name : pass.outputs) {
        outputs.push_back({softmax().sizes_of(name, problem), {}});
        outputs.back().data.resize(static_cast<std::size_t>(element_count(outputs.back().sizes)));
    }
    pass.reference(problem, inputs, outputs);
    std::vector<Numbers> results;
    for (const auto& output : outputs) results.push_back(output.data);
    return results;
}

std::vector<Numbers> forward(const std::string& problem, const Numbers& logits,
                             const Numbers& labels) {
    return run(softmax().forward(), problem, {logits, labels});
}

void check_near(const Numbers& got, const Numbers& want) {
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("softmax_cross_entropy of logarithms gives their shares, and the mean of their losses") {
    const double two = std::log(2.0), three = std::log(3.0);
    // Shares 1, 2, 3 of 6, and 1, 1, 2 of 4.
    const auto out = forward("n=2,v=3", {0, two, three, 5, 5, 5 + two}, {1, 0});
    check_near(out[0], {1.0 / 6, 2.0 / 6, 3.0 / 6, 0.25, 0.25, 0.5});
    check_near(out[1], {(std::log(3.0) + std::log(4.0)) / 2});
    const PassSpec& backward = *softmax().find_pass("backward");
    // Upstream 8 over a batch of 2: four times probabilities less one-hot.
    const auto gradient = run(backward, "n=2,v=3", {{8}, out[0], {1, 0}});
    check_near(gradient[0], {4.0 / 6, -16.0 / 6, 2, -3, 1, 2});
    REQUIRE(backward.derived);
    const auto derived =
        run(*backward.derived, "n=2,v=3", {{8}, {0, two, three, 5, 5, 5 + two}, {1, 0}});
    check_near(derived[0], gradient[0]);
}

TEST_CASE("softmax_cross_entropy of large logits is finite") {
    const auto out = forward("n=2,v=2", {30000, 29000, -30000, -30000}, {1, 0});
    check_near(out[0], {1, 0, 0.5, 0.5});
    check_near(out[1], {(1000 + std::log(2.0)) / 2});
}

TEST_CASE("softmax_cross_entropy of one class has neither loss nor gradient") {
    check_near(forward("n=1", {7}, {0})[1], {0});
    CHECK(run(*softmax().find_pass("backward"), "n=1", {{3}, {1}, {0}})[0] == Numbers{0});
}

TEST_CASE("an invalid label makes the loss NaN, and its row of the gradient, and nothing else") {
    for (const double label : {-1.0, 2.0, -2147483648.0, 2147483647.0}) {
        const auto out = forward("n=2,v=2", {1, 1, 0, std::log(3.0)}, {label, 0});
        check_near(out[0], {0.5, 0.5, 0.25, 0.75});
        CHECK(std::isnan(out[1][0]));
        const auto gradient =
            run(*softmax().find_pass("backward"), "n=2,v=2", {{8}, out[0], {label, 0}})[0];
        CHECK(std::isnan(gradient[0]));
        CHECK(std::isnan(gradient[1]));
        check_near({gradient[2], gradient[3]}, {-3, 3});
    }
}

TEST_CASE("softmax_cross_entropy of an empty batch is the mean of nothing, not a number") {
    const auto out = forward("n=0,v=3", {}, {});
    CHECK(out[0].empty());
    CHECK(std::isnan(out[1][0]));
    CHECK(run(*softmax().find_pass("backward"), "n=0,v=3", {{1}, {}, {}})[0].empty());
}

}  // namespace gradverify
