// SPDX-License-Identifier: Apache-2.0
// Which case is charged with a worker's death. testing/worker.cpp has the fake worker's words.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "harness/base/errors.hpp"
#include "harness/devices/call_note.hpp"
#include "harness/testing/fake_pool.hpp"
#include "harness/testing/temporary_folder.hpp"

using namespace gradverify;
using namespace gradverify::testing;

namespace {

struct Told {
    const Kernel* kernel;
    const char* word;
};

/// The outcomes of these kernels' cases in one worker, and late ones by the ticket behind 100.
std::map<std::int64_t, Outcome> in_one_worker(const std::vector<Told>& cases,
                                              const std::string& device = "cpu") {
    WorkerPoolOptions impatient = options();
    impatient.time.floor_seconds = 0.2;
    WorkerPool pool(impatient);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        Work work = told(cases[i].word);
        work.kernel = cases[i].kernel;
        work.device = device;
        pool.submit(static_cast<std::int64_t>(i), std::move(work));
    }
    std::map<std::int64_t, Outcome> outcomes;
    while (const auto answer = pool.wait(30.0))
        outcomes[answer->ticket + (answer->late ? 100 : 0)] = answer->outcome;
    while (const auto late = pool.wait(0.0)) outcomes[late->ticket + 100] = late->outcome;
    CHECK(outcomes.size() >= cases.size());
    return outcomes;
}

}  // namespace

TEST_CASE("what dies before any kernel was called is no kernel's fault") {
    WorkerPool pool(options());
    const Outcome outcome = pool.run(told("crash_outside"));
    CHECK(said(outcome) == "errored: before the kernel was called: " + segfault);
}

TEST_CASE("what takes long is told that work is declared, where none is") {
    const Operator op = toy_operator();
    for (const bool guesses : {true, false}) {
        PassSpec pass = op.passes.front();
        pass.guesses_work = guesses;
        const Kernel kernel{.name = "toy.forward/slow", .op = &op, .pass = &pass};
        for (const std::string word : {"spin", "hang"}) {
            Work work = told(word);
            work.kernel = &kernel;
            WorkerPoolOptions impatient = options();
            impatient.time.floor_seconds = 0.1;
            const std::string message = WorkerPool(impatient).run(work).message;
            CAPTURE(message);
            CHECK(contains(message, "no end after "));
            CHECK(contains(message, "declares .work(...)") == (guesses && word == "spin"));
        }
    }
}

TEST_CASE("a case that damages its worker is charged, although another one dies of it") {
    WorkerPool pool(options());
    std::vector<WorkerPool::Answer> late;
    for (const auto& [ticket, outcome] :
         outcomes_of(pool, {"pass", "damage", "echo", "die_if_damaged", "pass"}, &late))
        CHECK(outcome.verdict == Verdict::passed);
    REQUIRE(late.size() == 1);
    CHECK(late[0].ticket == 1);
    CHECK(said(late[0].outcome) == "failed: " + segfault);
    CHECK(late[0].outcome.discovery == Discovery::damaged);
}

TEST_CASE("what a worker dies of at its end is charged to the case that does so alone") {
    WorkerPool pool(options());
    for (const auto& [ticket, outcome] : outcomes_of(pool, {"echo", "damage", "pass"}))
        CHECK(outcome.verdict == Verdict::passed);
    pool.finish();
    const auto late = pool.wait(0.0);
    REQUIRE(late);
    CHECK(late->late);
    CHECK(late->ticket == 1);
    CHECK(late->outcome.message == segfault);
    CHECK_FALSE(pool.wait(0.0));
    CHECK(pool.run(told("damage")).verdict == Verdict::passed);
    CHECK(pool.run(told("damage"), {.alone = true}).message == segfault);
}

TEST_CASE("a kernel whose processes others have ended is asked what it does at its exit") {
    const Kernel leaves_badly{.name = "toy.forward/leaves_badly"},
        wrong{.name = "toy.forward/wrong"};
    WorkerPool pool(options());
    for (const auto& [kernel, word] :
         {std::pair(&leaves_badly, "damage"), std::pair(&wrong, "crash")}) {
        Work work = told(word);
        work.kernel = kernel;
        work.device = "cpu";
        pool.submit(kernel == &wrong, std::move(work));
    }
    CHECK(pool.wait(30.0).value().outcome.verdict == Verdict::passed);
    CHECK(said(pool.wait(30.0).value().outcome) == "failed: " + segfault);
    pool.finish();
    const auto late = pool.wait(0.0);
    REQUIRE(late);
    CHECK(late->ticket == 0);
    CHECK(said(late->outcome) == "failed: " + segfault);
    CHECK_FALSE(pool.wait(0.0));
}

