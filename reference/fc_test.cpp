// SPDX-License-Identifier: Apache-2.0
// The reference of fc against values worked by hand and against sums over every index.
#include <doctest/doctest.h>

#include "harness/base/random.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

using Numbers = std::vector<double>;

const Operator& fc() { return *Registry::instance().find_operator("fc"); }

Problem problem_of(const std::string& text) {
    Problem problem = Problem::parse(fc().space, text);
    REQUIRE_FALSE(fc().validate(problem));
    return problem;
}

/// A pass on the numbers of its inputs.
Numbers run(const std::string& pass_name, const Problem& problem,
            const std::vector<Numbers>& numbers) {
    const PassSpec& pass = *fc().find_pass(pass_name);
    std::vector<Array<double>> inputs;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        inputs.push_back({fc().sizes_of(pass.inputs[i], problem), numbers[i]});
        REQUIRE(static_cast<std::int64_t>(numbers[i].size()) == element_count(inputs[i].sizes));
    }
    std::vector<Array<double>> outputs{{fc().sizes_of(pass.outputs[0], problem), {}}};
    outputs[0].data.resize(static_cast<std::size_t>(element_count(outputs[0].sizes)), 0.0);
    pass.reference(problem, inputs, outputs);
    return outputs[0].data;
}

Numbers random_numbers(const std::string& tensor, const Problem& problem) {
    SplitMix64 random(mix_seed(5, tensor));
    Numbers numbers;
    for (std::int64_t i = 0; i < element_count(fc().sizes_of(tensor, problem)); ++i)
        numbers.push_back(static_cast<double>(random.between(-9, 9)));
    return numbers;
}

}  // namespace

TEST_CASE("fc of two rows of three features gives the values worked by hand") {
    const Problem problem = problem_of("n=2,c=3,k=2");
    const Numbers x{1, 2, 3, -1, 0, 4}, w{1, 0, -2, 3, 1, 1}, b{10, 20}, dy{1, 2, 3, -1};
    // 1 + 0 - 6 + 10, 3 + 2 + 3 + 20; -1 + 0 - 8 + 10, -3 + 0 + 4 + 20.
    CHECK(run("forward", problem, {x, w, b}) == Numbers{5, 28, 1, 21});
    // dy w: (1, 0, -2) + 2 (3, 1, 1), and 3 (1, 0, -2) - (3, 1, 1).
    CHECK(run("grad_input", problem, {dy, w}) == Numbers{7, 2, 0, 0, -1, -7});
    // dy^T x: (1, 2, 3) + 3 (-1, 0, 4), and 2 (1, 2, 3) - (-1, 0, 4).
    CHECK(run("grad_weight", problem, {dy, x}) == Numbers{-2, 2, 15, 3, 4, 2});
    CHECK(run("grad_bias", problem, {dy}) == Numbers{4, 1});
}

TEST_CASE("every pass of fc equals the sum over every index") {
    for (const char* text : {"n=1", "n=5,c=7,k=3", "n=1,c=1,k=9", "n=4,c=1,k=1", "n=2,c=17,k=33"}) {
        CAPTURE(std::string(text));
        const Problem problem = problem_of(text);
        const auto x = random_numbers("x", problem), w = random_numbers("w", problem);
        const auto b = random_numbers("b", problem), dy = random_numbers("dy", problem);
        Numbers y(dy.size()), dx(x.size()), dw(w.size()), db(b.size());
        const auto c_all = static_cast<std::size_t>(problem.scalar("c"));
        const auto k_all = static_cast<std::size_t>(problem.scalar("k"));
        for (std::size_t n = 0; n < dy.size() / k_all; ++n)
            for (std::size_t k = 0; k < k_all; ++k) {
                y[n * k_all + k] += b[k];
                db[k] += dy[n * k_all + k];
                for (std::size_t c = 0; c < c_all; ++c) {
                    y[n * k_all + k] += x[n * c_all + c] * w[k * c_all + c];
                    dx[n * c_all + c] += dy[n * k_all + k] * w[k * c_all + c];
                    dw[k * c_all + c] += dy[n * k_all + k] * x[n * c_all + c];
                }
            }
        CHECK(run("forward", problem, {x, w, b}) == y);
        CHECK(run("grad_input", problem, {dy, w}) == dx);
        CHECK(run("grad_weight", problem, {dy, x}) == dw);
        CHECK(run("grad_bias", problem, {dy}) == db);
    }
}

TEST_CASE("fc of an empty batch has zero gradients by weight and bias") {
    const Problem problem = problem_of("n=0,c=2,k=3");
    CHECK(fc().is_empty(problem));
    CHECK(run("forward", problem, {{}, Numbers(6, 1.0), Numbers(3, 1.0)}).empty());
    CHECK(run("grad_weight", problem, {{}, {}}) == Numbers(6, 0.0));
    CHECK(run("grad_bias", problem, {{}}) == Numbers(3, 0.0));
    CHECK(run("grad_input", problem, {{}, Numbers(6, 1.0)}).empty());
}

TEST_CASE("fc counts its products, and the terms of its longest sums") {
    const Problem problem = problem_of("n=2,c=3,k=5");
    CHECK(fc().forward().multiply_adds(problem) == 30);
    CHECK(fc().find_pass("grad_bias")->multiply_adds(problem) == 10);
    CHECK(fc().forward().reduction_length(problem) == 4);
    CHECK(fc().find_pass("grad_input")->reduction_length(problem) == 5);
    CHECK(fc().find_pass("grad_weight")->reduction_length(problem) == 2);
}

}  // namespace gradverify
