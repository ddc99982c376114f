// SPDX-License-Identifier: Apache-2.0
#include "harness/workers/time_limit.hpp"

#include <doctest/doctest.h>

#include <string>

#include "harness/testing/fake_pool.hpp"

using namespace gradverify;
using namespace gradverify::testing;

namespace {

Work work_on(const std::string& device) {
    Work work = told("pass");
    work.device = device;
    return work;
}

}  // namespace

TEST_CASE("the limit grows with the slowest case so far, of large cases and others apart") {
    TimeLimits limits({.floor_seconds = 1.0, .large_seconds = 50.0});
    const Work on_cpu = work_on("cpu"), on_cuda = work_on("cuda");
    Work large = on_cuda;
    large.multiply_adds = 1e12;
    CHECK(limits.allowance(large, Patience::full).cpu_seconds > 1e6);
    large.is_large = true;
    const auto check_allowed = [&](const Work& work, const WorkerAllowance& full, double trial) {
        CHECK(limits.allowance(work, Patience::full) == full);
        const WorkerAllowance tried = limits.allowance(work, Patience::trial);
        CHECK(tried.cpu_seconds == trial);
        CHECK(tried.cpu_seconds_in_all == trial);
        CHECK(tried.sleep_seconds == 2.0 * trial);
    };
    check_allowed(on_cpu, {1.0, 20.0, 2.0}, 0.1);
    check_allowed(large, {50.0, 1000.0, 100.0}, 5.0);
    Outcome slow = Outcome::passed();
    slow.seconds_cpu = 0.5;
    limits.completed(on_cpu, slow, /*is_first_of_process=*/true);
    CHECK(limits.allowance(on_cpu, Patience::full).cpu_seconds == 1.0);
    limits.completed(on_cpu, slow);
    slow.seconds_cpu = 5.0;
    limits.completed(large, slow);
    check_allowed(on_cpu, {10.0, 200.0, 20.0}, 1.0);
    check_allowed(large, {100.0, 2000.0, 200.0}, 10.0);
    CHECK(limits.allowance(on_cuda, Patience::full).cpu_seconds == 3.0);
    CHECK(limits.history(on_cpu) == "the slowest case of this run took 0.5 s");
    CHECK(limits.history(on_cuda) == "no case of this run has ended");
}

TEST_CASE("a trial that opens a GPU has all its time until one has, and then what that takes") {
    TimeLimits limits({.floor_seconds = 1.0, .cuda_factor = 3.0});
    const Work work = work_on("cuda");
    const auto seconds = [&](bool opens) {
        return limits.allowance(work, Patience::trial, opens).cpu_seconds;
    };
    CHECK(seconds(true) == 3.0);
    CHECK_FALSE(limits.was_opened(work));
    Outcome first = Outcome::passed();
    first.seconds_cpu = 0.5;
    limits.completed(work, first, /*is_first_of_process=*/true);
    CHECK(limits.was_opened(work));
    CHECK(seconds(true) == doctest::Approx(0.3 + 3.0 * 0.5));
    CHECK(seconds(false) == doctest::Approx(0.3));
    CHECK(limits.allowance(work, Patience::full, true).cpu_seconds == 3.0);
}

TEST_CASE("trials of a kernel are short once one was put off, until a longer one has ended") {
    TimeLimits limits({.floor_seconds = 1.0});
    const Work work = work_on("cpu");
    const auto trial = [&] { return limits.allowance(work, Patience::trial); };
    limits.put_off(work);
    CHECK(trial().cpu_seconds == doctest::Approx(0.01));
    CHECK(trial().sleep_seconds == doctest::Approx(0.02));
    CHECK(limits.allowance(work, Patience::full).cpu_seconds == 1.0);
    Outcome outcome = Outcome::passed();
    const auto completes = [&](double seconds) {
        outcome.seconds_cpu = seconds;
        limits.completed(work, outcome);
    };
    completes(0.009);
    CHECK(trial().cpu_seconds == doctest::Approx(0.018));
    completes(0.011);
    CHECK(trial().cpu_seconds == doctest::Approx(0.1));
}

TEST_CASE("what a case's work may take is not shortened by the pace of small ones") {
    TimeLimits limits({.floor_seconds = 1.0});
    Work heavy = work_on("cpu");
    heavy.multiply_adds = 1e6;
    const double before = limits.allowance(heavy, Patience::full).cpu_seconds;
    Outcome quick = Outcome::passed();
    quick.seconds_cpu = 0.001;
    limits.completed(work_on("cpu"), quick);
    CHECK(limits.allowance(heavy, Patience::full).cpu_seconds == doctest::Approx(before - 0.7));
}

TEST_CASE("the limit follows the kernel's own cases, or the machine's pace") {
    TimeLimits limits({.floor_seconds = 1.0});
    const Kernel slow, quick, others[3];
    const auto completes = [&](const Kernel& kernel, double seconds) {
        Work work = work_on("cpu");
        work.kernel = &kernel;
        Outcome outcome = Outcome::passed();
        outcome.seconds_cpu = seconds;
        limits.completed(work, outcome);
        return limits.allowance(work, Patience::full).cpu_seconds;
    };
    CHECK(completes(quick, 0.01) == 0.3);  // of the floor, as the pace is known
    for (const Kernel& other : others) completes(other, 0.01);
    CHECK(completes(slow, 0.5) == 10.0);
    CHECK(completes(quick, 0.01) == 0.3);  // of the floor, as the pace is known
    for (const Kernel& other : others) completes(other, 0.1);
    CHECK(completes(quick, 0.01) == 2.0);
}
