// SPDX-License-Identifier: Apache-2.0
// Hashes of the order of threads: a reported schedule must mean the same run in later versions.
#include <doctest/doctest.h>

#include "harness/simt/tests/device_run.hpp"

namespace gs = gradverify::simt;

namespace {

// FNV-1a over the entries.
std::uint64_t hash_of_order(const gs::Schedule& schedule, int block) {
    const simt_test::ScheduleScope scope(schedule);
    constexpr int blocks = 3, phases = 8;
    const std::vector<float> log =
        simt_test::run("order_of_threads", 1 + blocks * phases * block, block);
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (int i = 1; i <= static_cast<int>(log[0]); ++i) {
        hash = (hash ^ static_cast<std::uint64_t>(log[static_cast<std::size_t>(i)])) *
               0x100000001b3ULL;
    }
    return hash;
}

}  // namespace

TEST_CASE("a schedule runs the threads in the order that it always did") {
    const struct {
        gs::Order order;
        int block;
        std::uint64_t hash;
    } runs[] = {
        {gs::Order::ascending, 100, 0xcae20908e1dec222},
        {gs::Order::ascending, 256, 0xc9a29a7bba138e79},
        {gs::Order::descending, 100, 0xee199f4a3f031b3a},
        {gs::Order::descending, 256, 0xa0ec1a0aae9052d1},
        {gs::Order::random_threads, 100, 0x410947fdca53d612},
        {gs::Order::random_threads, 1024, 0x10fc54d652882cb7},
        {gs::Order::random_warps, 100, 0xe9bd5ff15f0d86e4},
        {gs::Order::random_warps, 1024, 0x64ea84ac348e7a2f},
    };
    for (const auto& run : runs) {
        CAPTURE(static_cast<int>(run.order));
        CAPTURE(run.block);
        const gs::Schedule schedule{.threads = run.order, .blocks = run.order, .seed = 11};
        CHECK(hash_of_order(schedule, run.block) == run.hash);
        CHECK(gs::take_error() == "");
    }
}

TEST_CASE("a spinning thread gives way where it did, whatever ran before") {
    const float spins = simt_test::run("spins_of_a_thread", 2)[0];
    for (const int before : {1, 100, 700}) {
        simt_test::run("one_atomic_a_thread", before);
        CHECK(simt_test::run("spins_of_a_thread", 2)[0] == spins);
    }
}

TEST_CASE("a thread keeps all its values while others run") {
    // i: the sums of i + k/2 + i(k+1), for k = 0, 1, 2 and for all k, and what the rounds add.
    simt_test::in_every_order([] {
        const std::vector<float> got = simt_test::run("values_across_barriers", 256);
        for (int i = 0; i < 256; ++i) {
            const double rounds = 3.0 * i + 1.5 + 6.0 * i + 3.0 * (i + 1);
            const double kept = 16.0 * i + 60.0 + 136.0 * i;
            CHECK(got[static_cast<std::size_t>(i)] == static_cast<float>(rounds + kept));
        }
    });
}