TEST_CASE("what a worker dies of at its end is charged though others' cases are given up") {
    WorkerPoolOptions two = options();
    two.jobs = 2;
    WorkerPool pool(two);
    pool.submit(0, told("hang"), Patience::full);
    pool.submit(1, told("damage"));
    CHECK(pool.wait(30.0).value().ticket == 1);
    pool.finish(/*gives_up=*/true);
    const auto late = pool.wait(0.0);
    REQUIRE(late);
    CHECK(late->ticket == 1);
    CHECK(late->outcome.message == segfault);
}

TEST_CASE("workers with a checked heap are replaced, and what ends them badly is charged") {
    WorkerPoolOptions strict = options();
    strict.strict_cases = 3;
    strict.depth = 1;
    WorkerPool pool(strict);
    std::vector<std::string> words(10, "pid");
    words[2] = "damage";
    std::vector<WorkerPool::Answer> late;
    std::set<std::string> pids;
    for (const auto& [ticket, outcome] : outcomes_of(pool, words, &late))
        if (ticket != 2) pids.insert(outcome.message);
    CHECK(pids.size() == 2);
    REQUIRE(late.size() == 1);
    CHECK(late[0].ticket == 2);
}

TEST_CASE("a kernel that reads what its worker is asked next keeps no case from its answer") {
    WorkerPool pool(options());
    CHECK(pool.run(told("pass")).verdict == Verdict::passed);
    pool.submit(0, told("steal"));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    for (const std::int64_t ticket : {1, 2, 3}) pool.submit(ticket, told("echo"));
    for (int i = 0; i < 4; ++i) CHECK(pool.wait(30.0).value().outcome.verdict == Verdict::passed);
}

TEST_CASE("a worker that is to be replaced and does not leave keeps no case waiting") {
    WorkerPoolOptions strict = options();
    strict.strict_cases = 1;
    strict.depth = 1;
    WorkerPool pool(strict);
    for (const auto& [ticket, outcome] : outcomes_of(pool, {"stay", "pass"}))
        CHECK(outcome.verdict == Verdict::passed);
}

TEST_CASE("a death that nothing repeats is an error that gives the evidence") {
    WorkerPool pool(options());
    const auto outcomes = outcomes_of(pool, {"pass", "echo", "die_in_company", "pass"});
    for (const std::int64_t ticket : {0, 1, 3})
        CHECK(outcomes.at(ticket).verdict == Verdict::passed);
    CHECK(
        said(outcomes.at(2)) ==
        "errored: its worker died at this case: the kernel's process called abort(); alone it "
        "does not, nor does any of the 2 cases run before it; all of them in this order do again");
}

TEST_CASE("a kernel that kills another's case is left out of it, and of later ones") {
    WorkerPoolOptions one_by_one = options();
    one_by_one.depth = 1;
    WorkerPool pool(one_by_one);
    const auto outcomes = outcomes_of(pool, {"borrow", "pid", "borrow", "pid", "crash", "borrow"});
    for (const auto& [ticket, outcome] : outcomes)
        CHECK(outcome.verdict == (ticket == 4 ? Verdict::failed : Verdict::passed));
    CHECK(outcomes.at(1).message == outcomes.at(3).message);
}

TEST_CASE("a worker that others killed costs its case nothing, nor does one without its device") {
    WorkerPool pool(options());
    for (const auto& [ticket, outcome] :
         outcomes_of(pool, {"pass", "be_killed", "pass", "borrow_and_lose", "pass"}))
        CHECK(outcome.verdict == Verdict::passed);
    CHECK_THROWS_AS(end_without_device("lost"), EnvironmentError);
}

TEST_CASE("a kernel that another's leftovers make fail has not failed: the other has") {
    const Kernel harmful{.name = "toy.forward/harmful"}, innocent{.name = "toy.forward/innocent"},
        right{.name = "toy.forward/right"};
    const auto outcomes = in_one_worker({{&innocent, "pass"},
                                         {&harmful, "taint"},
                                         {&right, "pass"},
                                         {&right, "fail_if_tainted"},
                                         {&innocent, "pass"}});
    CHECK(outcomes.size() == 6);
    for (const auto& [ticket, outcome] : outcomes)
        CHECK(said(outcome) ==
              (ticket == 101 ? "failed: what it leaves in its process makes toy.forward/right fail "
                               "there, which does not alone nor behind another kernel: taint"
                             : "passed: "));
}

