// SPDX-License-Identifier: Apache-2.0
// CUDA code on the CPU device gives what it gives on a GPU, in any order of threads and blocks.
#include <doctest/doctest.h>

#include <cmath>

#include "harness/simt/tests/device_run.hpp"

using gradverify::simt::Order;
using gradverify::simt::take_error;
using simt_test::run;
using simt_test::ScheduleScope;
using Values = std::vector<float>;

namespace {

Values values(int count, float (*value)(int)) {
    Values result;
    for (int i = 0; i < count; ++i) result.push_back(value(i));
    return result;
}

Values reversed(int count) {
    Values result = values(count, [](int i) { return static_cast<float>(i); });
    return {result.rbegin(), result.rend()};
}

template <class Body>
void in_every_order(Body body) {
    for (const Order order : simt_test::all_orders) {
        const ScheduleScope scope({.threads = order, .blocks = order, .seed = 7});
        CAPTURE(static_cast<int>(order));
        body();
        CHECK(take_error() == "");
    }
}

}  // namespace

TEST_CASE("values staged in shared memory cross a barrier in every order of threads") {
    in_every_order([] {
        CHECK(run("reverse_in_static_shared", 100, 128) == reversed(100));
        CHECK(run("reverse_in_dynamic_shared", 100) == reversed(100));
        CHECK(run("reverse_in_file_scope_shared", 100) == reversed(100));
    });
}

TEST_CASE("each declarator of a shared declaration is a variable with its own alignment") {
    const Values expected =
        values(32, [](int i) { return static_cast<float>(31 - i + 100 * i + 7 + 1000) + 0.5f; });
    in_every_order([&] {
        auto got = run("many_shared_variables", 32);
        CHECK(got == expected);
    });
}

TEST_CASE("sums by tree and by shuffles are right for blocks of any multiple of a warp") {
    in_every_order([] {
        for (const int block : {64, 256, 1024}) {
            CHECK(run("sum_by_tree", 64, block)[0] == 2016);
            CHECK(run("sum_by_shuffles", 64, block)[0] == 2016);
        }
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
        CHECK(run("barrier_votes", 64, 64) == Values(64, 3210));
    });
}

TEST_CASE("shuffles move values within their width") {
    const Values expected = values(32, [](int lane) {
        const int up = lane % 8 >= 3 ? lane - 3 : lane;
        const int down = lane % 8 + 3 < 8 ? lane + 3 : lane;
        return static_cast<float>(up + 100 * down + 10000 * (lane ^ 1)) + 2.5f;
    });
    in_every_order([&] { CHECK(run("all_shuffles", 32) == expected); });
}

TEST_CASE("votes, matches and warp reductions see every lane") {
    in_every_order([] { CHECK(run("all_votes", 32) == Values(32, 16 + 100 + 80000 - 9)); });
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

TEST_CASE("cooperative groups partition a block into tiles") {
    const Values expected = values(64, [](int i) {
        const int first = i / 8 * 8;
        return static_cast<float>(8 * first + 28 + 1000 * first + 100000 * (i / 8));
    });
    in_every_order([&] { CHECK(run("cooperative_tiles", 64) == expected); });
}

TEST_CASE("atomics of every type add up over threads and blocks") {
    in_every_order([] {
        const Values got = run("all_atomics", 10);
        // Sum and extremes of 0..255; every bit; 256 subtractions; 256 increments wrapping at 9.
        CHECK(got == Values{256, 32640, 255, -255, 255, -256, 256 % 10, 256, 128, 768});
    });
}

TEST_CASE("a thread that spins on an atomic gives way to the one it waits for") {
    in_every_order([] { CHECK(run("spin_on_an_atomic", 1)[0] == 5); });
}

TEST_CASE("launches by macros, pointers, deduction and cudaLaunchKernel run the kernel once each") {
    in_every_order([] {
        CHECK(run("launch_by_macro", 100) ==
              values(100, [](int i) { return 2.0f * static_cast<float>(i); }));
        CHECK(run("launch_variously", 10) ==
              values(10, [](int i) { return 2 * (3.0f * static_cast<float>(i) + 1 + 2 + 3) + 3; }));
    });
}

TEST_CASE("constant and device variables are reached by symbol") {
    CHECK(run("constant_memory", 4) == Values{1, 11, 21, 31});
}

TEST_CASE("grids and blocks have three dimensions") {
    in_every_order([] {
        CHECK(run("three_dimensions", 288) ==
              values(288, [](int i) { return static_cast<float>(i); }));
    });
}

TEST_CASE("the run-time API answers, and copies on streams are done in order") {
    CHECK(run("runtime_calls", 4) == Values{1, 2, 3, 4});
    CHECK(take_error() == "");
}

TEST_CASE("shared memory that nobody wrote reads as NaN") {
    for (const float value : run("uninitialised_shared", 32)) CHECK(std::isnan(value));
}
