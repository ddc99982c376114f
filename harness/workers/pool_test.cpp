// SPDX-License-Identifier: Apache-2.0
// Every case gets exactly one answer, its own, whatever the workers do. testing/worker.cpp has the
// fake worker's words.
#include "harness/workers/pool.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <set>
#include <thread>

#include "harness/base/errors.hpp"
#include "harness/base/interrupt.hpp"
#include "harness/base/process_usage.hpp"
#include "harness/base/text.hpp"
#include "harness/testing/fake_pool.hpp"
#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// Checks that the middle one of some cases fails for this reason and that the others pass.
void check_only_middle_fails(const std::string& deadly, const std::string& cause,
                             WorkerPoolOptions with = options()) {
    CAPTURE(deadly);
    WorkerPool pool(std::move(with));
    const auto outcomes = outcomes_of(pool, {"pass", "pass", deadly, "pass", "pass", "pass"});
    for (const auto& [place, outcome] : outcomes) {
        const auto ticket = place;
        CAPTURE(ticket);
        CHECK(outcome.verdict == (ticket == 2 ? Verdict::failed : Verdict::passed));
        if (ticket == 2) CHECK(outcome.message == cause);
    }
}

WorkerPoolOptions impatient(double floor_seconds) {
    WorkerPoolOptions with = options();
    with.time.floor_seconds = floor_seconds;
    return with;
}

/// The device cpu has an owner.
WorkerPoolOptions owned(int jobs) {
    WorkerPoolOptions with = options(jobs);
    with.owned_device = "cpu";
    return with;
}

bool is_alive(const std::string& pid) { return kill(std::stoi(pid), 0) == 0; }

/// Whether it does more than wait for its parent to reap it.
bool is_running(const std::string& pid) {
    const auto usage = usage_of(std::stoi(pid));
    return usage && usage->memory_bytes > 0;
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

}  // namespace

TEST_CASE("each outcome comes back with the ticket of its case") {
    WorkerPool pool(options());
    const auto outcomes =
        outcomes_of(pool, {"pass", "fail", "vacuous", "skip", "error", "throw", "no_memory"});
    std::string all;
    for (const auto& [ticket, outcome] : outcomes) all += said(outcome) + "\n";
    CHECK(
        all.starts_with("passed: \nfailed: case -1\nvacuous: \nskipped: no partner\n"
                        "errored: no memory\nerrored: thrown\n"
                        "errored: out of memory outside of the kernel"));
    CHECK(outcomes.at(0).error_over_bound == 0.25);
}

TEST_CASE("hundreds of cases in the pipes of several workers are each answered once") {
    WorkerPool pool(options(3));
    std::vector<std::string> cases;
    for (int i = 0; i < 500; ++i) cases.push_back("echo " + std::to_string(i));
    const auto outcomes = outcomes_of(pool, cases);
    for (const auto& [ticket, outcome] : outcomes)
        CHECK(outcome.message == cases[static_cast<std::size_t>(ticket)]);
}

TEST_CASE("there is room until every worker has its depth of cases") {
    WorkerPoolOptions two = options(2);
    two.depth = 3;
    WorkerPool pool(two);
    int submitted = 0;
    for (; pool.has_room() && submitted < 100; ++submitted) pool.submit(submitted, told("pass"));
    CHECK(submitted == 6);
    CHECK(pool.in_flight() == 6);
    while (pool.wait(30.0)) --submitted;
    CHECK(submitted == 0);
    CHECK(pool.in_flight() == 0);
    CHECK(pool.has_room());
}

TEST_CASE("cases are spread over as many workers as a large machine has cores") {
    WorkerPool pool(options(70));
    std::set<std::string> pids;
    for (const auto& [ticket, outcome] : outcomes_of(pool, std::vector<std::string>(70, "pid")))
        pids.insert(outcome.message);
    CHECK(pids.size() == 70);
}

