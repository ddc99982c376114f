// SPDX-License-Identifier: Apache-2.0
// Large problems: what is drawn, and which offsets are found. Without a GPU, 2^16 is large.
#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "harness/operators/copies.hpp"
#include "harness/workers/pool.hpp"
#include "kernels/grids.hpp"
#include "properties/data/seeds.hpp"
#include "properties/large/draw_large.hpp"
#include "properties/large/large_plan.hpp"
#include "properties/problems/generator.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

namespace {

constexpr std::string_view property = "holds_when_large";
constexpr std::int64_t cases = 4;

KernelSuite suite_of_16_bits() {
    return KernelSuite(Registry::instance(), {.large_offset_bits = 16});
}

Row row_of(const std::string& kernel, const std::string& device) {
    const Row row = testing::row_named(kernel, property, device);
    REQUIRE_MESSAGE(row.kernel, kernel);
    return row;
}

Case drawn_case(const Suite& suite, const Row& row, std::uint64_t seed, std::int64_t index) {
    const auto draw = suite.draw(row, seed, index);
    REQUIRE_MESSAGE(draw.drawn, row.kernel->name << ": " << draw.why_none);
    return *draw.drawn;
}

/// Elements, or bytes, of the largest tensor of the pass.
std::int64_t most_elements(const Case& drawn, bool in_bytes) {
    const Kernel& kernel = *Registry::instance().find_kernel(drawn.kernel);
    std::int64_t most = 0;
    for (const std::string& tensor : kernel.pass->tensors()) {
        const auto bytes =
            static_cast<std::int64_t>(traits_of(dtype_of(kernel.any(), *kernel.op, tensor)).bytes);
        most = std::max(most, element_count(kernel.op->sizes_of(tensor, drawn.problem)) *
                                  (in_bytes ? bytes : 1));
    }
    return most;
}

std::optional<Case> first_failing(const Suite& suite, const Row& row, std::uint64_t seed) {
    for (std::int64_t i = 0; i < cases; ++i) {
        const Case drawn = drawn_case(suite, row, seed, i);
        if (suite.run(drawn.print()).verdict == Verdict::failed) return drawn;
    }
    return std::nullopt;
}

const std::string bugs[] = {
    "relu.forward/bug_a18_offset_",     "relu.forward/bug_a18_unsigned_offset_",
    "relu.forward/bug_a18_count_",      "conv.forward/bug_a18_offset_",
    "conv.grad_input/bug_a18_offset_",  "conv.grad_weight/bug_a18_offset_",
    "relu.forward/bug_a18_long_steps_", "relu.forward/bug_a18_short_steps_"};
const std::map<std::string, std::string> smallest_failing{
    {"relu.forward/bug_a18_offset_", "n=32769"},
    {"relu.forward/bug_a18_long_steps_", "n=16385"},
    {"relu.forward/bug_a18_short_steps_", "n=32513"}};

}  // namespace

TEST_CASE("what operators are separable along holds of the passes that are known to obey it") {
    // The bias of a sum over input channels is counted once for each copy; the gradient of a bias
    // is the same for all copies of input channels, and not their sum.
    const std::set<std::string> known{
        "conv.forward along c",           "conv.backward along c",
        "conv_transpose.forward along c", "fc.forward along c",
        "conv.grad_bias along c",         "conv_transpose.grad_bias along c",
        "fc.grad_bias along c",           "conv_transpose.backward along c"};
    std::set<std::string> lawless;
    std::set<std::string> tried;
    for (const Kernel& kernel : Registry::instance().kernels()) {
        const KernelDeclaration all{.operator_name = kernel.op->name,
                                    .pass_name = kernel.pass->name};
        const std::string pass = kernel.op->name + "." + kernel.pass->name;
        if (kernel.op->separable.empty() || !tried.insert(pass).second) continue;
        const Kernel any{
            .name = pass, .op = kernel.op, .pass = kernel.pass, .by_device = {{"cpu", &all}}};
        const ProblemGenerator generator(*kernel.op, *kernel.pass, all,
                                         {.budget = {.multiply_adds = 0x1p14}});
        for (const SeparableSpec& along : kernel.op->separable) {
            int problems = 0;
            for (std::uint64_t seed = 0; seed < 400 && problems < 12; ++seed) {
                const Problem one = generator.draw_freely(seed);
                if (kernel.op->is_empty(one) || why_not_multiplied(along, one)) continue;
                ++problems;
                const auto why = why_law_fails(
                    any, one, along,
                    kernel.op->is_exact_on_integers() ? ValueKind::integers : ValueKind::mantissas);
                if (!why) continue;
                CAPTURE(one.print());
                CAPTURE(*why);
                const std::string name = pass + " along " + along.name;
                CHECK_MESSAGE(known.contains(name), name);
                lawless.insert(name);
            }
            CHECK_MESSAGE(problems > 0, pass << " along " << along.name);
        }
    }
    for (const std::string& name : known) CHECK_MESSAGE(lawless.contains(name), name);
}

