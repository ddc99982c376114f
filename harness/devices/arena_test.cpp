// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/arena.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/numbers/element_bits.hpp"
#include "harness/testing/host_device.hpp"

namespace {

using namespace gradverify;

/// Buffers on a device of host memory, uploaded; `values` are the first one's.
struct Rig {
    testing::FakeDevice device;
    Arena arena;
    explicit Rig(std::vector<BufferSpec> buffers, const std::vector<double>& values = {},
                 Surroundings surroundings = {}, bool has_unmapped_edges = false)
        : device(has_unmapped_edges), arena(device, std::move(buffers), surroundings) {
        if (!values.empty()) arena.write(0, values);
        arena.upload();
    }
    float* data(std::size_t buffer) { return arena.view(buffer).as<float>(); }
    float* x() { return data(0); }
    float* y() { return data(1); }
    std::vector<std::string> stray_writes() {
        arena.download();
        return arena.stray_writes();
    }
};

BufferSpec output(Sizes sizes) {
    return {.name = "y", .role = BufferRole::output, .sizes = std::move(sizes)};
}

/// An input x of 5 floats and an output y of 3.
Rig dense(Surroundings surroundings = {}) {
    return Rig({{.name = "x", .sizes = {5}}, output({3})}, {1, 2, 3, 4, 5}, surroundings);
}

/// An input x of 2 x 3 floats whose rows are padded by one, and an output y of 2 x 2 in columns.
Rig strided() {
    BufferSpec y = output({2, 2});
    y.strides = {1, 3};
    return Rig({{.name = "x", .sizes = {2, 3}, .strides = {4, 1}}, std::move(y)},
               {1, 2, 3, 4, 5, 6});
}

/// An output y of 3 floats, one gap away from an unmapped page.
Rig beside_gap(Edge edge) {
    BufferSpec y = output({3});
    y.offset = edge == Edge::end ? 0 : 2;
    y.alignment_bytes = 16;
    return Rig({std::move(y)}, {}, {.edge = edge}, true);
}

}  // namespace

TEST_CASE("writing the outputs is no stray write; what comes back, and what was left, is told") {
    Rig rig = dense();
    rig.arena.download();
    CHECK(rig.arena.untouched(1) == std::vector<std::int64_t>{0, 1, 2});
    for (const int i : {0, 2}) rig.y()[i] = static_cast<float>(i) + 0.5f;
    CHECK(rig.stray_writes().empty());
    CHECK(rig.arena.untouched(1) == std::vector<std::int64_t>{1});
    CHECK(dense().arena.view(1).stride(0) == 1);
    rig.y()[1] = 1.5f;
    rig.arena.download();
    CHECK(rig.arena.untouched(1).empty());
    CHECK(rig.arena.read(1) == std::vector<double>{0.5, 1.5, 2.5});
}

TEST_CASE("elements lie by their strides, and between them guards") {
    Rig rig = strided();
    const TensorView view = rig.arena.view(0);
    CHECK(view.stride(0) == 4);
    CHECK(view.stride(1) == 1);
    for (const int i : {0, 1, 2}) {
        CHECK(rig.x()[i] == static_cast<float>(1 + i));
        CHECK(rig.x()[4 + i] == static_cast<float>(4 + i));
    }
    CHECK(rig.x()[3] == 0.71875f);  // odd, as a guard is
    // The places of y are 0, 1, 3 and 4.
    for (const int i : {0, 3}) rig.y()[i] = static_cast<float>(i);
    rig.arena.download();
    CHECK(rig.arena.untouched(1) == std::vector<std::int64_t>{2, 3});
    for (const int i : {1, 4}) rig.y()[i] = static_cast<float>(i);
    CHECK(rig.stray_writes().empty());
    CHECK(rig.arena.read(1) == std::vector<double>{0, 3, 1, 4});
    CHECK(rig.arena.untouched(1).empty());
    CHECK(rig.arena.bytes(1).size() == 5 * sizeof(float));
}

