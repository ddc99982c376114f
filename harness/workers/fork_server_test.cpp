// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/fork_server.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "harness/testing/fake_worker.hpp"

namespace {

using namespace gradverify;

std::vector<pid_t> children() {
    std::ifstream file("/proc/thread-self/children");
    std::vector<pid_t> all;
    for (pid_t child = 0; file >> child;) all.push_back(child);
    return all;
}

/// Whether the worker says that it is ready.
bool greets(const SpawnedWorker& worker) {
    pollfd answer{.fd = worker.answers.get(), .events = POLLIN, .revents = 0};
    std::array<char, 64> line{};
    return poll(&answer, 1, 30'000) == 1 && read(answer.fd, line.data(), line.size()) > 0 &&
           std::string(line.data()).find("ready") != std::string::npos;
}

bool leads_a_group(pid_t pid) { return getpgid(pid) == pid; }

void end(const SpawnedWorker& worker) {
    kill(worker.pid, SIGKILL);
    int status = 0;
    CHECK(waitpid(worker.pid, &status, 0) == worker.pid);
}

}  // namespace

TEST_CASE("workers are this process's children, forked from one that it keeps") {
    const std::vector<pid_t> before = children();
    {
        ForkServers forks;
        const SpawnedWorker first = spawn_worker(test_worker_command(), false, -1, &forks),
                            second = spawn_worker(test_worker_command(), false, -1, &forks);
        CHECK(children().size() == before.size() + 3);
        for (const SpawnedWorker* worker : {&first, &second}) {
            CHECK(greets(*worker));
            CHECK(leads_a_group(worker->pid));
            CHECK(std::ranges::count(children(), worker->pid) == 1);
        }
        end(first);
        end(second);
        CHECK(children().size() == before.size() + 1);
    }
    CHECK(children() == before);
}

TEST_CASE("a worker is started anew where none can be forked") {
    const std::vector<pid_t> before = children();
    ForkServers forks;
    end(spawn_worker(test_worker_command(), false, -1, &forks));
    std::vector<pid_t> servers = children();
    std::erase_if(servers, [&](pid_t pid) { return std::ranges::count(before, pid) > 0; });
    REQUIRE(servers.size() == 1);
    kill(servers.front(), SIGKILL);
    const SpawnedWorker worker = spawn_worker(test_worker_command(), false, -1, &forks);
    CHECK(greets(worker));
    end(worker);
}