TEST_CASE("a large case is larger than its kind asks for, and a function of seed and index alone") {
    const KernelSuite suite(Registry::instance());
    for (const char* name : {"relu.forward/naive", "conv.forward/direct", "conv.grad_weight/direct",
                             "fc.forward/tiled", "conv.forward/direct_f16"}) {
        const Row row = row_of(name, "cpu");
        for (std::int64_t i = 0; i < cases; ++i) {
            const Case drawn = drawn_case(suite, row, 7, i);
            CAPTURE(drawn.print());
            REQUIRE(drawn.setting.copies);
            CHECK(drawn == drawn_case(KernelSuite(Registry::instance()), row, 7, i));
            CHECK(Case::parse(drawn.print(), Registry::instance()) == drawn);
            const std::int64_t threshold = std::int64_t{1} << (i == 3 ? 32 : 31);
            CHECK(most_elements(drawn, i == 1) > threshold);
            CHECK(most_elements(drawn, true) < std::int64_t{1} << 37);
        }
    }
}

TEST_CASE(
    "offsets and counts of 16 bits are found, and the case is shrunk to where they overflow") {
    const KernelSuite suite = suite_of_16_bits();
    for (const std::string& bug : bugs) {
        const Row row = row_of(bug + "16", "cpu");
        for (const std::uint64_t seed : {1, 2, 3}) {
            CAPTURE(row.kernel->name);
            CAPTURE(seed);
            const auto failing = first_failing(suite, row, seed);
            REQUIRE(failing);
            CAPTURE(failing->print());
            const CaseRunner runner = [&](const Case& candidate) {
                return suite.run(candidate.print());
            };
            const Shrunk shrunk = suite.shrink(*failing, runner(*failing), runner);
            CAPTURE(shrunk.smallest.print());
            CHECK(suite.run(shrunk.smallest.print()).verdict == Verdict::failed);
            // One copy less lies within the offsets.
            Case fewer = shrunk.smallest;
            const SeparableSpec& along =
                *find_named(row.kernel->op->separable, fewer.setting.copies->along);
            const Problem one = *one_copy(fewer.problem, along, fewer.setting.copies->count);
            fewer.problem = multiplied(one, along, --fewer.setting.copies->count);
            if (fewer.setting.copies->count > 1)
                CHECK(suite.run(fewer.print()).verdict == Verdict::passed);
            const bool is_unsigned = bug.find("unsigned") != std::string::npos;
            if (const auto known = smallest_failing.find(bug); known != smallest_failing.end())
                CHECK(shrunk.smallest.problem.print() == known->second);
            else
                CHECK(most_elements(shrunk.smallest, false) > (is_unsigned ? 65535 : 32767));
        }
    }
}

TEST_CASE("the workspace is asked for problems alone that the kernel supports") {
    const Kernel& relu = *Registry::instance().find_kernel("relu.forward/naive");
    KernelDeclaration small{.operator_name = "relu", .pass_name = "forward"};
    small.only_if("n below 100", [](const Problem& problem) { return problem.scalar("n") < 100; })
        .workspace([](const Problem& problem) -> std::int64_t {
            CHECK(problem.scalar("n") < 100);
            return 0;
        });
    const Kernel of_small{.name = "relu.forward/small",
                          .op = relu.op,
                          .pass = relu.pass,
                          .by_device = {{"cpu", &small}}};
    Row row = row_of("relu.forward/naive", "cpu");
    row.kernel = &of_small;
    const ProblemGenerator generator(*relu.op, *relu.pass, small,
                                     {.budget = {.multiply_adds = 0x1p14}});
    const Suite::Draw draw = draw_large(row, generator, ValueKind::integers, 1, 0, 16);
    CHECK_FALSE(draw.drawn);
    CHECK(draw.why_none.find("needs n below 100") != std::string::npos);
}

TEST_CASE("every registered kernel is right on what is large for offsets of 16 bits") {
    const KernelSuite suite = suite_of_16_bits();
    int passed = 0, asked = 0;
    for (const Kernel& kernel : Registry::instance().kernels()) {
        if (!find_property("holds_when_large")->applies_to(kernel) || !kernel.on("cpu") ||
            testing::is_wrong_on_purpose(kernel.name))
            continue;
        const Case drawn = drawn_case(suite, row_of(kernel.name, "cpu"), 3, asked++ % cases);
        const Outcome outcome = suite.run(drawn.print());
        CAPTURE(drawn.print());
        CAPTURE(outcome.message);
        CHECK(outcome.verdict != Verdict::failed);
        CHECK(outcome.verdict != Verdict::errored);
        passed += outcome.verdict == Verdict::passed;
    }
    // The others refuse the problem, or compare nothing but zeros.
    CHECK(asked > 150);
    CHECK(passed > asked * 9 / 10);
}

