// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/large/large_memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "harness/devices/large/large_call.hpp"

using namespace gradverify;

static DrawnCopies drawn(std::vector<std::int64_t> at) {
    DrawnCopies copies{.count = static_cast<int>(at.size())};
    std::copy(at.begin(), at.end(), copies.at);
    return copies;
}

TEST_CASE("an element of a copy is the table's at the same place within its copy") {
    // Two rows of five copies of six elements.
    const PlacedCopies placed{{.run = 6, .copies = 5}, drawn({0, 3})};
    std::vector<int> of_drawn, of_others;
    for (int i = 0; i < 2 * 2 * 6; ++i) of_drawn.push_back(i);
    for (int i = 0; i < 2 * 6; ++i) of_others.push_back(100 + i);
    std::int64_t element = 0;
    for (int row = 0; row < 2; ++row)
        for (int copy = 0; copy < 5; ++copy)
            for (int within = 0; within < 6; ++within, ++element) {
                CAPTURE(element);
                CHECK(copy_of(placed.layout, element) == copy);
                const int block = copy == 0 ? 0 : 1;
                CHECK(placed.in(of_drawn.data(), of_others.data(), element) ==
                      (copy == 0 || copy == 3 ? (row * 2 + block) * 6 + within
                                              : 100 + row * 6 + within));
            }
}

TEST_CASE("strands hold each element once, with its entry, for any number of workers") {
    for (const std::int64_t run : {1, 3, 64, 200})
        for (const std::int64_t copies : {1, 2, 7, 300})
            for (const std::int64_t rows : {1, 2, 90})
                for (const std::int64_t workers : {1, 2, 1000, 100'000}) {
                    CAPTURE(run);
                    CAPTURE(copies);
                    CAPTURE(rows);
                    CAPTURE(workers);
                    const PlacedCopies placed{{.run = run, .copies = copies},
                                              copies > 2 ? drawn({0, 4, copies - 1}) : drawn({0})};
                    const auto drawn_count = static_cast<std::size_t>(placed.drawn.count);
                    std::vector<int> of_drawn(static_cast<std::size_t>(rows * run) * drawn_count);
                    std::vector<int> of_others(static_cast<std::size_t>(rows * run));
                    std::iota(of_drawn.begin(), of_drawn.end(), 0);
                    std::iota(of_others.begin(), of_others.end(), 1'000'000);
                    const std::int64_t elements = rows * run * copies;
                    std::vector<int> seen(static_cast<std::size_t>(elements));
                    int wrong = 0;
                    const Strands strands = placed.strands(elements, workers);
                    for (std::int64_t strand = 0; strand < strands.count; ++strand)
                        placed.each(of_drawn.data(), of_others.data(), strands, strand,
                                    [&](std::int64_t i, int entry) {
                                        ++seen[static_cast<std::size_t>(i)];
                                        wrong += entry !=
                                                 placed.in(of_drawn.data(), of_others.data(), i);
                                    });
                    CHECK(wrong == 0);
                    CHECK(std::ranges::count(seen, 1) == elements);
                }
}

TEST_CASE("beyond 2^32 elements an element is still that of its copy") {
    const CopyLayout layout{.run = 3, .copies = std::int64_t{1} << 32};
    const std::int64_t last = 3 * layout.copies - 1;
    CHECK(copy_of(layout, last) == layout.copies - 1);
    const PlacedCopies placed{layout, drawn({0, layout.copies - 1})};
    const std::vector<int> of_drawn{0, 1, 2, 3, 4, 5}, of_others{10, 11, 12};
    CHECK(placed.in(of_drawn.data(), of_others.data(), last) == 5);
    CHECK(placed.in(of_drawn.data(), of_others.data(), last - 3) == 12);
}

TEST_CASE("what is filled does not differ, and what is changed does, first and last") {
    const auto memory = detail::make_large_host_memory();
    std::vector<std::uint32_t> data(30);
    const std::vector<std::uint64_t> of_drawn{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, others(6, 99);
    const CopiedBits copies{
        {{.run = 6, .copies = 5}, drawn({1, 4})}, data.data(), 4, of_drawn.data(), others.data()};
    memory->fill(copies, 30);
    CHECK(data[5] == 99);
    CHECK(data[6] == 1);
    CHECK(data[29] == 12);
    CHECK(memory->differences(copies, 30).count == 0);
    data[7] = 0;
    data[24] = 0;
    const Differences found = memory->differences(copies, 30);
    CHECK(found.count == 2);
    CHECK(found.first == 7);
    CHECK(found.last == 24);
}

TEST_CASE("values differ beyond their bound, a NaN where none is expected, and never without one") {
    std::vector<float> data{1.0f, 1.5f, NAN, NAN, 7.0f};
    const std::vector<WantedValue> want{
        {1.0, 0.0}, {1.0, 0.5}, {1.0, 9.0}, {NAN, 0.0}, {1.0, Bound::none()}};
    const auto differs = [&](bool admits_nan, std::int64_t i) {
        const CopiedValues values{{{.run = 5}, drawn({0})},
                                  data.data(),
                                  DType::f32,
                                  4,
                                  admits_nan,
                                  want.data(),
                                  want.data()};
        bool found = false;
        values.compare({.elements = 5, .count = 5}, i, [&](std::int64_t) { found = true; });
        return found;
    };
    CHECK_FALSE(differs(false, 0));
    CHECK_FALSE(differs(false, 1));
    CHECK(differs(false, 2));
    CHECK(differs(false, 3));
    CHECK_FALSE(differs(true, 3));
    CHECK_FALSE(differs(false, 4));
    data[1] = 1.75f;
    CHECK(differs(false, 1));
}

TEST_CASE("guards alternate") {
    const auto memory = detail::make_large_host_memory();
    std::vector<std::uint16_t> data(7);
    const Pattern pattern{data.data(), 2, 3, 4};
    memory->fill(pattern, 7);
    CHECK(data == std::vector<std::uint16_t>{3, 4, 3, 4, 3, 4, 3});
    CHECK(memory->differences(pattern, 7).count == 0);
    data[6] = 4;
    CHECK(memory->differences(pattern, 7).first == 6);
}

TEST_CASE("a place in memory is an index of the tensor, whatever the order of its axes") {
    CHECK(index_in_memory(7, {2, 3, 2}, {6, 2, 1}) == Sizes{1, 0, 1});
    CHECK(index_in_memory(7, {2, 3, 2}, {6, 1, 3}) == Sizes{1, 1, 0});
    CHECK(index_in_memory((std::int64_t{1} << 33) + 5, {std::int64_t{1} << 32, 4}, {4, 1}) ==
          Sizes{(std::int64_t{1} << 31) + 1, 1});
    CHECK(print_bytes(1000) == "1000 bytes");
    CHECK(print_bytes(0x1.8p31) == "3 GiB");
    CHECK(print_bytes(0x1.4p11) == "2.5 KiB");
}
