// SPDX-License-Identifier: Apache-2.0
// A row's cases bring every two levels together that some supported problem does.
#include "properties/problems/covering_array.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "harness/base/text.hpp"
#include "properties/problems/enumerate.hpp"
#include "properties/tests/drawn_problems.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

const PassSpec& pass() { return test_operator().passes.back(); }

bool is_odd(const Problem& problem) { return problem.scalar("k") % 2 == 1; }

std::vector<KernelDeclaration> kernels() {
    KernelDeclaration plain, small, odd;
    plain.with_empty_problems();
    small.where("stride", equals(1)).where("filter", between(2, 3)).where("c", multiple_of(4));
    small.costs({.threads_per_output = 64, .barriers_per_thread = 3});
    odd.only_if("k is odd", is_odd);
    return {plain, small, odd};
}

/// All pairs of levels of the problems in a box that are within the budget.
LevelPairs pairs_in_box(const SupportedProblems& problems, const Problem& box) {
    LevelPairs met(factors_of(problems.op(), problems.kernel(), box.rank()));
    const CostModel cost(problems);
    ProblemEnumerator enumerator(problems, {.box = &box});
    while (const auto problem = enumerator.next()) {
        const ProblemCost of = cost(*problem);
        if (of.share_of(covering_budget) <= 1.0)
            met.add(met.levels_of(*problem), of.empty_axes > 0);
        enumerator.renew_steps();
    }
    return met;
}

}  // namespace

TEST_CASE("problems of a covering array are supported, within its budget, and each adds a pair") {
    for (const KernelDeclaration& kernel : kernels()) {
        const Supported supported(kernel);
        const CoveringArray array(supported);
        const CostModel cost(supported);
        LevelPairs met(array.pairs().at(2).factors());
        for (const Problem& problem : array.problems()) {
            CAPTURE(problem.print());
            CHECK(supported.problems.contains(problem));
            const ProblemCost of = cost(problem);
            CHECK(of.share_of(covering_budget) <= 1.0);
            CHECK((of.empty_axes == 0 || kernel.accepts_empty));
            CHECK(met.add(met.levels_of(problem), of.empty_axes > 0) > 0);
        }
        CHECK(met.count() == array.pairs().at(2).count());
    }
}

TEST_CASE("no member of a covering array reads nothing, varied or not") {
    Operator op = make_test_operator(2, 2);
    op.reads_nothing = is_odd;
    const Supported supported(kernels().front(), op);
    const CoveringArray array(supported);
    SplitMix64 random(1);
    std::size_t empty = 0;
    for (std::size_t i = 0; i < array.problems().size(); ++i) {
        if (op.is_empty(array.problems()[i])) {
            ++empty;
            continue;
        }
        CHECK_FALSE(is_odd(array.problems()[i]));
        CHECK_FALSE(is_odd(array.varied(i, random)));
    }
    CHECK(array.problems().size() > empty + 50);
    // An empty problem reads nothing in any case.
    CHECK(empty > 0);
}

TEST_CASE("problems of all ranks take turns") {
    const Supported supported(test_kernel(), make_test_operator(1, 3));
    const CoveringArray array(supported);
    const auto count = [](std::span<const Problem> of, int rank) {
        return std::ranges::count(of, rank, &Problem::rank);
    };
    const std::span<const Problem> all(array.problems()), first = all.first(all.size() / 4);
    for (const int rank : {1, 2, 3}) {
        CHECK(std::abs(4 * count(first, rank) - count(all, rank)) <= 8);
        CHECK(count(all, rank) > 20);
    }
}

TEST_CASE("what the array does not bring together no supported problem does") {
    KernelDeclaration narrow;
    narrow.where("n", between(1, 3)).where("c", between(1, 4)).where("k", equals(1));
    narrow.where("in", between(1, 5)).where("filter", between(1, 3)).where("dilation", equals(1));
    narrow.where("stride", between(1, 3)).where("padding", between(0, 2)).with_empty_problems();
    narrow.where("in_h", same_as("in_w")).where("padding_h", same_as("padding_w"));
    narrow.where("stride_w", equals(2));
    const Supported supported(narrow);
    const LevelPairs all = pairs_in_box(
        supported, supported.parse("n=3,c=4,groups=4,in=5x5,filter=3x3,stride=3x2,padding=2"));
    const CoveringArray array(supported);
    const LevelPairs::Missing missing = array.pairs().at(2).missing_of(all, 3);
    CHECK_MESSAGE(missing.count == 0, joined(missing.first));
    CHECK(all.missing_of(array.pairs().at(2), 3).count == 0);
}

