// SPDX-License-Identifier: Apache-2.0
// Barriers and parts of warps work in any order of threads, and a missing barrier shows.
#include <doctest/doctest.h>

#include <cmath>

#include "harness/simt/tests/device_run.hpp"

using gradverify::simt::Order;
using simt_test::in_every_order;
using simt_test::run;
using simt_test::ScheduleScope;
using Values = std::vector<float>;

namespace {

Values values(int count, float (*value)(int)) {
    Values result;
    for (int i = 0; i < count; ++i) result.push_back(value(i));
    return result;
}

}  // namespace

TEST_CASE("a sum by tree is right for blocks of any multiple of a warp") {
    in_every_order([] {
        for (const int block : {64, 256, 1024}) CHECK(run("sum_by_tree", 64, block)[0] == 2016);
    });
}

TEST_CASE("a missing barrier stays hidden in ascending order and shows in the others") {
    // Several warps, so that the order of warps alone shows it too.
    const int count = 256;
    const Values right =
        values(count, [](int i) { return i > 0 ? static_cast<float>(i - 1) : 0.0f; });
    CHECK(run("missing_barrier", count) == right);
    for (const Order order : {Order::descending, Order::random_threads, Order::random_warps}) {
        const ScheduleScope scope({.threads = order, .seed = 3});
        CHECK(run("missing_barrier", count) != right);
    }
}

TEST_CASE("a barrier releases when all threads that have not exited arrived") {
    in_every_order([] {
        CHECK(run("rotate_with_early_exit", 40, 64) ==
              values(40, [](int i) { return static_cast<float>((i + 1) % 40); }));
    });
}

TEST_CASE("exited lanes of a mask are not waited for") {
    in_every_order([] {
        const Values got = run("vote_with_exited_lanes", 32);
        for (int i = 0; i < 32; ++i) CHECK(got[static_cast<std::size_t>(i)] == (i < 20 ? 20 : i));
    });
}

TEST_CASE("two parts of a warp shuffle independently") {
    in_every_order([] {
        CHECK(run("shuffle_in_halves", 32) ==
              values(32, [](int i) { return i < 16 ? 3.f : 19.f; }));
    });
}

TEST_CASE("active masks name lanes that do come, so aggregated counts are right") {
    in_every_order([] {
        CHECK(run("aggregate_active_lanes", 1)[0] == 32);
        CHECK(run("active_beside_a_barrier", 32)[1] == 16);
    });
}

TEST_CASE("shared memory that nobody wrote reads as NaN") {
    for (const float value : run("uninitialised_shared", 32)) CHECK(std::isnan(value));
}
