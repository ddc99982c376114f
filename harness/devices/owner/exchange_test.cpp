// SPDX-License-Identifier: Apache-2.0
// The memory that clients share with an owner. What an owner does with kernels that crash is in
// properties/tests/misbehaving_test.cpp.
#include "harness/devices/owner/exchange.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <future>

namespace {

using namespace gradverify;

/// The memory as two processes see it.
struct Ends {
    explicit Ends(int slots)
        : fd(Exchange::make_memory(slots)), client(fd, slots), owner(fd, slots) {}
    ~Ends() { close(fd); }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;

    std::future<void> ask(int slot) const {
        return std::async(std::launch::async, [this, slot] { client.call(slot); });
    }
    /// The turn of the call that the owner is asked for.
    std::uint32_t await(int slot) const {
        for (;;) {
            const std::uint32_t seen = owner.head().doorbell;
            if (owner.slot(slot).is_asked()) return owner.slot(slot).turn;
            owner.await_calls(seen);
        }
    }

    int fd;
    Exchange client, owner;
};

bool can_read(const std::byte* at) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const bool written = write(ends[1], at, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return written;
}

bool waits(const std::future<void>& call) {
    return call.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout;
}

}  // namespace

TEST_CASE("a call waits for its answer, and leaves the others' slots alone") {
    Ends ends(3);
    const auto last_of = [](Exchange& end, Image which) -> std::byte& {
        return end.image(2, which, Exchange::most_bytes)[Exchange::most_bytes - 1];
    };
    for (const Image which : {Image::before, Image::given})
        last_of(ends.client, which) = std::byte(7 + static_cast<int>(which));
    ends.client.slot(2).call.bytes = 9;
    const std::future<void> call = ends.ask(2);
    const std::uint32_t turn = ends.await(2);
    CHECK(waits(call));
    CHECK(ends.owner.slot(2).call.bytes == 9);
    CHECK(last_of(ends.owner, Image::before) == std::byte{7});
    CHECK(last_of(ends.owner, Image::given) == std::byte{8});
    CHECK(last_of(ends.owner, Image::left) == std::byte{0});
    CHECK(ends.owner.image(2, Image::left_again, 1)[0] == std::byte{0});
    CHECK_FALSE(ends.owner.slot(0).is_asked());
    ends.owner.answer(2, turn);
    call.wait();
    CHECK_FALSE(ends.client.slot(2).is_asked());
}

TEST_CASE("a process reaches what it has asked for of the images, and nothing beyond") {
    Ends ends(2);
    const std::byte* const before = ends.client.image(0, Image::before, 5000);
    const std::byte* const after = ends.client.image(0, Image::given, 1);
    CHECK(can_read(before + 5000));
    CHECK_FALSE(can_read(before + 8192));
    CHECK(can_read(after));
    CHECK_FALSE(can_read(after - 1));
    CHECK_FALSE(can_read(after + 4096));
    CHECK(ends.client.image(0, Image::before, 9000) == before);
    CHECK(can_read(before + 9000));
    CHECK(ends.client.image(0, Image::before, 1) == before);
    CHECK(can_read(before + 9000));
}

TEST_CASE("what a client had asked that is gone is no answer to the next one in its slot") {
    const Ends ends(2);
    ends.client.slot(1).is_suspect = true;
    const std::future<void> gone = ends.ask(1);
    const std::uint32_t turn = ends.await(1);
    ends.owner.forget(1);
    gone.wait();
    CHECK_FALSE(ends.owner.slot(1).is_suspect);
    // To forget a client that has asked for nothing changes nothing.
    ends.owner.forget(1);
    const std::future<void> next = ends.ask(1);
    const std::uint32_t next_turn = ends.await(1);
    ends.owner.answer(1, turn);
    CHECK(waits(next));
    ends.owner.answer(1, next_turn);
    next.wait();
}