TEST_CASE("a kernel is tried at the limit that it declares, one below, and where bytes overflow") {
    const KernelSuite suite = suite_of_16_bits();
    const Row row = row_of("relu.forward/right_up_to_16_bits", "cpu");
    for (const std::uint64_t seed : {1, 2, 3}) {
        std::int64_t most[cases];
        for (std::int64_t i = 0; i < cases; ++i) {
            const Case drawn = drawn_case(suite, row, seed, i);
            most[i] = most_elements(drawn, false);
            const Outcome outcome = suite.run(drawn.print());
            CAPTURE(outcome.message);
            CHECK(outcome.verdict == Verdict::passed);
        }
        CHECK(most[0] == 32767);
        CHECK(most[1] == 32766);
        CHECK((most[2] > 16384 && most[2] < 32767));
        CHECK((most[3] > 8192 && most[3] < 16384));
    }
    // Of a convolution n alone has a largest value, so the limit is the prime less one.
    const KernelSuite whole(Registry::instance());
    for (const char* name : {"conv.grad_bias/naive", "conv.grad_weight/tree_reduction"}) {
        CHECK(most_elements(drawn_case(whole, row_of(name, "cpu"), 1, 0), false) == INT32_MAX - 1);
        const Case below = drawn_case(whole, row_of(name, "cpu"), 1, 1);
        CAPTURE(below.print());
        CHECK(most_elements(below, false) > (std::int64_t{1} << 31) - (1 << 20));
        CHECK(most_elements(below, false) < INT32_MAX);
    }
    CHECK(
        most_elements(drawn_case(whole, row_of("relu.forward/bug_a18_short_steps_32", "cpu"), 1, 0),
                      false) == INT32_MAX);
    // A limit that no offset of 32 bits reaches is tried, too.
    CHECK(drawn_case(KernelSuite(Registry::instance()), row, 1, 0).problem.print() == "n=32767");
}

TEST_CASE("on a GPU offsets and counts of 32 bits are found, and kernels of 64 pass") {
    if (const std::string why = why_unavailable("cuda"); !why.empty()) {
        MESSAGE("not run: " << why);
        return;
    }
    const KernelSuite suite(Registry::instance());
    WorkerPool pool({.command = suite_worker_command(), .jobs = 1});
    const auto fails = [&](const std::string& name) {
        bool any = false;
        for (std::int64_t i = 0; i < cases; ++i) {
            const Case drawn = drawn_case(suite, row_of(name, "cuda"), 1, i);
            const Outcome outcome = pool.run(drawn);
            MESSAGE(drawn.print() << ": " << name_of(outcome.verdict) << " " << outcome.message);
            CHECK(outcome.verdict != Verdict::errored);
            any |= outcome.verdict == Verdict::failed;
        }
        return any;
    };
    for (const std::string& bug : bugs) CHECK_MESSAGE(fails(bug + "32"), bug);
    for (const char* right : {"conv.forward/right_offset_64", "conv.grad_input/right_offset_64",
                              "conv.grad_weight/right_offset_64", "relu.forward/naive"})
        CHECK_MESSAGE(!fails(right), right);
}

TEST_CASE("blocks that one grid has no room for are launched in further ones, each once") {
    const auto launched = [](long long blocks) {
        std::vector<std::pair<long long, unsigned>> grids;
        in_grids(
            blocks, [&](long long first, unsigned count) { grids.emplace_back(first, count); }, 10);
        return grids;
    };
    using Grids = std::vector<std::pair<long long, unsigned>>;
    CHECK(launched(0) == Grids{});
    CHECK(launched(10) == Grids{{0, 10}});
    CHECK(launched(21) == Grids{{0, 10}, {10, 10}, {20, 1}});
}

// 2^29 times 5 planes of one element each: larger ones take too long.
TEST_CASE("on a GPU a kernel with a block for each plane takes more than 2^31 of them") {
    if (const std::string why = why_unavailable("cuda"); !why.empty()) {
        MESSAGE("not run: " << why);
        return;
    }
    WorkerPool pool({.command = suite_worker_command(), .jobs = 1});
    const Outcome outcome = pool.run(
        Case::parse("v1:conv.forward/depthwise:holds_when_large:cuda:n=536870912,k=5,in=1:dense=2"
                    ":copies=n*536870912",
                    Registry::instance()));
    CHECK(outcome.verdict == Verdict::passed);
    CHECK(outcome.message == "");
}

}  // namespace gradverify
