// SPDX-License-Identifier: Apache-2.0
// The host-side API: schedules replay, blocks are counted, device memory is guarded.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/tests/device_run.hpp"

namespace gs = gradverify::simt;
using simt_test::run;
using simt_test::ScheduleScope;

namespace {

// Values that nobody wrote are NaN, which is equal to nothing.
std::vector<std::uint32_t> bits(const std::vector<float>& values) {
    std::vector<std::uint32_t> result(values.size());
    std::memcpy(result.data(), values.data(), values.size() * sizeof(float));
    return result;
}

}  // namespace

TEST_CASE("one seed gives one run, and another seed another") {
    const auto run_with = [](std::uint64_t seed) {
        const ScheduleScope scope({.threads = gs::Order::random_threads, .seed = seed});
        return bits(run("missing_barrier", 256));
    };
    CHECK(run_with(5) == run_with(5));
    CHECK(run_with(5) != run_with(6));
}

TEST_CASE("launches of one schedule draw different orders") {
    const ScheduleScope scope({.threads = gs::Order::random_threads, .seed = 5});
    CHECK(bits(run("missing_barrier", 256)) != bits(run("missing_barrier", 256)));
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
