// SPDX-License-Identifier: Apache-2.0
// Operators of a transformer's layers, and of its training, against values worked by hand.
#include <cmath>

#include "harness/numbers/philox.hpp"
#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("rms_norm divides by the root of the mean square") {
    // The mean square of 1 and 7 is 25.
    const Named values{{"x", {1.0, 7.0}}, {"weight", {2.0, -1.0}}, {"dy", {5.0, 0.0}}};
    const auto out = run("rms_norm", "forward", "rows=1,width=2,eps=1e-12", values);
    check_near(out[0], {2.0 / 5.0, -7.0 / 5.0});
    check_near(out[1], {1.0 / 5.0});
    // g = (10, 0), xhat = (1, 7) / 5, mean of g xhat = 1.
    const auto gradients = run("rms_norm", "backward", "rows=1,width=2,eps=1e-12", values);
    check_near(gradients[0], {(10.0 - 1.0 / 5.0) / 5.0, -7.0 / 25.0});
    check_near(gradients[1], {1.0, 0.0});
}

TEST_CASE("swiglu and geglu multiply the second half by the activation of the first") {
    const double silu = 1.0 / (1.0 + std::exp(-1.0)), gelu = 0.8413447460685429;
    const Named values{{"x", {1.0, 0.0, 3.0, 5.0}}};
    check_near(run("swiglu", "forward", "rows=1,width=2", values)[0], {3.0 * silu, 0.0});
    check_near(run("geglu", "forward", "rows=1,width=2", values)[0], {3.0 * gelu, 0.0});
    const double by_tanh = run("geglu", "forward", "rows=1,width=2,tanh=1", values)[0][0] / 3.0;
    // The value that PyTorch's gelu(approximate="tanh") has at 1.
    CHECK(by_tanh == doctest::Approx(0.841191990608).epsilon(1e-10));
}

TEST_CASE("rope turns halves or neighbours by the angle of the position, and back") {
    // Position 1 has a quarter turn for pair 0 and none for pair 1.
    const Named values{{"x", {1, 2, 3, 4, 5}},
                       {"dy", {1, 2, 3, 4, 5}},
                       {"cos", {9, 9, 0, 1}},
                       {"sin", {9, 9, 1, 0}}};
    const std::string halves = "dim=5,pairs=2,offset=1", neighbours = halves + ",interleaved=1";
    CHECK(run("rope", "forward", halves, values)[0] == Numbers{-3, 2, 1, 4, 5});
    CHECK(run("rope", "grad_x", halves, values)[0] == Numbers{3, 2, -1, 4, 5});
    CHECK(run("rope", "forward", neighbours, values)[0] == Numbers{-2, 1, 3, 4, 5});
    CHECK(run("rope", "grad_x", neighbours, values)[0] == Numbers{2, -1, 3, 4, 5});
}

TEST_CASE("group_norm normalises the channels of a group together, instance_norm each one") {
    const double eps = 0.1, near = 1.0 / std::sqrt(1.0 + eps), far = 1.0 / std::sqrt(5.0 + eps);
    const Named values{{"x", {1, 3, 5, 7}}, {"gamma", {1, 2}}, {"beta", {0, 10}}};
    const auto instances = run("instance_norm", "forward", "n=1,c=2,pixels=2,eps=0.1", values);
    check_near(instances[0], {-near, near, 10.0 - 2.0 * near, 10.0 + 2.0 * near});
    check_near(instances[1], {2.0, 6.0});
    const auto group = run("group_norm", "forward", "groups=1,n=1,c=2,pixels=2,eps=0.1", values);
    check_near(group[0], {-3.0 * far, -far, 10.0 + 2.0 * far, 10.0 + 6.0 * far});
    check_near(group[1], {4.0});
    check_near(group[2], {far});
    CHECK(run("group_norm", "forward", "groups=2,n=1,c=2,pixels=2,eps=0.1", values)[0] ==
          instances[0]);
}