TEST_CASE("a buffer takes as many values as it has elements") {
    Rig rig = dense();
    CHECK_THROWS_WITH_AS(rig.arena.write(0, std::vector{1.0}),
                         "Arena::write: 1 values for the buffer x", std::logic_error);
}

TEST_CASE("along an expanded axis all elements are one") {
    Rig rig({{.name = "dy", .sizes = {2, 3}, .strides = {0, 1}}}, {1, 2, 3, 1, 2, 3});
    CHECK(rig.arena.bytes(0).size() == 3 * sizeof(float));
    CHECK(rig.arena.view(0).stride(0) == 0);
    CHECK(rig.x()[2] == 3.0f);
    rig.arena.download();
    CHECK(rig.arena.read(0) == std::vector<double>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("a write to a guard or an input is found, with its element") {
    struct Sample {
        Rig rig;
        std::size_t buffer;
        std::vector<int> elements;
        const char* says;
    };
    Sample samples[] = {
        {dense(), 1, {3}, "wrote 1 element past the end of y, the first at y[3], but y has 3"},
        {dense(), 1, {-2}, "wrote 1 element before the start of y, the first at y[-2]"},
        {dense(), 0, {4}, "changed its input x (1 element, first x[4])"},
        {dense(), 0, {5, 6}, "wrote 2 elements past the end of x, the first at x[5], but x has 5"},
        {strided(),
         1,
         {2},
         "wrote 1 element between the elements of y, whose rows are padded, the first 2 elements "
         "behind its begin"},
        // A gap of an input is told once.
        {strided(), 0, {3}, "changed its input x (1 element, first x[3])"},
        {Rig({output({0, 4})}),
         0,
         {0},
         "wrote 1 element past the end of y, the first at y[0], but y has 0"},
        {beside_gap(Edge::end),
         0,
         {3},
         "wrote 1 element past the end of y, the first at y[3], but y has 3"},
        {beside_gap(Edge::begin),
         0,
         {-1},
         "wrote 1 element before the start of y, the first at y[-1]"},
    };
    for (Sample& sample : samples) {
        CAPTURE(sample.says);
        float* const data = sample.rig.data(sample.buffer);
        for (const int i : sample.elements) {
            // An even element of a guard is NaN, an odd one is not.
            if (std::string_view(sample.says).starts_with("wrote"))
                CHECK(std::isnan(data[i]) == (i % 2 == 0));
            data[i] = 7.0f;
        }
        CHECK(sample.rig.stray_writes() == std::vector<std::string>{sample.says});
    }
}

TEST_CASE("an accumulating write to a guard is found in one of the two parities, wherever it is") {
    for (const int at : {-3, -2, -1, 3, 4, 5}) {
        bool found = false;
        for (const int parity : {0, 1}) {
            Rig rig = dense({.guard_parity = parity});
            rig.y()[at] += 1.0f;
            found |= !rig.stray_writes().empty();
        }
        CHECK(found);
    }
}

TEST_CASE("in every type: values, poison, guards by turns, and what was written where") {
    for (const DType dtype :
         {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32, DType::f64})
        for (const Poison poison : {Poison::nan, Poison::positive_huge, Poison::negative_huge})
            for (const std::int64_t elements : {1, 5, 8, 1000})
                for (const std::int64_t offset : {0, 1}) {
                    const auto bytes = static_cast<std::int64_t>(traits_of(dtype).bytes);
                    BufferSpec spec = output({elements});
                    spec.dtype = dtype, spec.offset = offset, spec.alignment_bytes = bytes;
                    Rig rig({{.name = "x", .dtype = dtype, .sizes = {2}}, spec}, {1.0 / 3.0, -2.5},
                            {.poison = poison, .guard_parity = 1});
                    Arena& arena = rig.arena;
                    auto* y = static_cast<std::byte*>(arena.view(1).data);
                    const auto is_nan = [&](std::int64_t i) {
                        return std::isnan(value_of(dtype, y + i * bytes));
                    };
                    const auto put = [&](std::int64_t i, std::uint64_t bits) {
                        std::memcpy(y + i * bytes, &bits, static_cast<std::size_t>(bytes));
                    };
                    for (std::int64_t i = -3; i < elements + 40; ++i)
                        CHECK(is_nan(i) ==
                              (i >= 0 && i < elements ? poison == Poison::nan : i % 2 != 0));
                    const std::uint64_t poisoned = poison_bits(dtype, poison);
                    CHECK(std::memcmp(y, &poisoned, traits_of(dtype).bytes) == 0);
                    put(0, bits_of(dtype, 1.5));
                    // A NaN of CUDA's conversions in a guard is a change.
                    put(elements, bits_of(dtype, NAN));
                    put(elements + 1, bits_of(dtype, NAN));
                    const auto found = rig.stray_writes();
                    CHECK(arena.read(0) == std::vector{rounded_to(dtype, 1.0 / 3.0), -2.5});
                    CHECK(arena.read(1)[0] == 1.5);
                    CHECK(static_cast<std::int64_t>(arena.untouched(1).size()) == elements - 1);
                    const std::string size = std::to_string(elements);
                    CHECK(found ==
                          std::vector{"wrote 2 elements past the end of y, the first at y[" + size +
                                      "], but y has " + size});
                }
}

TEST_CASE("a region has guards as large as the data, from 512 bytes to 16 KiB, and no more") {
    // One guard beside an unmapped page, otherwise two, and room for the alignment.
    const struct {
        std::int64_t bytes, alignment;
        std::size_t with_unmapped_page, without;
    } rows[] = {{1, 1, 768, 1280},        {256, 1, 768, 1280},     {257, 1, 1024, 1536},
                {256, 2, 1024, 1536},     {768, 1, 1536, 2304},    {1, 1024, 1536, 2048},
                {16384, 1, 32768, 49152}, {65536, 1, 81920, 98304}};
    for (const auto& row : rows)
        for (const bool has_unmapped_edges : {true, false}) {
            INFO(row.bytes, " bytes, alignment ", row.alignment);
            const Rig rig({{.name = "x",
                            .dtype = DType::f8e4m3,
                            .sizes = {row.bytes},
                            .alignment_bytes = row.alignment}},
                          {}, {}, has_unmapped_edges);
            CHECK(rig.device.sizes[0] ==
                  (has_unmapped_edges ? row.with_unmapped_page : row.without));
        }
}

TEST_CASE("at an unmapped end the data ends as near to it as the declared alignment lets it") {
    for (const DType dtype : {DType::f16, DType::f32, DType::f64})
        for (const std::int64_t elements : {0, 1, 5, 64, 1000})
            for (const std::int64_t alignment : {2, 4, 16, 256, 1024})
                for (const std::int64_t offset : {0, 1, 3})
                    for (const Edge edge : {Edge::begin, Edge::end}) {
                        const Rig rig({{.name = "x",
                                        .dtype = dtype,
                                        .sizes = {elements},
                                        .offset = offset,
                                        .alignment_bytes = alignment}},
                                      {}, {.edge = edge}, true);
                        const testing::FakeDevice& device = rig.device;
                        CHECK(device.edge == edge);
                        const std::size_t element = traits_of(dtype).bytes;
                        const std::size_t bytes = static_cast<std::size_t>(elements) * element;
                        const auto aligned = std::max(static_cast<std::size_t>(alignment), element);
                        const auto* data = static_cast<const std::byte*>(rig.arena.view(0).data);
                        const std::size_t skipped = static_cast<std::size_t>(offset) * element;
                        CHECK((reinterpret_cast<std::uintptr_t>(data) - skipped) % aligned == 0);
                        const auto before = static_cast<std::size_t>(data - device.begins[0]);
                        const std::size_t after = device.sizes[0] - before - bytes;
                        // The other side has a guard.
                        CHECK((edge == Edge::end ? after < aligned : before == skipped));
                        CHECK((edge == Edge::end ? before : after) >= 512);
                        REQUIRE(device.described.size() == 1);
                        CHECK(device.described[0].name == "x");
                        CHECK(device.described[0].begin == data);
                        CHECK(device.described[0].end == data + bytes);
                        CHECK(device.described[0].element_bytes == element);
                    }
}
