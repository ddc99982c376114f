// SPDX-License-Identifier: Apache-2.0
// Kernels that crash, hang, leave or damage their process each get a verdict with the cause and a
// minimal case that fails again for it; correct kernels checked in the same run pass.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/base/text.hpp"
#include "harness/cases/measurement.hpp"
#include "harness/run/check_rows.hpp"
#include "harness/run/selection.hpp"
#include "properties/suite/kernel_suite.hpp"
#include "properties/tests/devices.hpp"

namespace gradverify {

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

struct Misbehaving {
    const char* variant;
    /// The begin of the message on the CPU device; alternatives with a bar between.
    const char* cause;
    /// The runtime, a sanitizer, or the unit's instrumentation may notice it first.
    bool varies = false;
};

constexpr Misbehaving kernels[] = {
    {"aborts", "the kernel's process called abort()"},
    {"allocates_on_device", "cudaMalloc: out of memory", true},
    {"allocates_without_end", "used more than 1 GiB of memory|no end after"},
    {"damages_heap", "the kernel's process called abort(); its last words: free(): invalid pointer",
     true},
    {"divides_by_block_size",
     "the kernel's process was killed by SIGFPE (an integer division by zero, or one that "
     "overflows); launch.block_size is 0 unless .blocks_of({...}) is declared",
     true},
    {"exits_0", "the kernel's process called exit(0)"},
    {"exits_1", "the kernel's process called exit(1)"},
    {"exits_after_overflow", "write at address ", true},
    {"exits_after_overrun", "write at address ", true},
    {"frees_buffer", "cudaFree: |wrote", true},
    {"forks_and_returns_in_both", "the launcher leaves another process running"},
    {"leaves_process", "the launcher leaves another process running"},
    {"leaves_timer", "the launcher leaves an alarm or a timer that ends the process"},
    {"lowers_limit", "the launcher changes the process's limit of open files"},
    {"recurses_in_kernel", "the kernel's process was killed by SIGSEGV|", true},
    {"recurses_on_host", "the kernel's process was killed by SIGSEGV|", true},
    {"refuses",
     "the launcher refuses the problem, and does not declare may_refuse(): too many channels"},
    {"segfaults", "the kernel's process was killed by SIGSEGV|", true},
    {"spins_in_kernel", "no end after ", true},
    {"spins_on_host", "no end after ", true},
    {"throws", "the launcher threw: no plan for this shape"},
    {"throws_number", "the launcher threw something that is no std::exception"},
    {"writes_guard", "wrote 1 element past the end of db"},
    {"writes_input", "changed its input dy"},
};

/// Their lines are told, on the CPU device.
constexpr const char* faulty_hosts[] = {"copies_from_null", "reads_null_in_helper",
                                        "reads_past_output", "writes_wild"};
constexpr Misbehaving trap{"leaves_trap", "the kernel's process called abort()"};
/// A GPU's runtime has threads of its own, so there it is not seen.
constexpr Misbehaving leaves_thread{"leaves_thread", "the launcher leaves a host thread running"};

/// Their calls on an owned device are made by its owner.
WorkerPoolOptions workers(const std::string& owned_device = "") {
    WorkerPoolOptions options{.command = suite_worker_command(), .jobs = 2};
    options.owned_device = owned_device;
    options.time.floor_seconds = sanitized ? 2.0 : 1.0;
    options.memory_bytes = std::size_t{1} << 30;
    return options;
}

/// A kernel's first case on an owned device is made by the owner, too.
WorkerPoolOptions without_checked_heap(const std::string& owned_device) {
    WorkerPoolOptions options = workers(owned_device);
    options.strict_cases = 0;
    return options;
}

bool begins_as(const std::string& message, const char* alternatives) {
    for (const std::string_view begin : split(alternatives, '|'))
        if (message.starts_with(begin)) return true;
    return false;
}

void check_misbehaving(const Misbehaving& kernel, const RowResult& result,
                       const std::string& device) {
    CAPTURE(std::string(kernel.variant));
    CAPTURE(result.message);
    REQUIRE(result.verdict == Verdict::failed);
    REQUIRE(result.failure);
    const bool known = !kernel.varies || (device == "cpu" && !sanitized);
    if (known) CHECK(begins_as(result.message, kernel.cause));
    CHECK(result.failure->smallest.problem.print() == "k=3,in=1x1");
    // Explaining takes a few hundred deaths; where each takes long, it tells what was seen.
    const Generality& generality = result.failure->generality;
    CAPTURE(generality.text);
    if (generality.is_rule)
        CHECK(generality.text.starts_with("fails wherever k >= 3; n, c, groups, in, filter, "));
    else
        CHECK(generality.text.starts_with("no rule was found in the "));
    CHECK(generality.problems > 1);
    CHECK(result.failure->witnesses.empty());
    WorkerPool other(workers());
    const Outcome again = other.run(result.failure->smallest, {.alone = true});
    CHECK(again.verdict == Verdict::failed);
    CAPTURE(again.message);
    if (known) CHECK(begins_as(again.message, kernel.cause));
}

std::map<std::string, RowResult> check_all(const Suite& suite, const std::string& kernels_glob,
                                           const std::string& property, const std::string& device) {
    WorkerPool pool(workers());
    const auto rows = select_rows(suite, Registry::instance(), {kernels_glob}, property, {device});
    std::map<std::string, RowResult> by_variant;
    for (RowResult& result : check_rows(suite, rows, {.cases = 40, .seed = 3}, pool, {})) {
        const std::string& name = result.row.kernel->name;
        by_variant.emplace(name.substr(name.find('/') + 1), std::move(result));
    }
    return by_variant;
}

}  // namespace

