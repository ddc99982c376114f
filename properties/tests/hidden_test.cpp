// SPDX-License-Identifier: Apache-2.0
// Mistakes that hide: in memory that looks like numbers, in an input that is put back, in what a
// launcher keeps from call to call, in device memory that its host code uses, and in launches from
// another thread. Three operators each, with right twins.
#include <doctest/doctest.h>

#include <string>

#include "harness/run/check_rows.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

const std::string operators[] = {"strided.forward/", "squared.forward/", "turned.forward/"};

/// The property that knows the operator's values best.
const char* values_of(const std::string& op) {
    return op.starts_with("squared") ? "within_rounding_bound" : "matches_reference";
}

void check_right(const std::string& kernel) {
    for (const char* property : {"within_rounding_bound", "stays_in_bounds", "repeatable"})
        check_all_agree(kernel, property, 60);
}

}  // namespace

TEST_CASE("a number that an output, a workspace or a launcher's memory held is seen in a result") {
    struct Line {
        const char *kernel, *told;
    };
    for (const std::string& op : operators) {
        for (const Line& line :
             {Line{"bug_plausible_output", "an output depends on memory outside the inputs"},
              {"bug_plausible_workspace", "; it reads its workspace, which nobody has written"},
              {"bug_first_of_workspace", "; it reads its workspace, "},
              {"bug_plausible_own_memory",
               "; it reads memory that its launcher allocates and nobody has written"}}) {
            const Verdicts verdicts = run_drawn(op + line.kernel, "stays_in_bounds", 40);
            CHECK(verdicts[Verdict::failed] > 10);
            CHECK_MESSAGE(verdicts.first_alarm.find(line.told) != std::string::npos,
                          verdicts.first_alarm);
        }
        CHECK(
            run(op + "bug_first_of_workspace", "stays_in_bounds", "n=3:dense=2")
                .message.ends_with(
                    "; it reads its workspace, where nobody has written 1 of 3 words of 4 bytes"));
        for (const char* right : {"clears_workspace", "clears_own_memory"}) check_right(op + right);
    }
}

TEST_CASE("a write to an input fails, though the input is put back before the end") {
    for (const std::string& op : operators) {
        const auto message_of = [&](const char* kernel) {
            const Outcome outcome = run(op + kernel, "stays_in_bounds", "n=3:dense=2");
            CHECK(outcome.verdict == Verdict::failed);
            return outcome.message;
        };
        const std::string by_kernel = message_of("bug_restores_input"),
                          by_copy = message_of("bug_clears_and_restores");
        CAPTURE(by_kernel);
        CHECK(by_kernel.find("write in x, x[0] of 3, an input, which nothing may write to") !=
              std::string::npos);
        CAPTURE(by_copy);
        CHECK(by_copy.find("cudaMemsetAsync: it writes to x, an input, which nothing may") !=
              std::string::npos);
        for (const char* kernel : {"bug_restores_input", "bug_clears_and_restores"})
            CHECK(run_drawn(op + kernel, "stays_in_bounds", 40)[Verdict::failed] > 10);
        check_right(op + "leaves_input");
        check_all_agree(op + "leaves_input", "free_of_races", 20);
    }
}

TEST_CASE("what is kept by too few elements, or parameters, is found from any seed and replayed") {
    const KernelSuite suite(Registry::instance());
    WorkerPool pool(one_suite_worker());
    for (const std::string& op : operators)
        for (const char* kernel : {"bug_results_by_first", "bug_plans_by_size"})
            for (const std::uint64_t seed : {1, 2, 3, 4}) {
                const auto results = check_rows(suite, {row_named(op + kernel, values_of(op))},
                                                {.cases = 200, .seed = seed}, pool, {});
                const RowResult& result = results.front();
                CAPTURE(result.row.kernel->name);
                CAPTURE(seed);
                CAPTURE(result.message);
                REQUIRE(result.verdict == Verdict::failed);
                REQUIRE(result.failure);
                CAPTURE(result.failure->smallest.print());
                CHECK(result.failure->smallest.setting.before);
                CHECK(pool.run(result.failure->smallest, {.alone = true}).verdict ==
                      Verdict::failed);
            }
    for (const std::string& op : operators)
        for (const char* right : {"results_by_all", "plans_by_all"}) {
            check_right(op + right);
            check_all_agree(op + right, values_of(op), 60);
        }
}

TEST_CASE("a kernel that takes tensors of one element, or five, has cases of every property") {
    for (const std::string& op : operators)
        for (const char* kernel : {"of_one_element", "of_five_elements"}) {
            check_right(op + kernel);
            check_all_agree(op + kernel, values_of(op), 60);
            check_all_agree(op + kernel, "free_of_races", 20);
        }
}