TEST_CASE("what clients of an owner leave is done by half as many as jobs, beside all else") {
    WorkerPool pool(owned(8));
    std::set<std::string> left, done_by_clients;
    std::vector<std::string> words(40, "use_device");
    words.insert(words.end(), 40, "pid");
    for (const auto& [ticket, outcome] : outcomes_of(pool, words))
        (ticket < 40 ? left : done_by_clients).insert(outcome.message);
    CHECK(left.size() == 4);
    CHECK(done_by_clients.size() == 16);
    for (const std::string& pid : left) CHECK_FALSE(done_by_clients.contains(pid));
}

TEST_CASE("large cases that clients leave are done by one worker alone") {
    WorkerPool pool(owned(16));
    std::set<std::string> pids;
    for (int i = 0; i < 20; ++i) {
        Work large = told("use_device");
        large.is_large = true;
        pool.submit(i, large);
    }
    while (const auto answer = pool.wait(30.0)) pids.insert(answer->outcome.message);
    CHECK(pids.size() == 1);
}

TEST_CASE(
    "what clients leave does not keep them waiting, once they have left the first of its row") {
    WorkerPool pool(owned(2));
    const Work slow = told("use_device_300");
    CHECK_FALSE(pool.is_left(slow.row()));
    pool.submit(0, slow);
    pool.submit(1, slow);
    CHECK(pool.wait(30.0)->outcome.verdict == Verdict::passed);
    // They go where the first one went, until there is no room for more.
    std::int64_t given = 2;
    CHECK(pool.is_left(slow.row()));
    CHECK(pool.changes_of_left() == 1);
    for (; pool.has_room_for_left() && given < 100; ++given) pool.submit(given, slow);
    CHECK(given <= 2 + static_cast<std::int64_t>(options().depth));
    CHECK(pool.has_room());
    CHECK_FALSE(pool.is_left(told("pid").row()));
    pool.submit(given, told("pid"));
    std::int64_t slow_before = 0;
    while (pool.wait(30.0)->ticket != given) ++slow_before;
    CHECK(slow_before <= 1);
    while (pool.wait(30.0)) continue;
}

TEST_CASE("what fails for a client alone has not failed, and is left by clients from then on") {
    WorkerPool pool(owned(2));
    const auto told_on = [](const char* word, const char* device) {
        Work work = told(word);
        work.device = device;
        return work;
    };
    const Work disturbed = told_on("fail_for_client", "cpu"), wrong = told_on("fail", "cpu"),
               elsewhere = told_on("fail_for_client", "another");
    pool.submit(0, disturbed);
    pool.submit(1, wrong);
    // On a device that nobody owns a client's calls are its own.
    pool.submit(2, elsewhere);
    while (const auto answer = pool.wait(30.0)) {
        CAPTURE(answer->ticket);
        CHECK(answer->outcome.verdict == (answer->ticket == 0 ? Verdict::passed : Verdict::failed));
    }
    CHECK(pool.is_left(disturbed.row()));
    CHECK_FALSE(pool.is_left(wrong.row()));
    CHECK_FALSE(pool.is_left(elsewhere.row()));
}

TEST_CASE("a kernel's first case on an owned device is run with a checked heap, by no client") {
    for (const std::int64_t strict_cases : {0, 200}) {
        CAPTURE(strict_cases);
        WorkerPoolOptions with = owned(2);
        with.strict_cases = strict_cases;
        WorkerPool pool(with);
        const Kernel kernel;
        Work work = told("fail_for_client");
        work.kernel = &kernel;
        const auto run_on = [&](const char* device) {
            work.device = device;
            pool.submit(0, work);
            return pool.wait(30.0)->outcome.verdict;
        };
        CHECK(run_on("another") == Verdict::failed);
        CHECK(run_on("cpu") == Verdict::passed);
        CHECK(pool.is_left(work.row()) == (strict_cases == 0));
        CHECK(run_on("cpu") == Verdict::passed);
        CHECK(pool.is_left(work.row()));
    }
}

