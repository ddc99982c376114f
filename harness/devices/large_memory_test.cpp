// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/large_memory.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "harness/devices/large_call.hpp"

namespace {

using namespace gradverify;

DrawnCopies drawn(std::vector<std::int64_t> at) {
    DrawnCopies copies{.count = static_cast<int>(at.size())};
    std::copy(at.begin(), at.end(), copies.at);
    return copies;
}

}  // namespace

TEST_CASE("an element of a copy is the table's at the same place within its copy") {
    // Two outer rows, five copies of two steps, three elements each.
    const CopyLayout layout{.inner = 3, .per_copy = 2, .copies = 5};
    const DrawnCopies copies = drawn({0, 3});
    const CopyPlace next = place_of(layout, 1), far = place_of(layout, 37);
    CopyPlace stepped = place_of(layout, 0);
    std::int64_t element = 0;
    for (std::int64_t outer = 0; outer < 2; ++outer)
        for (std::int64_t copy = 0; copy < 5; ++copy)
            for (std::int64_t step = 0; step < 2; ++step)
                for (std::int64_t within = 0; within < 3; ++within, ++element) {
                    CAPTURE(element);
                    const TableEntry entry = entry_of(layout, copies, stepped);
                    CHECK(copy_of(layout, element) == copy);
                    CHECK(entry.is_drawn == (copy == 0 || copy == 3));
                    const std::int64_t block = copy == 3 ? 1 : 0;
                    CHECK(entry.index == (entry.is_drawn
                                              ? ((outer * 2 + block) * 2 + step) * 3 + within
                                              : (outer * 2 + step) * 3 + within));
                    CHECK(behind(layout, stepped, far) == place_of(layout, element + 37));
                    stepped = behind(layout, stepped, next);
                    CHECK(stepped == place_of(layout, element + 1));
                }
}

TEST_CASE("beyond 2^32 elements an element is still that of its copy") {
    const CopyLayout layout{.inner = 1, .per_copy = 3, .copies = std::int64_t{1} << 32};
    const std::int64_t last = 3 * layout.copies - 1;
    CHECK(copy_of(layout, last) == layout.copies - 1);
    const DrawnCopies ends = drawn({0, layout.copies - 1});
    const TableEntry entry =
        entry_of(layout, ends, behind(layout, place_of(layout, last - 2), place_of(layout, 2)));
    CHECK(entry.is_drawn);
    CHECK(entry.index == 5);
    CHECK_FALSE(entry_of(layout, ends, place_of(layout, last - 3)).is_drawn);
}

TEST_CASE("what is filled does not differ, and what is changed does, first and last") {
    const auto memory = detail::make_large_host_memory();
    std::vector<std::uint32_t> data(30);
    const std::vector<std::uint64_t> of_drawn{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, others(6, 99);
    const CopiedBits copies{{{.inner = 3, .per_copy = 2, .copies = 5}, drawn({1, 4})},
                            data.data(),
                            4,
                            of_drawn.data(),
                            others.data()};
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
        const CopiedValues values{{{.inner = 5}, drawn({0})},
                                  data.data(),
                                  DType::f32,
                                  4,
                                  admits_nan,
                                  want.data(),
                                  want.data()};
        return values.differs(i, values.place_of(i));
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