TEST_CASE("a kernel that fails by the time of the day charges no other") {
    const Kernel right{.name = "toy.forward/right"}, other{.name = "toy.forward/other"},
        lottery{.name = "toy.forward/lottery"};
    const TemporaryFolder folder;
    // Behind the first alone, at first: by itself it fails the second time. Each has two heaps.
    setenv("GRADVERIFY_TEST_TURNS", folder.write("turns", "fppfpppfpfppppppp").c_str(), 1);
    const auto outcomes =
        in_one_worker({{&other, "pass"}, {&right, "pass"}, {&lottery, "fail_by_turns"}});
    for (const auto& [ticket, outcome] : outcomes)
        CHECK(said(outcome) == (ticket == 2 ? "failed: by turns" : "passed: "));
}

TEST_CASE("what fails or dies behind others on an owned device runs as the first of a process") {
    const Kernel right{.name = "toy.forward/right"}, wrong{.name = "toy.forward/wrong"},
        victim{.name = "toy.forward/victim"};
    WorkerPoolOptions owned = options(2);
    owned.owned_device = "cpu";
    WorkerPool pool(owned);
    const auto outcome_of = [&](const Kernel& kernel, const char* word) {
        Work work = told(word);
        work.kernel = &kernel;
        work.device = "cpu";
        pool.submit(0, work);
        const auto answer = pool.wait(30.0);
        CHECK_FALSE(pool.wait(0.0).has_value());
        // Once it was wrong it is not called by the owner.
        CHECK(pool.is_left(work.row()) == (answer->outcome.verdict != Verdict::passed));
        return said(answer->outcome);
    };
    CHECK(outcome_of(right, "pass") == "passed: ");
    CHECK(outcome_of(wrong, "fail_telling_place") == "failed: 0 before");
    CHECK(
        outcome_of(victim, "die_in_company").starts_with("errored: its worker died at this case"));
}

TEST_CASE("a kernel that dies or hangs of another's leftovers has not failed: the other has") {
    const Kernel harmful{.name = "toy.forward/harmful"}, innocent{.name = "toy.forward/innocent"},
        right{.name = "toy.forward/right"};
    for (const char* end : {"die_if_tainted", "hang_if_tainted"}) {
        const auto outcomes = in_one_worker({{&innocent, end},
                                             {&right, end},
                                             {&harmful, "taint"},
                                             {&right, end},
                                             {&innocent, "pass"}});
        CHECK(outcomes.size() == 6);
        for (const auto& [ticket, found] : outcomes) {
            const Outcome& outcome = found;
            CAPTURE(outcome.message);
            CHECK(outcome.verdict == (ticket == 102 ? Verdict::failed : Verdict::passed));
            if (ticket == 102)
                CHECK(contains(outcome.message, "makes toy.forward/right fail there, which does "));
        }
    }
    // It does so behind a case of its own.
    const auto own = in_one_worker(
        {{&innocent, "pass"}, {&right, "taint"}, {&right, "die_if_tainted"}, {&innocent, "pass"}});
    CHECK(said(own.at(2)) == "failed: the kernel's process called abort()");
}

TEST_CASE("a death behind one kernel that ends no other is not charged to that one") {
    const Kernel third{.name = "toy.forward/third"}, right{.name = "toy.forward/right"},
        wrong{.name = "toy.forward/wrong"};
    for (const bool ends_third : {false, true}) {
        const auto outcomes = in_one_worker({{&third, ends_third ? "die_if_harmed" : "pass"},
                                             {&right, "taint"},
                                             {&wrong, "die_of_taint_or_harm"}});
        for (const auto& [ticket, outcome] : outcomes)
            CHECK(said(outcome) ==
                  (ticket != 2 ? "passed: "
                   : ends_third
                       ? "failed: the kernel's process called abort()"
                       : "errored: fails behind taint alone, which ends no other kernel, "
                         "so one of the two is wrong: the kernel's process called abort()"));
    }
}

