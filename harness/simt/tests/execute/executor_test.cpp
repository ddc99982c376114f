// SPDX-License-Identifier: Apache-2.0
// Barriers and parts of warps work in any order of threads, a schedule means the same run in later
// versions, blocks are counted, device memory is guarded.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/tests/construct.hpp"
#include "harness/simt/tests/device_run.hpp"

namespace gs = gradverify::simt;
using construct::table;
using simt_test::run;
using simt_test::ScheduleScope;

namespace {

// Values that nobody wrote are NaN, which is equal to nothing.
std::vector<std::uint32_t> bits(const std::vector<float>& values) {
    std::vector<std::uint32_t> result(values.size());
    std::memcpy(result.data(), values.data(), values.size() * sizeof(float));
    return result;
}

// FNV-1a over the entries.
std::uint64_t hash_of_order(const gs::Schedule& schedule, int block) {
    const ScheduleScope scope(schedule);
    constexpr int blocks = 3, phases = 8;
    const std::vector<float> log = run("order_of_threads", 1 + blocks * phases * block, block);
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (int i = 1; i <= static_cast<int>(log[0]); ++i) {
        hash = (hash ^ static_cast<std::uint64_t>(log[static_cast<std::size_t>(i)])) *
               0x100000001b3ULL;
    }
    return hash;
}

}  // namespace

TEST_CASE("a sum by tree is right for blocks of any multiple of a warp") {
    simt_test::in_every_order([] {
        for (const int block : {64, 256, 1024}) CHECK(run("sum_by_tree", 64, block)[0] == 2016);
    });
}

TEST_CASE("a missing barrier stays hidden in ascending order and shows in the others") {
    // Several warps, so that the order of warps alone shows it too.
    const int count = 256;
    const auto right = table(count, [](int i) { return i > 0 ? static_cast<float>(i - 1) : 0.0f; });
    CHECK(run("missing_barrier", count) == right);
    for (const auto order :
         {gs::Order::descending, gs::Order::random_threads, gs::Order::random_warps}) {
        const ScheduleScope scope({.threads = order, .seed = 3});
        CHECK(run("missing_barrier", count) != right);
    }
}

TEST_CASE("a barrier releases when all threads that have not exited arrived") {
    simt_test::in_every_order([] {
        CHECK(run("rotate_with_early_exit", 40, 64) ==
              table(40, [](int i) { return static_cast<float>((i + 1) % 40); }));
    });
}

TEST_CASE("exited lanes of a mask are not waited for") {
    simt_test::in_every_order([] {
        const std::vector<float> got = run("vote_with_exited_lanes", 32);
        for (int i = 0; i < 32; ++i) CHECK(got[static_cast<std::size_t>(i)] == (i < 20 ? 20 : i));
    });
}

TEST_CASE("two parts of a warp shuffle independently") {
    simt_test::in_every_order([] {
        CHECK(run("shuffle_in_halves", 32) == table(32, [](int i) { return i < 16 ? 3.f : 19.f; }));
    });
}

TEST_CASE("active masks name lanes that do come, so aggregated counts are right") {
    simt_test::in_every_order([] {
        CHECK(run("aggregate_active_lanes", 1)[0] == 32);
        CHECK(run("active_beside_a_barrier", 32)[1] == 16);
    });
}

TEST_CASE("shared memory that nobody wrote reads as NaN") {
    for (const float value : run("uninitialised_shared", 32)) CHECK(std::isnan(value));
}

TEST_CASE("another seed, and another launch of one schedule, is another run") {
    const auto run_with = [](std::uint64_t seed) {
        const ScheduleScope scope({.threads = gs::Order::random_threads, .seed = seed});
        return std::pair(bits(run("missing_barrier", 256)), bits(run("missing_barrier", 256)));
    };
    const auto [first, second] = run_with(5);
    CHECK(first != second);
    CHECK(first != run_with(6).first);
}

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
    for (const auto& one : runs) {
        CAPTURE(static_cast<int>(one.order));
        CAPTURE(one.block);
        const gs::Schedule schedule{.threads = one.order, .blocks = one.order, .seed = 11};
        CHECK(hash_of_order(schedule, one.block) == one.hash);
        CHECK(gs::take_error() == "");
    }
}

TEST_CASE("a spinning thread gives way where it did, whatever ran before") {
    const float spins = run("spins_of_a_thread", 2)[0];
    for (const int before : {1, 100, 700}) {
        run("one_atomic_a_thread", before);
        CHECK(run("spins_of_a_thread", 2)[0] == spins);
    }
}

TEST_CASE("a thread that spins over volatile memory gives way") {
    simt_test::in_every_order([] { CHECK(run("waits_for_stores", 6)[0] == 1.0f); });
}

TEST_CASE("a thread keeps all its values while others run") {
    // i: the sums of i + k/2 + i(k+1), for k = 0, 1, 2 and for all k, and what the rounds add.
    simt_test::in_every_order([] {
        const std::vector<float> got = run("values_across_barriers", 256);
        for (int i = 0; i < 256; ++i) {
            const double rounds = 3.0 * i + 1.5 + 6.0 * i + 3.0 * (i + 1);
            const double kept = 16.0 * i + 60.0 + 136.0 * i;
            CHECK(got[static_cast<std::size_t>(i)] == static_cast<float>(rounds + kept));
        }
    });
}

TEST_CASE("blocks are counted as they begin, by whichever OS thread") {
    std::atomic<std::uint64_t> blocks = 0;
    gs::count_blocks_in(&blocks);
    run("twice_each", 1000);
    const std::uint64_t of_one = blocks;
    CHECK(of_one > 1);
    std::thread([] { run("twice_each", 1000); }).join();
    CHECK(blocks == 2 * of_one);
    gs::count_blocks_in(nullptr);
    run("twice_each", 1000);
    CHECK(blocks == 2 * of_one);
}

TEST_CASE("each OS thread has an executor of its own") {
    std::vector<float> other;
    std::thread([&] { other = run("sum_by_tree", 64, 256); }).join();
    CHECK(other[0] == 2016);
    CHECK(run("sum_by_tree", 64, 256)[0] == 2016);
}

TEST_CASE("device memory is aligned, poisoned, and ends at an unmapped page") {
    for (const std::size_t bytes : {1, 256, 4096, 100000}) {
        auto* memory = static_cast<char*>(gs::allocate_device(bytes));
        CHECK(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0);
        // Four equal bytes are NaN.
        CHECK(memory[0] == '\xff');
        CHECK(memory[bytes - 1] == '\xff');
        std::memset(memory, 1, bytes);
        const std::size_t end = (bytes + 255) / 256 * 256;
        CHECK(std::string(gs::describe_address(memory + end)) ==
              "the unmapped page after a device allocation");
        CHECK(std::string(gs::describe_address(&bytes)) == "");
        CHECK(gs::free_device(memory));
        CHECK_FALSE(gs::free_device(memory));
    }
    CHECK(gs::allocate_device(std::size_t{1} << 40) == nullptr);
}

TEST_CASE("a header of CPU_HEADERS is found before the cpu device's, a toolkit's is not") {
    CHECK(run("product_of_own_header", 4)[0] == 24);
    CHECK(gs::take_error() == "");
}
