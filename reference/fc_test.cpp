// SPDX-License-Identifier: Apache-2.0
// The reference of fc against values worked by hand and against sums over every index.
#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

namespace {

void check_all(const std::string& problem, const Named& in, const Named& expected) {
    const char* const passes[] = {"forward", "grad_input", "grad_weight", "grad_bias"};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(expected[i].first);
        CHECK(run("fc", passes[i], problem, in)[0] == expected[i].second);
    }
}

}  // namespace

TEST_CASE("fc of two rows of three features gives the values worked by hand") {
    check_all("n=2,c=3,k=2",
              {{"x", {1, 2, 3, -1, 0, 4}},
               {"w", {1, 0, -2, 3, 1, 1}},
               {"b", {10, 20}},
               {"dy", {1, 2, 3, -1}}},
              // 1 + 0 - 6 + 10, 3 + 2 + 3 + 20; -1 + 0 - 8 + 10, -3 + 0 + 4 + 20.
              {{"y", {5, 28, 1, 21}},
               // dy w: (1, 0, -2) + 2 (3, 1, 1), and 3 (1, 0, -2) - (3, 1, 1).
               {"dx", {7, 2, 0, 0, -1, -7}},
               // dy^T x: (1, 2, 3) + 3 (-1, 0, 4), and 2 (1, 2, 3) - (-1, 0, 4).
               {"dw", {-2, 2, 15, 3, 4, 2}},
               {"db", {4, 1}}});
}

TEST_CASE("every pass of fc equals the sum over every index") {
    const Operator& op = operator_of("fc");
    for (const char* text :
         {"n=1", "n=5,c=7,k=3", "n=1,c=1,k=9", "n=4,c=1,k=1", "n=2,c=17,k=33", "n=0,c=2,k=3"}) {
        CAPTURE(std::string(text));
        const Problem problem = valid_problem(op, text);
        const Numbers x = random_numbers(op, "x", problem), w = random_numbers(op, "w", problem);
        const Numbers b = random_numbers(op, "b", problem), dy = random_numbers(op, "dy", problem);
        Numbers y(dy.size()), dx(x.size()), dw(w.size()), db(b.size());
        CHECK(op.is_empty(problem) == y.empty());
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
        check_all(text, {{"x", x}, {"w", w}, {"b", b}, {"dy", dy}},
                  {{"y", y}, {"dx", dx}, {"dw", dw}, {"db", db}});
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