TEST_CASE("whatever a kernel does to its process, it is told, and the others pass") {
    const KernelSuite suite(Registry::instance());
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        auto results = check_all(suite, "conv.grad_bias/*", "matches_reference", device);
        if (device == "cpu" && !sanitized)
            CHECK(results.at("exits_after_overflow").message.find("; int overflow at ") !=
                  std::string::npos);
        for (const Misbehaving& kernel : kernels) {
            REQUIRE(results.contains(kernel.variant));
            check_misbehaving(kernel, results.at(kernel.variant), device);
            results.erase(kernel.variant);
        }
        if (device == "cpu")
            check_misbehaving(leaves_thread, results.at(leaves_thread.variant), device);
        results.erase(leaves_thread.variant);
        // Whether its trap springs depends on what else ends its process; see below.
        results.erase(trap.variant);
        results.erase("aborts_later");
        for (const char* faulty : faulty_hosts) results.erase(faulty);
        for (const char* later : {"exits_after_ptx", "writes_freed_block"}) results.erase(later);
        results.erase("dies_at_its_20th_call");
        CHECK(results.size() == 22);
        for (const auto& [variant, result] : results) {
            CAPTURE(variant);
            CAPTURE(result.message);
            CHECK(result.verdict == Verdict::passed);
            CHECK(result.cases == 40);
            CHECK((result.refused > 0) == (variant == "may_refuse"));
        }
    }
}