TEST_CASE("while it is looked for who is to blame for a death on a GPU, others have cases") {
    for (const bool is_on_cpu : {true, false}) {
        CAPTURE(is_on_cpu);
        WorkerPoolOptions some = options();
        some.jobs = 2;
        WorkerPool pool(some);
        for (const auto& [ticket, outcome] : outcomes_of(pool, std::vector<std::string>(8, "pass")))
            CHECK(outcome.verdict == Verdict::passed);
        int meanwhile = 0;
        pool.keep_busy([&] {
            if (++meanwhile == 1) pool.submit(101, told("pass"));
        });
        Work crash = told("crash_late");
        crash.device = is_on_cpu ? "cpu" : "another";
        pool.submit(100, crash);
        CHECK(pool.wait(30.0)->ticket == (is_on_cpu ? 100 : 101));
        if (!is_on_cpu) CHECK(pool.wait(30.0)->ticket == 100);
        CHECK((meanwhile > 0) == !is_on_cpu);
        pool.finish();
    }
}

TEST_CASE("two deaths are judged one after the other, and both answered") {
    WorkerPoolOptions some = options();
    some.jobs = 2;
    WorkerPool pool(some);
    outcomes_of(pool, std::vector<std::string>(8, "pass"));
    bool is_given = false;
    pool.keep_busy([&] {
        if (!std::exchange(is_given, true)) pool.submit(101, told("abort"));
    });
    pool.submit(100, told("crash_late"));
    std::map<std::int64_t, std::string> said;
    while (const auto answer = pool.wait(30.0)) said[answer->ticket] = answer->outcome.message;
    CHECK(said == std::map<std::int64_t, std::string>{
                      {100, segfault}, {101, "the kernel's process called abort()"}});
}

TEST_CASE("a case that ends its worker, or speaks for it, fails, and no other") {
    check_only_middle_fails("crash", segfault);
    check_only_middle_fails("abort", "the kernel's process called abort()");
    check_only_middle_fails("exit_3", "the kernel's process called exit(3)");
    check_only_middle_fails("exit_0", "the kernel's process called exit(0)");
    // As a lost device would end it, which is no reason to run the case for ever.
    check_only_middle_fails("exit_75", "the kernel's process called exit(75)");
    check_only_middle_fails("garbage_as_answer", "the kernel wrote to a descriptor of the harness");
    check_only_middle_fails("close_pipe", "the kernel closed descriptors of the harness");
    WorkerPoolOptions small = options();
    small.memory_bytes = std::size_t{1} << 29;
    check_only_middle_fails("eat_memory", "used more than 0.5 GiB of memory", small);
    check_only_middle_fails("start_threads", "started more than 1000 threads and processes");
    // What the process printed before is part of the cause, in one line.
    check_only_middle_fails("speak_and_abort",
                            "the kernel's process called abort(); its last words: free(): invalid "
                            "pointer");
    check_only_middle_fails("tell_file_and_abort",
                            "the kernel's process called abort(); its last words: k.cu:7: lost");
}

TEST_CASE(
    "where prints are not shown, that of a failing case is, with control characters escaped") {
    TemporaryFile passed_on;
    const int real = dup(STDERR_FILENO);
    const int file = open(passed_on.path.c_str(), O_WRONLY);
    dup2(file, STDERR_FILENO);
    WorkerPoolOptions quiet = options();
    quiet.shows_prints = false;
    // In workers of their own: of one worker the next case may have begun.
    for (const char* word : {"garbage_on_stdout", "speak_and_fail"}) {
        WorkerPool pool(quiet);
        outcomes_of(pool, {word});
    }
    dup2(real, STDERR_FILENO);
    close(real);
    close(file);
    CHECK(joined(passed_on.lines(), "|") == "\\x1b[31mwrong");
}