TEST_CASE("a launcher that uses device memory on the host fails, and its twins pass") {
    const struct {
        const char *kernel, *told;
    } wrong[] = {
        {"bug_sums_on_host", "the launcher read device memory on the host: in x, x[0] of "},
        {"bug_copies_on_host", "the launcher read device memory on the host: in x, x["},
        {"bug_branches_on_host", "the launcher read device memory on the host: in x, x[0] of "},
        {"bug_patches_on_host", "the launcher read device memory on the host: in y, y["},
        {"bug_clears_on_host", "the launcher wrote device memory on the host: byte 0 of the "}};
    for (const std::string& op : operators) {
        for (const auto& [kernel, told] : wrong) {
            const Verdicts verdicts = run_drawn(op + kernel, "stays_in_bounds", 40);
            CHECK(verdicts[Verdict::failed] > 10);
            CHECK(verdicts[Verdict::errored] == 0);
            const std::string message = run(op + kernel, "stays_in_bounds", "n=3:dense=2").message;
            CAPTURE(message);
            CHECK(message.find("hidden_kernels.cu:") != std::string::npos);
            CHECK(message.find(told) != std::string::npos);
        }
        for (const char* right : {"sums_a_copy", "sums_managed_memory", "sums_pinned_memory",
                                  "branches_on_a_copy", "patches_by_copies", "clears_on_device"}) {
            check_right(op + right);
            check_all_agree(op + right, "free_of_races", 20);
        }
    }
}

TEST_CASE("calls of many times the threads that the cost model says are told, and no others") {
    for (const std::string& op : operators)
        for (const std::string property : {values_of(op), "stays_in_bounds", "free_of_races"}) {
            const auto crowding = [&](const char* kernel, const std::string& problem) {
                const Outcome outcome = run(op + kernel, property, problem + ":seed=1");
                CHECK(outcome.verdict == Verdict::passed);
                return outcome.crowding;
            };
            const Crowding many = crowding("many_threads", "n=5");
            CHECK(many.threads == 65536.0);
            CHECK(many.expected >= 5.0);
            CHECK(many.seconds > 0.0);
            CHECK(crowding("many_threads", "n=5:before=n=7").threads == 65536.0);
            CHECK(crowding("many_threads", "n=9000").empty());
            for (const char* kernel : {"many_threads_told", "leaves_input"})
                for (const char* problem : {"n=5", "n=9000"})
                    CHECK(crowding(kernel, problem).empty());
        }
}

TEST_CASE("a launch from a thread that the launcher joins is checked as any other") {
    for (const std::string& op : operators)
        for (const char* from : {"_from_thread", "_from_async"}) {
            const auto kernel = [&](const char* variant) { return op + variant + from; };
            const Outcome early = run(kernel("bug_turns_early"), "free_of_races", "n=9:dense=2");
            CHECK(early.verdict == Verdict::failed);
            CHECK_MESSAGE(early.message.find("held[") != std::string::npos, early.message);
            const Outcome beyond =
                run(kernel("bug_turns_beyond"), "stays_in_bounds", "n=9:dense=2");
            CHECK(beyond.verdict == Verdict::failed);
            CHECK_MESSAGE(beyond.message.find("past the end of y: y[1032], but y has 9 elements") !=
                              std::string::npos,
                          beyond.message);
            CHECK(run_drawn(kernel("bug_turns_sign"), values_of(op), 40)[Verdict::failed] > 10);
            check_right(kernel("turns"));
            const Verdicts races = run_drawn(kernel("turns"), "free_of_races", 20);
            CHECK_MESSAGE(races[Verdict::passed] == 20, races.first_alarm);
        }
}

TEST_CASE("a word that ends in a tensor may be updated by atomicCAS, which keeps the rest") {
    for (const std::string& op : operators) {
        for (const char* right : {"adds_by_words", "reads_halves"}) {
            check_right(op + right);
            check_all_agree(op + right, "free_of_races", 40);
        }
        for (const char* wrong : {"bug_stores_words", "bug_reads_pairs"}) {
            const Outcome outcome = run(op + wrong, "free_of_races", "n=1:dense=2");
            CHECK(outcome.verdict == Verdict::failed);
            CHECK_MESSAGE(outcome.message.find("s out of bounds: ") != std::string::npos,
                          outcome.message);
        }
        CHECK(run(op + "bug_clears_words", "stays_in_bounds", "n=1:dense=2").verdict ==
              Verdict::failed);
    }
}

}  // namespace gradverify