TEST_CASE("a kernel that has ended a process shares none, or is what damaged those it shares") {
    const Kernel harmful{.name = "toy.forward/harmful"}, right{.name = "toy.forward/right"},
        first{.name = "toy.forward/first"}, second{.name = "toy.forward/second"};
    auto outcomes =
        in_one_worker({{&harmful, "crash"}, {&right, "pid"}, {&harmful, "pid"}, {&right, "pid"}});
    CHECK(outcomes.at(1).message == outcomes.at(2).message);
    CHECK(outcomes.at(2).message != outcomes.at(3).message);
    // A process that opens a GPU takes too long to be replaced.
    outcomes = in_one_worker({{&harmful, "crash"},
                              {&first, "pass"},
                              {&second, "pass"},
                              {&harmful, "taint"},
                              {&right, "die_of_taint_later"}},
                             "cuda");
    CHECK(outcomes.size() == 5);
    for (const auto& [ticket, outcome] : outcomes)
        CHECK(outcome.verdict == (ticket == 0 ? Verdict::failed : Verdict::passed));
}

TEST_CASE("of many kernels that a death needs, the one that it always needs is charged") {
    const Kernel harmful{.name = "toy.forward/harmful"}, right{.name = "toy.forward/right"},
        first{.name = "toy.forward/first"}, second{.name = "toy.forward/second"};
    const auto outcomes = in_one_worker({{&first, "die_if_tainted"},
                                         {&second, "pass"},
                                         {&first, "die_if_tainted"},
                                         {&second, "pass"},
                                         {&harmful, "taint"},
                                         {&right, "die_of_taint_later"}});
    CHECK(outcomes.size() == 7);
    for (const auto& [ticket, outcome] : outcomes)
        CHECK(outcome.verdict == (ticket == 104 ? Verdict::failed : Verdict::passed));
}

TEST_CASE("a kernel that dies by itself does not explain the failure of another") {
    const Kernel other{.name = "toy.forward/other"}, harmful{.name = "toy.forward/harmful"},
        right{.name = "toy.forward/right"};
    const auto outcomes =
        in_one_worker({{&other, "pass"}, {&harmful, "damage"}, {&right, "fail_by_chance"}});
    CHECK(outcomes.size() == 3);
    CHECK(contains(outcomes.at(2).message, "failed once, and not again: "));
}

TEST_CASE("of two kernels nobody can tell which is wrong, with a third one it is told") {
    const Kernel harmful{.name = "toy.forward/harmful"}, right{.name = "toy.forward/right"},
        another{.name = "toy.forward/another"}, wrong{.name = "toy.forward/wrong"};
    for (const auto& [ticket, outcome] :
         in_one_worker({{&harmful, "taint"}, {&right, "pass"}, {&right, "fail_if_tainted"}}))
        CHECK(said(outcome) ==
              (ticket == 2 ? "errored: fails behind taint alone, so one of the two is wrong: taint"
                           : "passed: "));
    // It fails behind whatever case.
    for (const auto& [ticket, outcome] : in_one_worker(
             {{&another, "pass"}, {&right, "pass"}, {&wrong, "fail_behind_any"}, {&right, "pass"}}))
        CHECK(said(outcome) == (ticket == 2 ? "failed: stale" : "passed: "));
}

TEST_CASE("a failure that needs the kernel's own cases before it is its own") {
    const Kernel other{.name = "toy.forward/other"}, wrong{.name = "toy.forward/wrong"};
    const auto outcomes = in_one_worker({{&other, "pass"},
                                         {&wrong, "fail_at_its_third"},
                                         {&wrong, "fail_at_its_third"},
                                         {&other, "pass"},
                                         {&wrong, "fail_at_its_third"}});
    CHECK(outcomes.size() == 5);
    for (const auto& [ticket, outcome] : outcomes)
        CHECK(said(outcome) == (ticket == 4 ? "failed: third" : "passed: "));
    // The history keeps 50 cases, and one of each row beyond.
    std::vector<Told> many(8, {&wrong, "fail_from_its_eighth"});
    many.insert(many.begin() + 7, 60, {&other, "pass"});
    CHECK(said(in_one_worker(many).at(67)) == "failed: eighth");
}

TEST_CASE("a failure by chance is no failure of the kernel that has others beside it") {
    const Kernel other{.name = "toy.forward/other"}, right{.name = "toy.forward/right"};
    const auto outcomes = in_one_worker(
        {{&other, "pass"}, {&other, "pass"}, {&right, "fail_by_chance"}, {&other, "pass"}});
    for (const auto& [ticket, outcome] : outcomes)
        CHECK(said(outcome) ==
              (ticket == 2
                   ? "errored: failed once, and not again: not alone in 11 runs, nor behind "
                     "the cases of its own kernel, nor behind any of 2 of other kernels; it "
                     "said: chance"
                   : "passed: "));
}
