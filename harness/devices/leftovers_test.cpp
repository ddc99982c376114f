// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/leftovers.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <thread>
#include <vector>

using namespace gradverify;

constexpr auto keeps_nothing = Leftovers::Kept::nothing,
               keeps_all = Leftovers::Kept::threads_and_files;

TEST_CASE("threads that go on are left, and those that end are not") {
    const Leftovers before(keeps_nothing), of_pool(Leftovers::Kept::threads);
    std::atomic<bool> goes_on = true;
    std::vector<std::thread> left;
    for (const char* what : {"a host thread", "2 host threads"}) {
        left.emplace_back([&] {
            while (goes_on) std::this_thread::yield();
        });
        CHECK(before.found(nullptr) ==
              "leaves " + std::string(what) + " running, and does not declare keeps_threads()");
        CHECK(of_pool.found(nullptr) == "");
    }
    goes_on = false;
    CHECK(before.found(nullptr) == "");
    for (std::thread& thread : left) thread.join();
    CHECK(before.found(nullptr) == "");
}

TEST_CASE("another process is left whether it runs or only waits to be reaped, and is ended") {
    for (const bool runs : {true, false}) {
        const Leftovers before(keeps_all);
        const pid_t child = fork();
        if (child == 0) {
            while (runs) pause();
            _exit(0);
        }
        CHECK(restore_process() == "leaves another process running, or does not wait for its end");
        waitpid(child, nullptr, 0);
        CHECK(kill(child, 0) == -1);
        CHECK(restore_process() == "");
    }
    const Leftovers before(keeps_all);
    const pid_t child = fork();
    if (child == 0) {
        (void)before.found(nullptr);  // a launcher returned in both
        _exit(7);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(restore_process() == "");
}

TEST_CASE("a clock or a timer that is left is told, and goes off no more") {
    const itimerspec soon{.it_interval = {}, .it_value = {.tv_sec = 1, .tv_nsec = 0}};
    const itimerval soon_of_clock{.it_interval = {}, .it_value = {.tv_sec = 1, .tv_usec = 0}};
    timer_t timer{};
    for (const int clock : {int{ITIMER_REAL}, int{ITIMER_PROF}, -1}) {
        const Leftovers before(keeps_all);
        if (clock >= 0)
            setitimer(static_cast<__itimer_which>(clock), &soon_of_clock, nullptr);
        else if (timer_create(CLOCK_MONOTONIC, nullptr, &timer) == 0)
            timer_settime(timer, 0, &soon, nullptr);
        CHECK(restore_process() == "leaves an alarm or a timer that ends the process");
        CHECK(restore_process() == "");
    }
    sleep(1);
}

TEST_CASE("a limit that was changed is told and restored") {
    const Leftovers before(keeps_all);
    rlimit usual{};
    getrlimit(RLIMIT_STACK, &usual);
    rlimit lower = usual;
    lower.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_STACK, &lower);
    CHECK(restore_process() == "changes the process's limit of the stack");
    getrlimit(RLIMIT_STACK, &lower);
    CHECK(lower.rlim_cur == usual.rlim_cur);
    CHECK(restore_process() == "");
}

TEST_CASE("handlers of signals are what they were before the first launcher") {
    const Leftovers before(keeps_all);
    for (const int signal : {SIGCHLD, SIGFPE}) {
        std::signal(signal, SIG_IGN);
        CHECK(restore_process() == "");
        struct sigaction after{};
        sigaction(signal, nullptr, &after);
        CHECK((after.sa_handler == SIG_IGN) == false);
        const int flags = after.sa_flags;
        after.sa_flags ^= SA_RESTART;
        sigaction(signal, &after, nullptr);
        CHECK(restore_process() == "");
        sigaction(signal, nullptr, &after);
        CHECK(after.sa_flags == flags);
    }
}

TEST_CASE("one file is a log's, and one for each of a launcher's calls is a leak") {
    std::vector<int> files;
    const int launcher = 0, another = 0;
    for (int call = 0; call < 9; ++call) {
        const Leftovers before(keeps_nothing);
        files.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
        CHECK(before.found(&launcher) ==
              (call < 8 ? "" : "leaves a file open, as 8 of its calls before did"));
        CHECK(Leftovers(keeps_nothing).found(&launcher) == "");
    }
    const Leftovers before(keeps_nothing);
    files.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    CHECK(before.found(&another) == "");
    for (const int file : files) close(file);
}