TEST_CASE("of many calls in hand of an owner, those that do harm are told, and no other is lost") {
    const Registry& registry = Registry::instance();
    const KernelSuite suite(registry);
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        std::map<std::string, const Misbehaving*> harmful;
        for (const Misbehaving& kernel : kernels)
            harmful[std::string("conv.grad_bias/") + kernel.variant] = &kernel;
        // What these do becomes known in the end, or depends on the device.
        std::set<std::string> left_out{
            "conv.grad_bias/leaves_thread",         "conv.grad_bias/aborts_later",
            "conv.grad_bias/damages_heap",          "conv.grad_bias/leaves_trap",
            "conv.grad_bias/dies_at_its_20th_call", "conv.grad_bias/exits_after_ptx",
            "conv.grad_bias/writes_freed_block"};
        for (const char* faulty : faulty_hosts)
            left_out.insert(std::string("conv.grad_bias/") + faulty);
        std::vector<Case> cases;
        for (std::int64_t index = 0; index < 30; ++index)
            for (const Row& row : select_rows(suite, registry, {"conv.grad_bias/*"},
                                              "matches_reference", {device})) {
                const std::string& name = row.kernel->name;
                if (left_out.contains(name)) continue;
                if (!harmful.contains(name))
                    cases.push_back(*suite.draw(row, 3, index).drawn);
                else if (index == 15)
                    cases.push_back(Case::parse(
                        "v1:" + name + ":matches_reference:" + device + ":k=3,in=1x1:data=zeros",
                        registry));
            }
        WorkerPool pool(without_checked_heap(device));
        std::map<std::int64_t, Outcome> outcomes;
        const auto wait = [&](double seconds) {
            const auto answer = pool.wait(seconds);
            if (answer) outcomes[answer->ticket] = answer->outcome;
            return answer.has_value();
        };
        for (std::size_t i = 0; i < cases.size(); ++i) {
            while (!pool.has_room()) wait(1.0);
            pool.submit(static_cast<std::int64_t>(i), cases[i]);
        }
        while (pool.in_flight() > 0) wait(1.0);
        pool.finish();
        while (wait(0.0)) continue;
        REQUIRE(outcomes.size() == cases.size());
        for (const auto& [ticket, outcome] : outcomes) {
            const Case& checked = cases[static_cast<std::size_t>(ticket)];
            CAPTURE(checked.print());
            CAPTURE(outcome.message);
            if (!harmful.contains(checked.kernel)) {
                CHECK((outcome.verdict == Verdict::passed || outcome.is_refusal ||
                       outcome.verdict == Verdict::vacuous));
                continue;
            }
            const Misbehaving& kernel = *harmful[checked.kernel];
            CHECK(outcome.verdict == Verdict::failed);
            if (!kernel.varies) CHECK(begins_as(outcome.message, kernel.cause));
        }
    }
}

TEST_CASE("damage to the heap by a kernel's first case is told on an owned device") {
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        WorkerPool pool(workers(device));
        pool.submit(0, Case::parse("v1:conv.grad_bias/damages_heap:matches_reference:" + device +
                                       ":k=3,in=1x1:data=zeros",
                                   Registry::instance()));
        const auto answer = pool.wait(60.0);
        REQUIRE(answer);
        CAPTURE(answer->outcome.message);
        CHECK(answer->outcome.verdict == Verdict::failed);
    }
}

TEST_CASE("a block that was freed and written to ends the call that did so, and not a later one") {
    if (sanitized) return;
    const Case writes =
        Case::parse("v1:conv.grad_bias/writes_freed_block:matches_reference:cpu:k=3,in=1x1:seed=1",
                    Registry::instance());
    WorkerPool pool(without_checked_heap(""));
    for (const bool alone : {false, true}) {
        const Outcome outcome = pool.run(writes, {.alone = alone});
        CAPTURE(outcome.message);
        CHECK(outcome.verdict == Verdict::failed);
        CHECK(begins_as(outcome.message,
                        "the kernel's process called abort(); its last words: malloc(): |"
                        "the kernel's process was killed by SIGSEGV"));
    }
}

TEST_CASE("a kernel that ends the owner in others' calls is told, and no other") {
    const Registry& registry = Registry::instance();
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        WorkerPool pool(without_checked_heap(device));
        const auto given = [&](const char* variant) {
            return Case::parse(std::string("v1:conv.grad_bias/") + variant +
                                   ":matches_reference:" + device + ":k=3,in=1x1:seed=1",
                               registry);
        };
        constexpr std::int64_t culprit = 40;
        std::map<std::int64_t, Outcome> outcomes;
        const auto take = [&](double seconds) {
            const auto answer = pool.wait(seconds);
            if (answer) outcomes[answer->ticket] = answer->outcome;
            return answer.has_value();
        };
        const auto is_told = [&] { return outcomes[culprit].verdict == Verdict::failed; };
        for (std::int64_t i = 0; i < 100'000 && !is_told(); ++i) {
            while (!pool.has_room() || !pool.has_room_for_left()) take(1.0);
            pool.submit(i, given(i == culprit ? "aborts_later" : "dallies"));
        }
        while (take(1.0)) continue;
        CHECK(is_told());
        CHECK(outcomes[culprit].message == "the kernel's process called abort()");
        outcomes.erase(culprit);
        for (const auto& [ticket, outcome] : outcomes) {
            CAPTURE(outcome.message);
            REQUIRE(outcome.verdict == Verdict::passed);
        }
    }
}