TEST_CASE("a row's first thousand cases bring every two levels together, whatever the seed") {
    for (const KernelDeclaration& kernel : kernels())
        for (const std::uint64_t seed : {1u, 2u}) {
            const ProblemGenerator generator(test_operator(), pass(), kernel);
            const LevelPairs& reach = generator.covering_array().pairs().at(2);
            LevelPairs met(reach.factors());
            for (std::int64_t i = 0; i < 1000; ++i) {
                const Problem problem =
                    *generator.draw(draw_seed({seed, "kernel", "property", i}), i);
                met.add(met.levels_of(problem), test_operator().is_empty(problem));
            }
            CHECK(met.missing_of(reach, 0).count == 0);
        }
}

TEST_CASE("a member is varied within its levels, differently with every seed") {
    const Supported supported(kernels().front());
    const CoveringArray array(supported);
    const LevelPairs& pairs = array.pairs().at(2);
    int varied = 0;
    for (std::size_t i = 0; i < array.problems().size(); ++i) {
        SplitMix64 first(1), second(2), again(1);
        const Problem one = array.varied(i, first), other = array.varied(i, second);
        CHECK(pairs.levels_of(one) == pairs.levels_of(array.problems()[i]));
        CHECK(supported.problems.contains(one));
        CHECK(one == array.varied(i, again));
        varied += one != other;
    }
    CHECK(varied * 2 > static_cast<int>(array.problems().size()));
}

TEST_CASE("kernels that support the same share an array, whoever asks first") {
    KernelDeclaration f32, f64, strided;
    f64.storage(DType::f64);
    strided.where("stride", equals(1));
    const Operator& op = test_operator();
    const SupportedProblems of_f32(op, pass(), f32), of_f64(op, pass(), f64),
        of_strided(op, op.forward(), strided), of_forward(op, op.forward(), f32);
    CoveringArrays arrays, others;
    const CoveringArray& shared = arrays.of(of_f32);
    CHECK(&arrays.of(of_f64) == &shared);
    CHECK(&arrays.of(of_forward) == &shared);
    CHECK(&arrays.of(of_strided) != &shared);
    CHECK(others.of(of_forward).problems() == shared.problems());
    // A pass has barriers for each of its outputs.
    KernelDeclaration tiled;
    tiled.costs({.threads_per_output = 64, .barriers_per_thread = 3});
    const SupportedProblems weight(op, pass(), tiled), forward(op, op.forward(), tiled);
    CHECK(&arrays.of(weight) != &shared);
    CHECK(&arrays.of(weight) != &arrays.of(forward));
}

TEST_CASE("threads that ask for arrays at once get the same, each made once") {
    std::vector<KernelDeclaration> kernels(12);
    for (std::size_t i = 0; i < kernels.size(); ++i)
        kernels[i].where("n", between(1, static_cast<std::int64_t>(i) + 1));
    std::vector<std::unique_ptr<const SupportedProblems>> problems;
    for (const KernelDeclaration& kernel : kernels)
        problems.push_back(
            std::make_unique<const SupportedProblems>(test_operator(), pass(), kernel));
    CoveringArrays arrays;
    std::vector<std::vector<const CoveringArray*>> got(4);
    {
        std::barrier all(std::ssize(got));
        std::vector<std::jthread> threads;
        for (auto& of_thread : got)
            threads.emplace_back([&] {
                all.arrive_and_wait();
                for (const auto& one : problems) of_thread.push_back(&arrays.of(*one));
            });
    }
    for (const auto& of_thread : got) CHECK(of_thread == got.front());
    CHECK(std::set(got.front().begin(), got.front().end()).size() == kernels.size());
    CoveringArrays others;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        CHECK(got.front()[i]->problems() == others.of(*problems[i]).problems());
}

TEST_CASE("a generator has its array made when its smallest problems are drawn") {
    const KernelDeclaration kernel;
    const ProblemGenerator generator(test_operator(), pass(), kernel);
    const auto edges = static_cast<std::int64_t>(generator.edge_problems().size());
    const auto draw = [&](std::int64_t index) {
        return generator.draw(draw_seed({1, "kernel", "property", index}), index);
    };
    CHECK(draw(0));
    CHECK(draw(edges - 1));
    CHECK(generator.covering_array_if_made() == nullptr);
    CHECK(draw(edges + 20));
    CHECK(generator.covering_array_if_made() != nullptr);
}
