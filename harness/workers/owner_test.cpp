// SPDX-License-Identifier: Apache-2.0
// What the driver makes of owners that die in a call. testing/worker.cpp has the fake owner.
#include "harness/workers/owner.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "harness/testing/fake_worker.hpp"
#include "harness/workers/fork_server.hpp"

namespace {

using namespace gradverify;

/// Holds this thread, and what it starts, on one processor.
void stay_here() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
}

/// From here on all else goes before this thread, which can't be taken back.
void run_last() {
    const sched_param none{};
    REQUIRE(sched_setscheduler(0, SCHED_IDLE, &none) == 0);
}

DeviceOwner::Death next_death(DeviceOwner& owner) {
    for (;;) {
        if (auto death = owner.look()) return std::move(*death);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

TEST_CASE("an owner may take longer to open its device than a call may take") {
    DeviceOwner owner(dying_owner_command(0.5), "cpu", 1, std::make_shared<ForkServers>());
    const Exchange exchange(owner.exchange_fd(), 1);
    for (int death = 0; death < 3; ++death) {
        exchange.slot(0).turn |= 1U;
        std::optional<DeviceOwner::Death> seen;
        while (!seen) {
            seen = owner.watch({0.1, 0.1, 0.1, std::size_t{1} << 40});
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        CHECK(seen->client == 0);
        owner.forget(0);
    }
}

TEST_CASE(
    "one that dies of a call made alone has had no part in what an owner before it answered") {
    DeviceOwner owner(dying_owner_command(), "cpu", 2, std::make_shared<ForkServers>());
    const Exchange exchange(owner.exchange_fd(), 2);
    exchange.slot(0).turn |= 1U;
    exchange.slot(1).turn |= 1U;
    owner.look();
    owner.answered({.ticket = 0, .work = Work(Probe{})});
    const DeviceOwner::Death death = next_death(owner);
    CHECK(death.client == 0);
    CHECK(death.history.empty());
}

TEST_CASE("an owner that dies in its first call has made one, however fast it is") {
    const auto die_often = [] {
        stay_here();
        DeviceOwner owner(dying_owner_command(), "cpu", 1, std::make_shared<ForkServers>());
        const Exchange exchange(owner.exchange_fd(), 1);
        for (int death = 0; death < 5; ++death) {
            exchange.slot(0).turn |= 1U;
            CHECK(next_death(owner).client == 0);
            owner.forget(0);
            // The server that forks owners runs by now, and they go before this thread, as its own.
            if (death == 0) run_last();
        }
    };
    std::async(std::launch::async, die_often).get();
}