TEST_CASE("a kernel that an owner dies of, but never in a call alone, is left out by it") {
    const KernelSuite suite(Registry::instance());
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        WorkerPool pool(workers(device));
        const Row row =
            select_rows(suite, Registry::instance(), {"conv.grad_bias/dies_at_its_20th_call"},
                        "matches_reference", {device})
                .front();
        const WorkRow work_row{row.kernel, row.device, row.property_name()};
        std::int64_t given = 0;
        for (; !pool.is_left(work_row) && given < 500; ++given) {
            while (!pool.has_room()) pool.wait(1.0);
            pool.submit(given, Case::parse("v1:conv.grad_bias/dies_at_its_20th_call:"
                                           "matches_reference:" +
                                               device + ":k=3,in=1x1:seed=1",
                                           Registry::instance()));
        }
        CHECK(pool.is_left(work_row));
        while (pool.in_flight() > 0) pool.wait(1.0);
    }
}

TEST_CASE("what the device found comes before how the launcher ended the process then") {
    WorkerPool pool(workers());
    const auto run = [&](const char* variant, const char* property) {
        return pool.run(Case::parse(
            std::string("v1:conv.grad_bias/") + variant + ":" + property + ":cpu:k=3,in=1x1:seed=1",
            Registry::instance()));
    };
    for (const char* property : {"matches_reference", "free_of_races"}) {
        const Outcome overrun = run("exits_after_overrun", property);
        CHECK(overrun.verdict == Verdict::failed);
        CAPTURE(overrun.message);
        // The checked variant tells it before the access.
        CHECK(overrun.message.starts_with(property == std::string("free_of_races")
                                              ? "thread (0, 0, 0) writes out of bounds: unmapped"
                                              : "write at address "));
        CHECK(overrun.message.find("gradverify_simt") == std::string::npos);
        CHECK(overrun.message.find("kernels.cu:209: launch of store<<<1, 1>>>; "
                                   "then the kernel's process called exit(1)") !=
              std::string::npos);
        const Outcome overflow = run("exits_after_overflow", property);
        CHECK(overflow.verdict == Verdict::failed);
        CAPTURE(overflow.message);
        CHECK(overflow.message.find("; then the kernel's process called exit(1)") !=
              std::string::npos);
        // The checked variant tells it, which another property's failure is run with at its end.
        if (property == std::string("free_of_races")) {
            CHECK(overflow.message.find("; int overflow at ") != std::string::npos);
            CHECK(overflow.message.ends_with(
                "properties/tests/misbehaving/misbehaving_kernels.cu:214: 46341 * 46341 on the "
                "host"));
        }
        // That it can't be run here is no fault of the kernel.
        const Outcome unserved = run("exits_after_ptx", property);
        CHECK(unserved.verdict == Verdict::skipped);
        CAPTURE(unserved.message);
        CHECK(unserved.message.find("inline PTX runs on cuda only") != std::string::npos);
    }
}