TEST_CASE("dropout_add_norm drops what a number below p has, of four for each generator") {
    const Named values{{"x", Numbers(8, 3.0)}, {"weight", Numbers(8, 1.0)}, {"seed", {1234}}};
    const auto out = run("dropout_add_norm", "forward", "rows=1,width=8,p=0.5", values);
    for (std::int64_t i = 0; i < 8; ++i) {
        const auto words = philox(1234, 0, static_cast<std::uint64_t>(i / 4));
        const bool is_kept = words[static_cast<std::size_t>(i % 4)] >= 0x80000000u;
        CHECK(out[1][static_cast<std::size_t>(i)] == (is_kept ? 6.0 : 0.0));
    }
    CHECK(run("dropout_add_norm", "forward", "rows=1,width=8,p=0.0", values)[1] == Numbers(8, 3.0));
}

TEST_CASE("adamw moves a parameter by the rate at its first step, and lets it decay") {
    // At the first step m' / (1 - beta1) = g and v' / (1 - beta2) = g^2, from moments of zero.
    const Named values{{"param", {2.0, 2.0}},
                       {"grad", {0.5, -4.0}},
                       {"exp_avg", {0.0, 0.0}},
                       {"offsets", {0, 1, 2}},
                       {"step", {1, 1}}};
    const auto out = run("adamw", "forward",
                         "total=2,tensors=2,lr=1,weight_decay=0.5,beta1=0.5,beta2=0.75", values);
    CHECK(out[0][0] == doctest::Approx(0.0).epsilon(1e-7));
    CHECK(out[0][1] == doctest::Approx(2.0).epsilon(1e-7));
    check_near(out[1], {0.25, -2.0});
    check_near(out[2], {0.0625, 4.0});
}

TEST_CASE("scatter_add and scatter_amax reduce into the row of each index") {
    const std::string problem = "outer=1,rows=2,k=3,inner=2";
    const Named values{{"x", {1, 2, 3, 4}},
                       {"src", {10, 20, 30, 0, 50, 60}},
                       {"index", {0, 1, 0, 0, 1, 1}},
                       {"dy", {5, 6, 7, 8}},
                       {"y", {30, 2, 50, 60}}};
    CHECK(run("scatter_add", "forward", problem, values)[0] == Numbers{41, 2, 53, 84});
    CHECK(run("scatter_amax", "forward", problem, values)[0] == Numbers{30, 2, 50, 60});
    const auto sums = run("scatter_add", "backward", problem, values);
    CHECK(sums[0] == Numbers{5, 6, 7, 8});
    CHECK(sums[1] == Numbers{5, 8, 5, 6, 7, 8});
    const auto largest = run("scatter_amax", "backward", problem, values);
    CHECK(largest[0] == Numbers{0, 6, 0, 0});
    CHECK(largest[1] == Numbers{0, 0, 5, 0, 7, 8});
}

TEST_CASE("moe_permute copies a token to its slots, moe_combine weighs the slots' rows") {
    // Rows hold the slots 2, 0, 3, 1: tokens 1, 0, 1, 0.
    const Named values{{"x", {10, 20}}, {"order", {2, 0, 3, 1}}, {"dy", {1, 2, 3, 4}}};
    CHECK(run("moe_permute", "forward", "slots=4,k=2", values)[0] == Numbers{20, 10, 20, 10});
    CHECK(run("moe_permute", "grad_x", "slots=4,k=2", values)[0] == Numbers{6, 4});
    const Named of_experts{{"x", {1, 2, 3, 4}},
                           {"order", {2, 0, 3, 1}},
                           {"weight", {0.5, 0.25, 2, 4}},
                           {"dy", {8, 16}}};
    CHECK(run("moe_combine", "forward", "slots=4,k=2", of_experts)[0] == Numbers{2, 14});
    const auto gradients = run("moe_combine", "backward", "slots=4,k=2", of_experts);
    CHECK(gradients[0] == Numbers{32, 4, 64, 2});
    CHECK(gradients[1] == Numbers{16, 32, 16, 48});
}

}  // namespace gradverify
