// SPDX-License-Identifier: Apache-2.0
// A kernel whose predicate rejects too many draws is told so, and every draw ends.
#include <doctest/doctest.h>

#include <stdexcept>

#include "properties/tests/drawn_problems.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// The problems that a predicate was asked, and how many it accepts, then rejects, and so on.
struct Script {
    std::vector<Problem> asked{};
    std::vector<int> turns{};
} script;

bool answer(const Problem& problem) {
    script.asked.push_back(problem);
    auto left = static_cast<int>(script.asked.size());
    bool says = true;
    for (const int turn : script.turns) {
        if (left <= turn) return says;
        left -= turn;
        says = !says;
    }
    return says;
}

/// Three problems, the last of them no edge problem, so that three are asked for.
KernelDeclaration scripted_kernel() {
    KernelDeclaration kernel = plain_kernel();
    kernel.where("n", between(1, 3)).where("c", equals(1)).where("k", equals(1));
    kernel.where("in", equals(1)).where("filter", equals(1)).only_if("the script", answer);
    return kernel;
}

constexpr int edges = 3, trials = 400;

}  // namespace

TEST_CASE("at least one draw in ten must be accepted") {
    const KernelDeclaration kernel = scripted_kernel();
    script = {.asked = {}, .turns = {edges + 40, trials}};
    CHECK(generator_for(kernel).why_none() == "");
    script = {.asked = {}, .turns = {edges + 39, trials}};
    CHECK(contains(generator_for(kernel).why_none(), "only_if `the script` rejects 90 %"));
    CHECK(why_too_rare(kernel, 400, 40, 4) == "");
    CHECK(contains(why_too_rare(kernel, 400, 39, 39), "hardly a problem"));
    CHECK(contains(why_too_rare(kernel, 400, 100, 9), "rejects 91 %"));
    CHECK(why_too_rare(kernel, 400, 100, 10) == "");
    CHECK(
        contains(why_too_rare(test_kernel(), 400, 100, 9), "the operator's validity rejects 91 %"));
}

TEST_CASE("a draw gives up after 256 that are rejected, and is then the smallest problem") {
    const KernelDeclaration kernel = scripted_kernel();
    script = {.asked = {}, .turns = {edges + trials, 1'000'000}};
    const ProblemGenerator generator = generator_for(kernel);
    CHECK(generator.draw_freely(1) == generator.edge_problems().front());
    CHECK(script.asked.size() == edges + trials + 256);
    // One that is accepted at last is taken.
    script = {.asked = {}, .turns = {edges + trials, 255, 1}};
    const ProblemGenerator late = generator_for(kernel);
    const Problem last = late.draw_freely(2);
    CHECK(last == script.asked.back());
    CHECK(script.asked.size() == edges + trials + 256);
}

TEST_CASE("a draw where no smallest problem is known either is an error") {
    const KernelDeclaration kernel = scripted_kernel();
    script = {.asked = {}, .turns = {0, edges, trials, 1'000'000}};
    const ProblemGenerator generator = generator_for(kernel);
    REQUIRE(generator.why_none() == "");
    REQUIRE(generator.edge_problems().empty());
    CHECK_THROWS_AS(generator.draw_freely(1), std::runtime_error);
    const KernelDeclaration contradictory = plain_kernel().where("stride", equals(2));
    CHECK_THROWS_AS(generator_for(contradictory).draw_freely(1), std::invalid_argument);
}