TEST_CASE("a fault of a launcher's host code says what it touched, and the line") {
    const struct {
        const char *variant, *told;
    } faults[] = {
        {"segfaults",
         "misbehaving_kernels.cu:46: the launcher's host code: write through a null pointer"},
        {"reads_null_in_helper",
         "misbehaving_kernels.cu:245: the launcher's host code: read through a null "},
        {"writes_wild",
         "misbehaving_kernels.cu:249: the launcher's host code: write at address 0x7123456789a0"},
        {"copies_from_null",
         "misbehaving_kernels.cu:252: the launcher's host code: read through a null pointer, "},
        {"reads_past_output",
         "misbehaving_kernels.cu:256: the launcher's host code: read past the end of db: "},
        {"recurses_on_host", ": the launcher's host code: its stack overflowed"}};
    WorkerPool pool(workers());
    for (const auto& [variant, told] : faults) {
        const auto run = [&](const char* problem) {
            return pool.run(Case::parse(std::string("v1:conv.grad_bias/") + variant +
                                            ":repeatable:cpu:" + problem + ":seed=1",
                                        Registry::instance()));
        };
        CHECK(run("k=2,in=1x1").verdict == Verdict::passed);
        const Outcome outcome = run("k=3,in=1x1");
        CHECK(outcome.verdict == Verdict::failed);
        CAPTURE(outcome.message);
        CHECK((sanitized || outcome.message.find(told) != std::string::npos));
    }
}

TEST_CASE("what a launcher may refuse is skipped, and nothing else is for it") {
    const KernelSuite suite(Registry::instance());
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        const auto run = [&](const std::string& rest) {
            return suite.run("v1:conv.grad_bias/may_refuse:matches_reference:" + device + ":" +
                             rest);
        };
        const Outcome refused = run("k=3,in=1x1:seed=1");
        CHECK(refused.verdict == Verdict::skipped);
        CHECK(refused.is_refusal);
        CHECK(refused.message == "refused: too many channels");
        CHECK(run("k=2,in=1x1:seed=1").verdict == Verdict::passed);
        // A refusal of the call before does not count.
        CHECK(run("k=2,in=1x1:seed=1:before=k=3,in=1x1").verdict == Verdict::passed);
        const Outcome timed = suite.measure(MeasureRequest{.what = MeasureRequest::What::time,
                                                           .device = device,
                                                           .kernel = "conv.grad_bias/may_refuse",
                                                           .problem = "k=3,in=1x1"});
        CHECK(timed.is_refusal);
        CHECK(timed.message == "refused: too many channels");
        const auto forward = check_all(suite, "conv.forward/always_refuses", "*", device);
        CHECK(forward.at("always_refuses").verdict == Verdict::errored);
        // Nor is a gradient skipped because the forward kernel that it borrows refuses.
        const auto gradients = check_all(suite, "conv.grad_bias/naive", "adjoint_identity", device);
        CHECK(gradients.at("naive").verdict == Verdict::passed);
        CHECK(gradients.at("naive").refused == 0);
    }
}

TEST_CASE("a kernel that takes a thousand times its usual time for a thousand blocks passes") {
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        WorkerPool pool(workers());
        const Outcome slow =
            pool.run(Case::parse("v1:conv.grad_bias/slow_in_blocks:matches_reference:" + device +
                                     ":k=1000,in=1x1:seed=1",
                                 Registry::instance()));
        CAPTURE(slow.message);
        CHECK(slow.verdict == Verdict::passed);
    }
}

TEST_CASE("what a kernel leaves behind for the end of its process is charged to it") {
    const KernelSuite suite(Registry::instance());
    for (const std::string& device : test_devices()) {
        const auto results =
            check_all(suite, "conv.grad_bias/leaves_trap", "matches_reference", device);
        check_misbehaving(trap, results.at(trap.variant), device);
    }
}

TEST_CASE("a forward kernel that dies is not charged to the gradients that would borrow it") {
    const KernelSuite suite(Registry::instance());
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        const auto forward = check_all(suite, "conv.forward/*", "matches_reference", device);
        for (const char* deadly : {"dies", "loses_device"})
            CHECK(forward.at(deadly).verdict == Verdict::failed);
        const auto gradients = check_all(suite, "conv.grad_bias/naive", "adjoint_identity", device);
        const RowResult& naive = gradients.at("naive");
        CAPTURE(naive.message);
        CHECK(naive.verdict == Verdict::passed);
        CHECK(naive.cases == 40);
    }
}

}  // namespace gradverify
