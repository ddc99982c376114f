// SPDX-License-Identifier: Apache-2.0
// Whose calls an owner begins: whatever is asked for, in turns, and nothing beside a call that an
// owner may have died of.
#include "harness/devices/owner/call_queue.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <vector>

namespace {

using namespace gradverify;

struct Scene {
    explicit Scene(int slots) : fd(Exchange::make_memory(slots)), exchange(fd, slots) {}
    ~Scene() { close(fd); }
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;

    ExchangeSlot& ask(int client) const {
        ExchangeSlot& slot = exchange.slot(client);
        ++slot.turn;
        return slot;
    }
    /// The client whose calls are begun next, or nobody, less than 0 where alone.
    int next() {
        const auto asked = queue.next();
        if (!asked) return nobody;
        begun.push_back(*asked);
        return asked->is_alone ? -asked->client : asked->client;
    }
    /// Those that have been begun for longest are finished.
    void finish() {
        exchange.answer(begun.front().client, begun.front().turn);
        exchange.slot(begun.front().client).is_suspect = false;
        queue.finished(begun.front());
        begun.erase(begun.begin());
    }

    static constexpr int nobody = 100;
    std::vector<AskedCall> begun{};
    int fd;
    Exchange exchange;
    CallQueue queue{exchange};
};

}  // namespace

TEST_CASE("all that is asked for is begun, each once, and each first in its turn") {
    Scene scene(4);
    CHECK(scene.next() == Scene::nobody);
    for (const int client : {3, 1, 2}) scene.ask(client);
    CHECK(scene.next() == 1);
    CHECK(scene.next() == 2);
    scene.finish();
    scene.ask(1);
    CHECK(scene.next() == 3);
    CHECK(scene.next() == 1);
    CHECK(scene.next() == Scene::nobody);
}

TEST_CASE("a call that an owner may have died of is made alone") {
    Scene scene(4);
    scene.ask(0);
    CHECK(scene.next() == 0);
    for (const int client : {1, 3}) scene.ask(client).is_suspect = true;
    scene.ask(2);
    // It waits for what was begun, and all others for it.
    CHECK(scene.next() == Scene::nobody);
    scene.finish();
    CHECK(scene.next() == -1);
    CHECK(scene.next() == Scene::nobody);
    scene.finish();
    CHECK(scene.next() == -3);
    scene.finish();
    CHECK(scene.next() == 2);
    scene.ask(1);
    CHECK(scene.next() == 1);
}