TEST_CASE("what a process prints is passed on, but for the trials of a shrink") {
    // This process passes it on to its stderr.
    FILE* const passed_on = std::tmpfile();
    const int real = dup(STDERR_FILENO);
    dup2(fileno(passed_on), STDERR_FILENO);
    const auto length_after = [&](const RunOptions& run_options) {
        WorkerPool pool(options());
        CHECK(pool.run(told("speak_and_abort"), run_options)
                  .message.ends_with("free(): invalid pointer"));
        return lseek(fileno(passed_on), 0, SEEK_END);
    };
    CHECK(length_after({.patience = Patience::trial}) == 0);
    CHECK(length_after({.patience = Patience::trial, .alone = true}) == 0);
    CHECK(length_after({}) > 0);
    dup2(real, STDERR_FILENO);
    close(real);
    std::fclose(passed_on);
}

TEST_CASE("a case that spins, sleeps or begins blocks for ever fails in the end, and no other") {
    const std::string slowest = " (the slowest case of this run took 0.00098 s)";
    check_only_middle_fails("spin", "no end after 0.3 s of CPU time" + slowest, impatient(1.0));
    check_only_middle_fails("hang", "no end after 0.2 s in which it slept" + slowest,
                            impatient(1.0 / 3.0));
    check_only_middle_fails("begin_blocks_without_end", "no end after 2 s of CPU time" + slowest,
                            impatient(1.0 / 3.0));
    // A trial of shrinking is given less time.
    WorkerPool pool(impatient(2.0));
    CHECK(pool.run(told("spin"), {.patience = Patience::trial}).message ==
          "no end after 0.2 s of CPU time (no case of this run has ended)");
}

TEST_CASE("a case that begins block after block is slow, and does not hang") {
    WorkerPool pool(impatient(0.25));
    CHECK(pool.run(told("begin_20_blocks")).verdict == Verdict::passed);
    CHECK(pool.run(told("begin_20_blocks"), {.alone = true}).verdict == Verdict::passed);
    // No smaller problem is one that takes long.
    CHECK(pool.run(told("begin_20_blocks"), {.patience = Patience::trial}).verdict ==
          Verdict::failed);
}

