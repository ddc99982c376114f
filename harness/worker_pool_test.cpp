// SPDX-License-Identifier: Apache-2.0
// That every case gets exactly one answer, its own, whatever the workers do; see test_worker.cpp
// for the words that the fake worker obeys.
#include "harness/worker_pool.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <map>
#include <set>

#include "harness/errors.hpp"
#include "harness/test_worker.hpp"

namespace {

using namespace gradverify;

WorkerPoolOptions options(int jobs = 1) { return {.command = test_worker_command(), .jobs = jobs}; }

/// Submits the cases, with their positions as tickets, and collects the outcomes by ticket.
std::map<std::int64_t, Outcome> outcomes_of(WorkerPool& pool,
                                            const std::vector<std::string>& cases) {
    for (std::size_t i = 0; i < cases.size(); ++i)
        pool.submit(static_cast<std::int64_t>(i), cases[i]);
    std::map<std::int64_t, Outcome> outcomes;
    while (const auto answer = pool.wait(30.0)) {
        const bool is_first = outcomes.emplace(answer->ticket, answer->outcome).second;
        CHECK_MESSAGE(is_first, "two answers to one case");
    }
    CHECK(outcomes.size() == cases.size());
    return outcomes;
}

/// Checks that the middle one of some cases fails for this reason and that the others pass.
void check_only_middle_fails(const std::string& deadly, const std::string& cause,
                             WorkerPoolOptions with = options()) {
    CAPTURE(deadly);
    WorkerPool pool(std::move(with));
    const auto outcomes = outcomes_of(pool, {"pass", "pass", deadly, "pass", "pass", "pass"});
    for (const auto& [ticket, outcome] : outcomes) {
        CAPTURE(ticket);
        CHECK(outcome.verdict == (ticket == 2 ? Verdict::failed : Verdict::passed));
        if (ticket == 2) CHECK(outcome.message == cause);
    }
}

bool is_alive(const std::string& pid) { return kill(std::stoi(pid), 0) == 0; }

bool has_children() { return waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

}  // namespace

TEST_CASE("each outcome comes back with the ticket of its case") {
    WorkerPool pool(options());
    const auto outcomes = outcomes_of(pool, {"pass", "fail", "vacuous", "skip", "error", "throw"});
    CHECK(outcomes.at(0).verdict == Verdict::passed);
    CHECK(outcomes.at(0).error_over_bound == 0.25);
    CHECK(outcomes.at(1).verdict == Verdict::failed);
    CHECK(outcomes.at(2).verdict == Verdict::vacuous);
    CHECK(outcomes.at(3).verdict == Verdict::skipped);
    CHECK(outcomes.at(4).verdict == Verdict::errored);
    CHECK(outcomes.at(5).verdict == Verdict::errored);
    CHECK(outcomes.at(5).message == "thrown");
}

TEST_CASE("hundreds of cases in the pipes of several workers are each answered once") {
    WorkerPool pool(options(3));
    std::vector<std::string> cases;
    for (int i = 0; i < 500; ++i) cases.push_back("echo " + std::to_string(i));
    const auto outcomes = outcomes_of(pool, cases);
    for (const auto& [ticket, outcome] : outcomes)
        CHECK(outcome.message == cases[static_cast<std::size_t>(ticket)]);
}

TEST_CASE("cases are spread over the workers") {
    WorkerPool pool(options(3));
    std::set<std::string> pids;
    for (const auto& [ticket, outcome] : outcomes_of(pool, {"pid", "pid", "pid"}))
        pids.insert(outcome.message);
    CHECK(pids.size() == 3);
}

TEST_CASE("there is room until every worker has its depth of cases") {
    WorkerPoolOptions two = options(2);
    two.depth = 3;
    WorkerPool pool(two);
    int submitted = 0;
    for (; pool.has_room() && submitted < 100; ++submitted) pool.submit(submitted, "pass");
    CHECK(submitted == 6);
    CHECK(pool.in_flight() == 6);
    while (pool.wait(30.0)) --submitted;
    CHECK(submitted == 0);
    CHECK(pool.in_flight() == 0);
    CHECK(pool.has_room());
}

TEST_CASE("as many workers as a large machine has cores can be started") {
    WorkerPool pool(options(70));
    std::set<std::string> pids;
    for (const auto& [ticket, outcome] : outcomes_of(pool, std::vector<std::string>(70, "pid")))
        pids.insert(outcome.message);
    CHECK(pids.size() == 70);
}

TEST_CASE("a worker that dies fails the case that it was running, and no other") {
    check_only_middle_fails("crash", "the worker was killed by signal 11 (Segmentation fault)");
    check_only_middle_fails("abort", "the worker was killed by signal 6 (Aborted)");
    check_only_middle_fails("exit_3", "the worker called exit(3)");
}

TEST_CASE("a case that hangs fails after the time limit, and no other") {
    WorkerPoolOptions impatient = options();
    impatient.timeout_seconds = 1.0;
    check_only_middle_fails("hang", "no answer for 1 s", impatient);
    impatient.timeout_seconds = 0.75;
    check_only_middle_fails("hang", "no answer for 0.75 s", impatient);
}

TEST_CASE("the time limit is for one case, not for all that wait in a worker's pipe") {
    WorkerPoolOptions impatient = options();
    impatient.timeout_seconds = 1.2;
    WorkerPool pool(impatient);
    for (const auto& [ticket, outcome] :
         outcomes_of(pool, std::vector<std::string>(6, "sleep_300")))
        CHECK(outcome.verdict == Verdict::passed);
}

TEST_CASE("every worker may die at every case") {
    WorkerPool pool(options(2));
    for (const auto& [ticket, outcome] : outcomes_of(pool, std::vector<std::string>(20, "crash")))
        CHECK(outcome.verdict == Verdict::failed);
    CHECK(pool.run("pass").verdict == Verdict::passed);
}

TEST_CASE("what a kernel prints on stdout is taken for no answer") {
    WorkerPool pool(options());
    for (const auto& [ticket, outcome] :
         outcomes_of(pool, {"garbage_on_stdout", "pass", "garbage_on_stdout", "pass"}))
        CHECK(outcome.verdict == Verdict::passed);
}

TEST_CASE("a case that writes to the answers' pipe, or closes it, fails, and no other") {
    check_only_middle_fails("garbage_as_answer",
                            "the worker wrote something else than an answer to its pipe");
    check_only_middle_fails("close_pipe", "the worker was killed by signal 9 (Killed)");
}

TEST_CASE("cases longer than a pipe wait behind one that hangs without stopping the driver") {
    WorkerPoolOptions impatient = options();
    impatient.timeout_seconds = 1.0;
    WorkerPool pool(impatient);
    const std::string longest = "echo " + std::string(200'000, 'x');
    const auto outcomes = outcomes_of(pool, {"hang", longest, longest, "pass", longest});
    CHECK(outcomes.at(0).message == "no answer for 1 s");
    CHECK(outcomes.at(1).message == longest);
    CHECK(outcomes.at(2).message == longest);
    CHECK(outcomes.at(3).verdict == Verdict::passed);
    CHECK(outcomes.at(4).message == longest);
}

TEST_CASE("a worker that lost its device after an answer is replaced at nobody's expense") {
    WorkerPool pool(options());
    const auto outcomes =
        outcomes_of(pool, {"pass", "lose_device", "pass", "lose_device", "lose_device", "pass"});
    for (const std::int64_t ticket : {0, 2, 5})
        CHECK(outcomes.at(ticket).verdict == Verdict::passed);
    for (const std::int64_t ticket : {1, 3, 4}) CHECK(outcomes.at(ticket).message == "sticky");
}

TEST_CASE("a case that ends its worker as a lost device would is charged, not run for ever") {
    check_only_middle_fails("exit_75", "the worker called exit(75)");
}

TEST_CASE("one case can be run while others are in flight, whose answers are kept") {
    WorkerPool pool(options(2));
    for (std::int64_t i = 0; i < 8; ++i) pool.submit(i, i % 2 == 0 ? "sleep_20" : "crash");
    CHECK(pool.run("echo hello").message == "echo hello");
    CHECK(pool.run("crash").verdict == Verdict::failed);
    CHECK(pool.in_flight() == 8);
    std::map<std::int64_t, Verdict> verdicts;
    while (const auto answer = pool.wait(30.0)) verdicts[answer->ticket] = answer->outcome.verdict;
    REQUIRE(verdicts.size() == 8);
    for (const auto& [ticket, verdict] : verdicts)
        CHECK(verdict == (ticket % 2 == 0 ? Verdict::passed : Verdict::failed));
}

TEST_CASE("waiting ends when no answer is due, and when none comes in time") {
    WorkerPool pool(options());
    CHECK_FALSE(pool.wait(30.0));
    pool.submit(1, "sleep_300");
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
        idle = pool.run("pid").message;
        pool.submit(0, "hang");
        pool.submit(1, "crash");
        CHECK_FALSE(pool.wait(0.0));
        CHECK(is_alive(idle));
    }
    CHECK_FALSE(is_alive(idle));
    CHECK_FALSE(has_children());
}

TEST_CASE("a command that does not exist is the environment's fault") {
    CHECK_THROWS_WITH_AS(WorkerPool({.command = {"/no/such/program"}, .jobs = 2}),
                         "can't start a worker (/no/such/program): No such file or directory",
                         EnvironmentError);
    CHECK_FALSE(has_children());
}

TEST_CASE("a command that is no worker is the environment's fault") {
    const auto run_one = [](std::vector<std::string> command) {
        WorkerPool pool({.command = std::move(command), .jobs = 2});
        pool.submit(0, "pass");
        pool.wait(30.0);
    };
    CHECK_THROWS_WITH_AS(run_one({"/bin/sh", "-c", "exit 4"}),
                         "a worker ended before its first case: the worker called exit(4)",
                         EnvironmentError);
    CHECK_THROWS_WITH_AS(run_one({"/bin/sh", "-c", "echo hello >&4; read request <&3"}),
                         "a worker ended before its first case: the worker wrote something else "
                         "than an answer to its pipe",
                         EnvironmentError);
    CHECK_FALSE(has_children());
}
