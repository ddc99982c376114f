// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/arena.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "harness/numbers/element_bits.hpp"
#include "harness/testing/device.hpp"

namespace gradverify {

namespace {

using testing::FakeDevice;

/// An input x of 5 floats and an output y of 3.
struct Rig {
    FakeDevice device;
    Arena arena;
    explicit Rig(Surroundings surroundings = {}, std::int64_t offset = 0,
                 std::int64_t alignment = 256)
        : arena(device,
                {{.name = "x", .sizes = {5}, .offset = offset, .alignment_bytes = alignment},
                 {.name = "y", .role = BufferRole::output, .sizes = {3}, .offset = offset}},
                surroundings) {
        arena.write(0, std::vector<double>{1, 2, 3, 4, 5});
        arena.upload();
    }
    float* x() { return arena.view(0).as<float>(); }
    float* y() { return arena.view(1).as<float>(); }
};

}  // namespace

TEST_CASE("inputs arrive, outputs are poisoned, guards alternate NaN and a finite number") {
    for (const int parity : {0, 1}) {
        Rig rig({.poison = Poison::nan, .guard_parity = parity});
        for (int i = 0; i < 5; ++i) CHECK(rig.x()[i] == static_cast<float>(i + 1));
        for (int i = 0; i < 3; ++i) CHECK(std::isnan(rig.y()[i]));
        for (const int i : {-4, -3, -2, -1, 5, 6, 7, 8})
            CHECK(std::isnan(rig.x()[i]) == (((i % 2 + 2) % 2 == 0) == (parity == 0)));
    }
}

TEST_CASE("a finite poison is huge, with the sign that was asked for") {
    CHECK(Rig({.poison = Poison::positive_huge}).y()[0] > 1e37f);
    CHECK(Rig({.poison = Poison::negative_huge}).y()[2] < -1e37f);
}

TEST_CASE("writing the outputs is no stray write, and the values come back") {
    Rig rig;
    for (int i = 0; i < 3; ++i) rig.y()[i] = static_cast<float>(i) + 0.5f;
    rig.arena.download();
    CHECK(rig.arena.stray_writes().empty());
    CHECK(rig.arena.read(1) == std::vector<double>{0.5, 1.5, 2.5});
    CHECK(rig.arena.untouched(1).empty());
}

namespace {

/// An input x of 2 x 3 floats whose rows are padded by one, and an output y of 2 x 2 in columns.
struct StridedRig {
    FakeDevice device;
    Arena arena;
    StridedRig()
        : arena(device,
                {{.name = "x", .sizes = {2, 3}, .strides = {4, 1}},
                 {.name = "y", .role = BufferRole::output, .sizes = {2, 2}, .strides = {1, 3}}},
                {}) {
        arena.write(0, std::vector<double>{1, 2, 3, 4, 5, 6});
        arena.upload();
    }
    float* x() { return arena.view(0).as<float>(); }
    float* y() { return arena.view(1).as<float>(); }
};

}  // namespace

TEST_CASE("elements lie by their strides, and between them guards") {
    StridedRig rig;
    const TensorView view = rig.arena.view(0);
    CHECK(view.stride(0) == 4);
    CHECK(view.stride(1) == 1);
    for (const int i : {0, 1, 2}) {
        CHECK(rig.x()[i] == static_cast<float>(1 + i));
        CHECK(rig.x()[4 + i] == static_cast<float>(4 + i));
    }
    CHECK(rig.x()[3] == 0.71875f);  // odd, as a guard is
    // The places of y are 0, 1, 3 and 4.
    for (const int i : {0, 1, 3, 4}) rig.y()[i] = static_cast<float>(i);
    rig.arena.download();
    CHECK(rig.arena.read(1) == std::vector<double>{0, 3, 1, 4});
    CHECK(rig.arena.stray_writes().empty());
    CHECK(rig.arena.untouched(1).empty());
    CHECK(rig.arena.bytes(1).size() == 5 * sizeof(float));
}

TEST_CASE("what is not written, and what is written between elements, is found") {
    StridedRig rig;
    for (const int i : {0, 2, 3}) rig.y()[i] = 1.0f;
    rig.arena.download();
    // Logical elements (1,0) and (1,1).
    CHECK(rig.arena.untouched(1) == std::vector<std::int64_t>{2, 3});
    const auto found = rig.arena.stray_writes();
    REQUIRE(found.size() == 1);
    CHECK(found[0].print(4) ==
          "wrote 1 element between the elements of y, whose rows are padded, the first 2 elements "
          "behind its begin");
}

TEST_CASE("along an expanded axis all elements are one") {
    FakeDevice device;
    Arena arena(device, {{.name = "dy", .sizes = {2, 3}, .strides = {0, 1}}}, {});
    arena.write(0, std::vector<double>{1, 2, 3, 1, 2, 3});
    arena.upload();
    CHECK(arena.bytes(0).size() == 3 * sizeof(float));
    CHECK(arena.view(0).stride(0) == 0);
    CHECK(arena.view(0).as<float>()[2] == 3.0f);
    arena.download();
    CHECK(arena.read(0) == std::vector<double>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("an element that was not written is named") {
    Rig rig;
    rig.y()[0] = 1.0f;
    rig.y()[2] = 1.0f;
    rig.arena.download();
    CHECK(rig.arena.untouched(1) == std::vector<std::int64_t>{1});
}

TEST_CASE("a write beside a buffer or to an input is found, with its element") {
    struct Sample {
        void (*write)(Rig&);
        const char* says;
    };
    const Sample samples[] = {
        {[](Rig& rig) { rig.y()[3] = 7.0f; },
         "wrote 1 element past the end of y, the first at y[3] of 3"},
        {[](Rig& rig) { rig.y()[-2] = 7.0f; },
         "wrote 1 element before the start of y, the first at y[-2]"},
        {[](Rig& rig) { rig.x()[4] = 7.0f; }, "changed its input x (1 element, first x[4])"},
        {[](Rig& rig) { rig.x()[5] = rig.x()[6] = 7.0f; },
         "wrote 2 elements past the end of x, the first at x[5] of 5"},
    };
    for (const Sample& sample : samples) {
        Rig rig;
        sample.write(rig);
        rig.arena.download();
        const auto found = rig.arena.stray_writes();
        REQUIRE(found.size() == 1);
        CHECK(found[0].print(found[0].buffer == "x" ? 5 : 3) == sample.says);
    }
}

TEST_CASE("an accumulating write to a guard is found in one of the two parities, wherever it is") {
    for (const int at : {-3, -2, -1, 3, 4, 5}) {
        bool found = false;
        for (const int parity : {0, 1}) {
            Rig rig({.poison = Poison::nan, .guard_parity = parity});
            rig.y()[at] += 1.0f;
            rig.arena.download();
            found |= !rig.arena.stray_writes().empty();
        }
        CHECK(found);
    }
}

TEST_CASE("a buffer starts as many elements behind an aligned address as was asked for") {
    for (const int offset : {0, 1, 3}) {
        Rig rig({}, offset, 16);
        CHECK(reinterpret_cast<std::uintptr_t>(rig.x()) % 256 ==
              static_cast<std::uintptr_t>(4 * offset));
        rig.x()[-1] = 9.0f;
        rig.arena.download();
        REQUIRE(rig.arena.stray_writes().size() == 1);
        CHECK(rig.arena.stray_writes()[0].first_element == -1);
    }
}

TEST_CASE("a buffer without elements still has guards") {
    FakeDevice device;
    Arena arena(device, {{.name = "y", .role = BufferRole::output, .sizes = {0, 4}}}, {});
    arena.upload();
    arena.view(0).as<float>()[0] = 1.0f;
    arena.download();
    CHECK(arena.stray_writes().size() == 1);
}

TEST_CASE("reading a tensor as another element type is refused by name") {
    Rig rig;
    CHECK_THROWS_WITH_AS(rig.arena.view(0).as<double>(),
                         "the launcher reads a tensor of f32 as f64; write as<float>(), or declare "
                         ".storage(gradverify::DType::f64)",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(rig.arena.view(0).as<const __half>(),
                         "the launcher reads a tensor of f32 as f16; write as<float>(), or declare "
                         ".storage(gradverify::DType::f16)",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(rig.arena.view(0).as<std::int32_t>(),
                         "the launcher reads a tensor of f32 as i32; write as<float>()",
                         std::invalid_argument);
}

TEST_CASE("two bytes an element: values, poison, guards by turns, and what was written where") {
    for (const DType dtype : {DType::f16, DType::bf16})
        for (const std::int64_t elements : {1, 5, 8, 1000})
            for (const std::int64_t offset : {0, 1}) {
                FakeDevice device;
                Arena arena(device,
                            {{.name = "x", .dtype = dtype, .sizes = {2}},
                             {.name = "y",
                              .role = BufferRole::output,
                              .dtype = dtype,
                              .sizes = {elements},
                              .offset = offset,
                              .alignment_bytes = 2}},
                            {.guard_parity = 1});
                arena.write(0, std::vector{1.0 / 3.0, -2.5});
                arena.upload();
                auto* y = static_cast<std::uint16_t*>(arena.view(1).data);
                const auto value = [&](std::int64_t i) {
                    return value_of(dtype, reinterpret_cast<const std::byte*>(y + i));
                };
                for (std::int64_t i = 0; i < elements; ++i) CHECK(std::isnan(value(i)));
                for (const std::int64_t i : {-3, -2, -1})
                    CHECK(std::isnan(value(i)) == (i % 2 != 0));
                for (std::int64_t i = elements; i < elements + 40; ++i)
                    CHECK(std::isnan(value(i)) == (i % 2 != 0));
                CHECK(y[0] != y[elements % 2 == 0 ? elements + 1 : elements]);
                y[0] = static_cast<std::uint16_t>(bits_of(dtype, 1.5));
                y[elements + 2] = y[0];
                arena.download();
                CHECK(arena.read(0) == std::vector{rounded_to(dtype, 1.0 / 3.0), -2.5});
                CHECK(arena.read(1)[0] == 1.5);
                CHECK(static_cast<std::int64_t>(arena.untouched(1).size()) == elements - 1);
                REQUIRE(arena.stray_writes().size() == 1);
                CHECK(arena.stray_writes()[0].first_element == elements + 2);
                CHECK(arena.stray_writes()[0].elements == 1);
            }
}

TEST_CASE("one byte an element: an unwritten one and a stray one are told, by one poison or two") {
    for (const DType dtype : {DType::f8e4m3, DType::f8e5m2})
        for (const Poison poison : {Poison::nan, Poison::positive_huge})
            for (const std::int64_t elements : {1, 5, 1000}) {
                FakeDevice device;
                Arena arena(device,
                            {{.name = "x", .dtype = dtype, .sizes = {2}},
                             {.name = "y",
                              .role = BufferRole::output,
                              .dtype = dtype,
                              .sizes = {elements},
                              .alignment_bytes = 1}},
                            {.poison = poison, .guard_parity = 1});
                arena.write(0, std::vector{1.0 / 3.0, -2.5});
                arena.upload();
                auto* y = static_cast<std::uint8_t*>(arena.view(1).data);
                CHECK(guard_bits(dtype, true) != poison_bits(dtype, Poison::nan));
                // What a NaN of CUDA's conversions leaves in a guard is a change.
                CHECK(guard_bits(dtype, true) != 0x7f);
                CHECK(value_of(dtype, reinterpret_cast<const std::byte*>(y + elements)) != 0.0);
                y[0] = static_cast<std::uint8_t>(bits_of(dtype, 1.5));
                y[elements] = 0x7f;
                y[elements + 1] = 0x7f;
                arena.download();
                CHECK(arena.read(0) == std::vector{rounded_to(dtype, 1.0 / 3.0), -2.5});
                CHECK(arena.read(1)[0] == 1.5);
                CHECK(static_cast<std::int64_t>(arena.untouched(1).size()) == elements - 1);
                REQUIRE(arena.stray_writes().size() == 1);
                CHECK(arena.stray_writes()[0].first_element == elements);
                CHECK(arena.stray_writes()[0].elements == 2);
            }
}

TEST_CASE("a huge poison is finite, and neither poison nor guard is a NaN that arithmetic makes") {
    for (const DType dtype :
         {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32, DType::f64})
        for (const Poison poison : {Poison::nan, Poison::positive_huge, Poison::negative_huge}) {
            FakeDevice device;
            Arena arena(device,
                        {{.name = "y", .role = BufferRole::output, .dtype = dtype, .sizes = {1}}},
                        {.poison = poison});
            arena.upload();
            arena.download();
            const double held = arena.read(0)[0];
            CHECK(std::isnan(held) == (poison == Poison::nan));
            if (poison == Poison::nan) continue;
            CHECK(std::isfinite(held));
            CHECK(std::abs(held) > traits_of(dtype).largest / 4.0);
            CHECK((held > 0.0) == (poison == Poison::positive_huge));
        }
}

namespace {

/// Bytes from the first element of the only buffer back to the region's begin, and from the last
/// on to its end.
struct Room {
    std::size_t before = 0, after = 0;
};

Room room_around(const BufferSpec& buffer, Edge edge) {
    FakeDevice device(true);
    const Arena arena(device, {buffer}, {.edge = edge});
    CHECK(device.edge == edge);
    const auto* data = static_cast<const std::byte*>(arena.view(0).data);
    const auto bytes =
        static_cast<std::size_t>(element_count(buffer.sizes)) * traits_of(buffer.dtype).bytes;
    const auto before = static_cast<std::size_t>(data - device.begins[0]);
    REQUIRE(device.described.size() == 1);
    CHECK(device.described[0].name == buffer.name);
    CHECK(device.described[0].begin == data);
    CHECK(device.described[0].end == data + bytes);
    CHECK(device.described[0].element_bytes == traits_of(buffer.dtype).bytes);
    return {before, device.sizes[0] - before - bytes};
}

}  // namespace

TEST_CASE("at an unmapped end the data ends as near to it as the declared alignment lets it") {
    for (const DType dtype : {DType::f16, DType::f32, DType::f64})
        for (const std::int64_t elements : {0, 1, 5, 64, 1000})
            for (const std::int64_t alignment : {2, 4, 16, 256, 1024})
                for (const std::int64_t offset : {0, 1, 3}) {
                    const BufferSpec buffer{.name = "x",
                                            .dtype = dtype,
                                            .sizes = {elements},
                                            .offset = offset,
                                            .alignment_bytes = alignment};
                    const auto element = static_cast<std::int64_t>(traits_of(dtype).bytes);
                    const auto aligned = static_cast<std::size_t>(std::max(alignment, element));
                    const Room end = room_around(buffer, Edge::end);
                    CHECK(end.after < aligned);
                    CHECK(end.before >= 512);
                    // The region's begin is a multiple of 256, its end that of a page.
                    FakeDevice device(true);
                    const Arena arena(device, {buffer}, {.edge = Edge::end});
                    const auto first = reinterpret_cast<std::uintptr_t>(arena.view(0).data) -
                                       static_cast<std::uintptr_t>(offset * element);
                    CHECK(first % aligned == 0);

                    const Room begin = room_around(buffer, Edge::begin);
                    CHECK(begin.before == static_cast<std::size_t>(offset * element));
                    CHECK(begin.after >= 512);
                }
}

TEST_CASE("a gap at an unmapped edge is a guard, and a write to it is found") {
    for (const Edge edge : {Edge::end, Edge::begin}) {
        FakeDevice device(true);
        Arena arena(device,
                    {{.name = "y",
                      .role = BufferRole::output,
                      .sizes = {3},
                      .offset = edge == Edge::end ? 0 : 2,
                      .alignment_bytes = 16}},
                    {.edge = edge});
        arena.upload();
        auto* y = arena.view(0).as<float>();
        const int beyond = edge == Edge::end ? 3 : -1;
        CHECK(std::isnan(y[beyond]) == (beyond % 2 == 0));
        y[beyond] = 1.0f;
        arena.download();
        REQUIRE(arena.stray_writes().size() == 1);
        CHECK(arena.stray_writes()[0].print(3) ==
              (edge == Edge::end ? "wrote 1 element past the end of y, the first at y[3] of 3"
                                 : "wrote 1 element before the start of y, the first at y[-1]"));
    }
}

}  // namespace gradverify
