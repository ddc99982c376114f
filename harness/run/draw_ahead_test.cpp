// SPDX-License-Identifier: Apache-2.0
#include "harness/run/draw_ahead.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

namespace gradverify {

namespace {

DrawAhead::Drawn named(std::size_t row, std::int64_t index) {
    return {.work = {}, .why_none = std::to_string(row) + ":" + std::to_string(index)};
}

}  // namespace

TEST_CASE("each case comes to the row and index that it is asked for at, however many draw") {
    for (const int threads : {0, 1, 4}) {
        CAPTURE(threads);
        DrawAhead drawing(named, 3, threads);
        for (std::int64_t index = 2; index < 500; index += 3)
            for (const std::size_t row : {0u, 2u})
                CHECK(drawing.take(row, index, 3, 500).why_none == named(row, index).why_none);
        CHECK(drawing.take(1, 7, 1, 8).why_none == "1:7");
    }
}

TEST_CASE("the next cases of a row are drawn by threads, and none twice or behind the last") {
    std::mutex mutex;
    std::multiset<std::int64_t> drawn;
    std::atomic<int> by_others = 0;
    const auto caller = std::this_thread::get_id();
    {
        DrawAhead drawing(
            [&](std::size_t row, std::int64_t index) {
                by_others += std::this_thread::get_id() != caller;
                const std::lock_guard lock(mutex);
                drawn.insert(index);
                return named(row, index);
            },
            1, 2);
        for (std::int64_t index = 0; index < 12; index += 2) {
            drawing.take(0, index, 2, 12);
            while (by_others == 0) std::this_thread::yield();
        }
    }
    CHECK(drawn == std::multiset<std::int64_t>{0, 2, 4, 6, 8, 10});
}

TEST_CASE("what nobody asks for any more is not waited for") {
    std::atomic<int> drawn = 0;
    {
        DrawAhead drawing(
            [&](std::size_t row, std::int64_t index) {
                ++drawn;
                return named(row, index);
            },
            100, 1);
        for (std::size_t row = 0; row < 100; ++row) drawing.take(row, 0, 1, 1'000'000);
    }
    CHECK(drawn <= 100 * 5);
}

}  // namespace gradverify