TEST_CASE("a worker that is stopped from running by others is not late") {
    WorkerPool pool(impatient(0.4));
    // Many processes on few cores: each gets a fraction of the wall time.
    std::vector<pid_t> crowd(4 * std::thread::hardware_concurrency());
    for (pid_t& pid : crowd)
        if (pid = fork(); pid == 0)
            while (getppid() != 0) continue;
    CHECK(pool.run(told("spin_100")).verdict == Verdict::passed);
    for (const pid_t pid : crowd) {
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
}

TEST_CASE("what a process takes to end keeps no other waiting") {
    WorkerPool pool(options(2));
    pool.submit(0, told("close_pipe"));  // ended after a second
    constexpr int others = 20;
    for (int i = 1; i <= others; ++i) pool.submit(i, told("sleep_20"));
    // A few wait in its pipe.
    for (int i = 1; i <= others / 2; ++i) CHECK(pool.wait(60.0).value().ticket != 0);
}

TEST_CASE("a device that several new workers can't reach is the environment's fault") {
    WorkerPool pool(options(2));
    CHECK(pool.run(told("pass")).verdict == Verdict::passed);
    CHECK_THROWS_WITH_AS(pool.run(told("no_device")),
                         "device cuda: gone (in 3 new workers in a row)", EnvironmentError);
}

TEST_CASE("what a kernel forked is ended with its worker") {
    WorkerPool pool(options());
    const auto start = std::chrono::steady_clock::now();
    const std::string message = pool.run(told("fork_and_crash")).message;
    const std::string before_pid = segfault + "; its last words: ";
    REQUIRE(message.starts_with(before_pid));
    const std::string forked = message.substr(before_pid.size());
    // On a busy machine a killed process takes a moment to go.
    for (int tries = 0; tries < 500 && is_running(forked); ++tries)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK_FALSE(is_running(forked));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
}

TEST_CASE("a case that no worker was given can be taken back") {
    WorkerPool pool(options());
    pool.submit(0, told("pass"));  // the worker has yet to greet
    pool.submit(1, told("pass"));
    CHECK(pool.withdraw(1));
    CHECK_FALSE(pool.withdraw(1));
    const auto answer = pool.wait(30.0);
    REQUIRE(answer);
    CHECK(answer->ticket == 0);
    CHECK_FALSE(pool.withdraw(0));
    CHECK_FALSE(pool.wait(30.0));
}

TEST_CASE("an interrupted driver stops waiting") {
    const InterruptScope interrupts;
    WorkerPool pool(options());
    pool.submit(0, told("hang"));
    raise(SIGINT);
    CHECK(interrupt_signal() == SIGINT);
    CHECK_THROWS_AS(pool.wait(30.0), Interrupted);
}

TEST_CASE("every worker may die at every case") {
    WorkerPool pool(options(2));
    for (const auto& [ticket, outcome] : outcomes_of(pool, std::vector<std::string>(20, "crash")))
        CHECK(outcome.verdict == Verdict::failed);
    CHECK(pool.run(told("pass")).verdict == Verdict::passed);
}

TEST_CASE("what a kernel prints on stdout is taken for no answer") {
    WorkerPool pool(options());
    for (const auto& [ticket, outcome] :
         outcomes_of(pool, {"garbage_on_stdout", "pass", "garbage_on_stdout", "pass"}))
        CHECK(outcome.verdict == Verdict::passed);
}

TEST_CASE("cases longer than a pipe wait behind one that hangs without stopping the driver") {
    WorkerPool pool(impatient(0.1));
    const std::string longest = "echo " + std::string(200'000, 'x');
    const auto outcomes = outcomes_of(pool, {"hang", longest, longest, "pass", longest});
    CHECK(outcomes.at(0).message ==
          "no end after 0.2 s in which it slept (no case of this run has ended)");
    CHECK(outcomes.at(1).message == longest);
    CHECK(outcomes.at(2).message == longest);
    CHECK(outcomes.at(3).verdict == Verdict::passed);
    CHECK(outcomes.at(4).message == longest);
}

TEST_CASE("a worker that lost its device after an answer is replaced at nobody's expense") {
    for (const WorkerPoolOptions& with : {options(), owned(2)}) {
        CAPTURE(with.owned_device);
        WorkerPool pool(with);
        constexpr std::int64_t count = 40;
        const auto loses = [](std::int64_t ticket) { return ticket < 8 || ticket % 5 == 0; };
        for (std::int64_t i = 0; i < count; ++i) {
            Work work = told(loses(i) ? "lose_device" : "pass");
            work.device = "cpu";
            pool.submit(i, work);
        }
        std::int64_t answers = 0;
        while (const auto answer = pool.wait(30.0)) {
            ++answers;
            CAPTURE(answer->ticket);
            if (loses(answer->ticket))
                CHECK(answer->outcome.message == "sticky");
            else
                CHECK(answer->outcome.verdict == Verdict::passed);
        }
        CHECK(answers == count);
    }
}

TEST_CASE("one case can be run while others are in flight, whose answers are kept") {
    WorkerPool pool(options(2));
    for (std::int64_t i = 0; i < 8; ++i) pool.submit(i, told(i % 2 == 0 ? "sleep_20" : "crash"));
    CHECK(pool.run(told("echo hello")).message == "echo hello");
    CHECK(pool.run(told("crash")).verdict == Verdict::failed);
    CHECK(pool.in_flight() == 8);
    std::map<std::int64_t, Verdict> verdicts;
    while (const auto answer = pool.wait(30.0)) verdicts[answer->ticket] = answer->outcome.verdict;
    REQUIRE(verdicts.size() == 8);
    for (const auto& [ticket, verdict] : verdicts)
        CHECK(verdict == (ticket % 2 == 0 ? Verdict::passed : Verdict::failed));
}

TEST_CASE("what is expected runs beside what is asked for, and is not run again") {
    WorkerPool pool(options(4));
    outcomes_of(pool, std::vector<std::string>(8, "sleep_20"));  // all have started
    const RunOptions trial{.patience = Patience::trial};
    // Each says which process has run it.
    std::vector<Work> next;
    for (const char* word : {"pid 1", "pid 2", "pid 3"}) next.push_back(told(word));
    pool.expect(next);
    std::set<std::string> pids;
    for (const Work& work : next) pids.insert(pool.run(work, trial).message);
    CHECK(pids.size() == 3);
    // Asked for once more, each is run by the worker that is for that.
    pids.clear();
    for (const Work& work : next) pids.insert(pool.run(work, trial).message);
    CHECK(pids.size() == 1);
    // One that kills its worker has its outcome, and one that is full of patience its own run.
    pool.expect({told("crash"), told("pid 4")});
    CHECK(pool.run(told("crash"), trial).verdict == Verdict::failed);
    CHECK(pids.contains(pool.run(told("pid 4")).message));
}

TEST_CASE("what was expected and not asked for is nobody's answer") {
    WorkerPool pool(options(2));
    pool.expect({told("sleep_20"), told("echo a"), told("crash"), told("echo b")});
    pool.expect({});
    for (std::int64_t i = 0; i < 20; ++i) pool.submit(i, told("pass"));
    std::int64_t answers = 0;
    for (; const auto answer = pool.wait(30.0); ++answers)
        CHECK(answer->outcome.verdict == Verdict::passed);
    CHECK(answers == 20);
    CHECK(pool.run(told("echo a"), {.patience = Patience::trial}).message == "echo a");
    // Nor of those that come after.
    pool.expect({told("sleep_20"), told("echo c"), told("crash"), told("echo d")});
    pool.finish();
    CHECK_FALSE(pool.wait(0.0));
    pool.expect({told("echo e"), told("echo f")});
    for (const char* word : {"echo e", "echo f", "echo g"})
        CHECK(pool.run(told(word), {.patience = Patience::trial}).message == word);
}

TEST_CASE("waiting ends when no answer is due, and when none comes in time") {
    WorkerPool pool(options());
    CHECK_FALSE(pool.wait(30.0));
    pool.submit(1, told("sleep_300"));
    CHECK_FALSE(pool.wait(0.02));
    const auto answer = pool.wait(30.0);
    REQUIRE(answer);
    CHECK(answer->ticket == 1);
}

TEST_CASE("a worker says which devices there are") {
    WorkerPool pool(options());
    CHECK(pool.probe("cpu").empty());
    CHECK(pool.probe("tpu") == "unknown device 'tpu'; there are cpu, cuda");
}

TEST_CASE("no worker survives its pool, not even one that hangs") {
    std::string idle;
    {
        WorkerPool pool(options(3));
        idle = pool.run(told("pid")).message;
        pool.submit(0, told("hang"));
        pool.submit(1, told("crash"));
        CHECK_FALSE(pool.wait(0.0));
        CHECK(is_alive(idle));
    }
    CHECK_FALSE(is_alive(idle));
    CHECK_FALSE(has_children());
}

TEST_CASE("a command that does not exist, or is no worker, is the environment's fault") {
    using Words = std::vector<std::string>;
    const std::string before = "a worker ended before its first case: the kernel";
    for (const auto& [command, why] :
         {std::pair(Words{"/no/such/program"},
                    std::string("can't start a worker (/no/such/program): No such file or "
                                "directory")),
          {{"/bin/sh", "-c", "exit 4"}, before + "'s process called exit(4)"},
          {{"/bin/sh", "-c", "echo hello >&4; read request <&3"},
           before + " wrote to a descriptor of the harness"}}) {
        const auto run_one = [&, &words = command] {
            WorkerPool pool({.command = words, .jobs = 2, .forks = nullptr});
            pool.submit(0, told("pass"));
            pool.wait(30.0);
        };
        CHECK_THROWS_WITH_AS(run_one(), why.c_str(), EnvironmentError);
        CHECK_FALSE(has_children());
    }
}
