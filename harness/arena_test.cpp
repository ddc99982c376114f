// SPDX-License-Identifier: Apache-2.0
#include "harness/arena.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

namespace gradverify {

namespace {

/// Host memory that plays a device; `run` is not used.
class FakeDevice final : public Device {
  public:
    std::string_view name() const override { return "fake"; }
    std::byte* memory(std::size_t bytes) override {
        memory_.resize(bytes + 256);
        auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        return memory_.data() + (256 - address % 256);
    }
    std::byte* host_memory(int which, std::size_t bytes) override {
        host_[which].resize(bytes);
        return host_[which].data();
    }
    void upload(const std::byte* host, std::size_t bytes) override {
        std::memcpy(memory(bytes), host, bytes);
    }
    void download(std::byte* host, std::size_t bytes) override {
        std::memcpy(host, memory(bytes), bytes);
    }
    CUstream_st* stream(bool) override { return nullptr; }
    RunStatus run(KernelDeclaration::Thunk, const PassCall&, const Setting&) override { return {}; }

  private:
    std::vector<std::byte> memory_;
    std::vector<std::byte> host_[2];
};

/// An input x of 5 floats and an output y of 3.
struct Rig {
    FakeDevice device;
    Arena arena;
    explicit Rig(Surroundings surroundings = {}, std::int64_t offset = 0,
                 std::int64_t alignment = 256)
        : arena(device,
                {{.name = "x", .sizes = {5}, .offset = offset, .alignment_bytes = alignment},
                 {.name = "y", .role = BufferRole::output, .sizes = {3}, .offset = offset}}) {
        arena.surround(surroundings);
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
    Arena arena(device, {{.name = "y", .role = BufferRole::output, .sizes = {0, 4}}});
    arena.surround({});
    arena.upload();
    arena.view(0).as<float>()[0] = 1.0f;
    arena.download();
    CHECK(arena.stray_writes().size() == 1);
}

TEST_CASE("reading a tensor as another element type is refused by name") {
    Rig rig;
    CHECK_THROWS_WITH_AS(rig.arena.view(0).as<double>(),
                         "the launcher reads a tensor of f32 as f64", std::invalid_argument);
}

}  // namespace gradverify
