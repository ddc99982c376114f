// SPDX-License-Identifier: Apache-2.0
#include "harness/base/process_usage.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "harness/workers/process.hpp"

using namespace gradverify;

TEST_CASE("a process that has called exit, or was killed, is told from one that runs") {
    const auto itself = usage_of(getpid());
    REQUIRE(itself);
    CHECK(itself->wants_to_run);
    CHECK_FALSE(itself->is_exiting);
    CHECK(itself->memory_bytes > 0);

    const pid_t waiting = fork();
    if (waiting == 0) {
        pause();
        _exit(0);
    }
    const auto before = usage_of(waiting);
    REQUIRE(before);
    CHECK_FALSE(before->is_exiting);
    // It counts with the one that has started it.
    const auto both = usage_of(getpid());
    CHECK(both->threads == itself->threads + 1);
    CHECK(both->memory_bytes >= itself->memory_bytes + before->memory_bytes);
    kill(waiting, SIGKILL);
    siginfo_t info{};
    // It stays what it is until it is reaped.
    REQUIRE(waitid(P_PID, static_cast<id_t>(waiting), &info, WEXITED | WNOWAIT) == 0);
    const auto after = usage_of(waiting);
    REQUIRE(after);
    CHECK(after->is_exiting);
    CHECK(waitpid(waiting, nullptr, 0) == waiting);
    CHECK_FALSE(usage_of(waiting));
}

TEST_CASE("memory that caches files is there to be had") {
    CHECK(available_memory_of("MemTotal:       24689664 kB\nMemFree:          160312 kB\n"
                              "MemAvailable:   18120540 kB\nCached:         17500000 kB\n") ==
          18120540 * std::size_t{1024});
    CHECK_FALSE(available_memory_of("MemTotal: 24689664 kB\nMemFree: 160312 kB\n"));
    CHECK_FALSE(available_memory_of("MemAvailable: kB\nMemAvailable:\nMemAvailable: x kB\n"));
    CHECK(available_memory_bytes() > 0);
    CHECK(available_memory_bytes() <= physical_memory_bytes());
}

TEST_CASE("a process that is being taken down is waited for, and no other beyond its time") {
    CHECK(is_waited_for(-0.1, false));
    CHECK_FALSE(is_waited_for(0.0, false));
    CHECK(is_waited_for(0.0, true));
    CHECK(is_waited_for(59.0, true));
    CHECK_FALSE(is_waited_for(61.0, true));
}
