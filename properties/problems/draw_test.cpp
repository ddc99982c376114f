// SPDX-License-Identifier: Apache-2.0
// Draws meet problems of real networks: their filters, full tiles and long rows. They end where a
// budget, or the relations between parameters, leave hardly any problem.
#include "properties/problems/draw.hpp"

#include <doctest/doctest.h>

#include <set>

#include "harness/registry/registry.hpp"
#include "properties/tests/drawn_problems.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

bool on_both(const Problem& p, std::int64_t filter, std::int64_t stride, std::int64_t padding,
             std::int64_t dilation = 1) {
    const auto is_so = [&](const TestAxis& a) {
        return a.filter == filter && a.stride == stride && a.left == padding &&
               a.right == padding && a.dilation == dilation && a.out() > 1;
    };
    return is_so(TestAxis(p, 0)) && is_so(TestAxis(p, 1));
}

bool are_multiples(const Problem& p, std::initializer_list<const char*> names, std::int64_t of) {
    return std::ranges::all_of(names, [&](const char* name) { return p.scalar(name) % of == 0; });
}

using Texts = std::set<std::string>;

/// The problems in 3000 draws of parameters a, b, c and d, where a is the work; `-` for a failed
/// draw.
Texts drawn(const std::vector<Constraint>& constraints, const WorkBudget& budget = {},
            const KernelDeclaration& kernel = test_kernel()) {
    Operator op = small_operator(
        ParameterSpace({{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}}, 0, 0),
        constraints);
    op.passes.front().multiply_adds = [](const Problem& p) {
        return static_cast<double>(p.scalar("a"));
    };
    const Supported supported(kernel, op);
    const ProblemDrawer drawer(supported, budget);
    Texts texts;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        SplitMix64 random(seed);
        const std::optional<Problem> problem = drawer(random);
        if (problem) CHECK(supported.problems.contains(*problem));
        texts.insert(problem ? problem->print() : "-");
    }
    return texts;
}

std::vector<Constraint> all_but_a(Condition condition) {
    return {where("a", std::move(condition)), where("b", equals(1)), where("c", equals(1)),
            where("d", equals(1))};
}

}  // namespace

TEST_CASE("filters, channels and tiles come up as networks have them") {
    const std::vector<Problem> problems = draws(test_kernel(), 12'000);
    const auto with = [](std::int64_t filter, std::int64_t stride, std::int64_t padding,
                         std::int64_t dilation = 1) {
        return [=](const Problem& p) { return on_both(p, filter, stride, padding, dilation); };
    };
    CHECK(too_rare(problems, 12,
                   {{"3x3", with(3, 1, 0)},
                    {"3x3, padding 1", with(3, 1, 1)},
                    {"3x3, stride 2, padding 1", with(3, 2, 1)},
                    {"3x3, dilation 2, padding 2", with(3, 1, 2, 2)},
                    {"2x2, stride 2", with(2, 2, 0)},
                    {"1x1", with(1, 1, 0)},
                    {"1x1, stride 2", with(1, 2, 0)}}) == "");
    CHECK(too_rare(problems, 5,
                   {{"5x5", with(5, 1, 0)},
                    {"5x5, padding 2", with(5, 1, 2)},
                    {"7x7, padding 3", with(7, 1, 3)},
                    {"7x7, stride 2, padding 3", with(7, 2, 3)}}) == "");
    // Channels that fill vectors and tiles.
    const auto full = [](std::int64_t filter, std::int64_t of) {
        return [=](const Problem& p) {
            return on_both(p, filter, 1, filter / 2) && p.scalar("groups") == 1 &&
                   are_multiples(p, {"c", "k"}, of);
        };
    };
    const auto depthwise = [](std::int64_t of) {
        return [=](const Problem& p) {
            const std::int64_t groups = p.scalar("groups");
            return on_both(p, 3, 1, 1) && groups > 1 && groups == p.scalar("c") &&
                   groups == p.scalar("k") && groups % of == 0;
        };
    };
    CHECK(too_rare(problems, 4,
                   {{"1x1, multiples of 4", full(1, 4)},
                    {"1x1, multiples of 16", full(1, 16)},
                    {"3x3, multiples of 4", full(3, 4)},
                    {"3x3, multiples of 16", full(3, 16)},
                    {"depthwise 3x3", depthwise(1)},
                    {"depthwise 3x3, multiples of 4", depthwise(4)}}) == "");
    // Full tiles, with several steps of depth.
    const auto tiles = [](std::int64_t tile, std::int64_t depth) {
        return [=](const Problem& p) {
            return are_multiples(p, {"n", "k"}, tile) &&
                   p.scalar("c") / p.scalar("groups") >= depth;
        };
    };
    CHECK(too_rare(problems, 5,
                   {{"tiles of 8, depth 48", tiles(8, 48)},
                    {"tiles of 16, depth 48", tiles(16, 48)},
                    {"tiles of 32, depth 64", tiles(32, 64)},
                    {"tiles of 64, depth 24", tiles(64, 24)}}) == "");
}

TEST_CASE("rows beyond shared memory and a grid's second round come up") {
    CHECK(too_rare(draws(test_kernel(), 120'000), 3,
                   each_value("n", {2049, 4097, 12289, 32000, 262145, 300001})) == "");
}

TEST_CASE("an operator whose work nobody declared has long rows and many elements now and then") {
    const auto longer = [](const char* name, const char* parameter, std::int64_t length) {
        const Operator& op = *Registry::instance().find_operator(name);
        const KernelDeclaration kernel;
        const ProblemGenerator generator(op, op.passes.front(), kernel, {.edge_problems = false});
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < 20'000; ++i)
            count +=
                generator.draw(draw_seed({1, name, "property", i}), i)->scalar(parameter) > length;
        return count;
    };
    // Beyond shared memory, and the second round of 1,024 blocks of 256 threads; each is dear.
    for (const std::int64_t count :
         {longer("layer_norm", "width", 12288), longer("relu", "n", 262144)}) {
        CHECK(count > 2);
        CHECK(count < 200);
    }
}

TEST_CASE("a draw may cost exactly its budget, and a few of the longest lengths more") {
    struct Line {
        WorkBudget budget;
        const char* problem;
        bool is_drawn;
    };
    for (const Line& line : {Line{{.multiply_adds = 1025, .longest_factor = 2.0}, "a=1025", true},
                             {{.multiply_adds = 1025, .longest_factor = 2.0}, "a=2049", true},
                             {{.multiply_adds = 1025, .longest_factor = 2.0}, "a=4097", false},
                             {{.multiply_adds = 1025, .longest_factor = 1.9}, "a=2049", false},
                             {{.multiply_adds = 1024.5}, "a=1024", true},
                             {{.multiply_adds = 1024.5}, "a=1025", false}}) {
        CAPTURE(line.budget.multiply_adds);
        CAPTURE(line.budget.longest_factor);
        CAPTURE(line.problem);
        CHECK(drawn(all_but_a(between(1, 5000)), line.budget).contains(line.problem) ==
              line.is_drawn);
    }
    const std::vector<Constraint> from_8 = all_but_a(between(8, 5000));
    CHECK(drawn(from_8, {.multiply_adds = 8}) == Texts{"a=8"});
    CHECK(drawn(from_8, {.multiply_adds = 7}) == Texts{"-"});
}

TEST_CASE("where no large value is within the budget, or there is none, a draw ends") {
    // Nothing but a has large values.
    const Texts cheap = drawn(all_but_a(between(1, 1 << 20)), {.multiply_adds = 12});
    CHECK(cheap.contains("a=8"));
    CHECK_FALSE(cheap.contains("a=15"));
    CHECK(drawn(all_but_a(between(1, 3))) == Texts{"", "a=2", "a=3"});
    // No parameter may be zero, though the kernel takes empty problems.
    CHECK(drawn(all_but_a(between(1, 3)), {}, test_kernel().with_empty_problems()) ==
          Texts{"", "a=2", "a=3"});
}

TEST_CASE("a draw that relations lead into a dead end comes to nothing, and others are made") {
    // With c = 4 only b = 8 is left, which does not divide 12.
    CHECK(drawn(chain_of_four(6, 12)) == Texts{"-", "a=2,b=6,c=6,d=12"});
}

TEST_CASE("a large divisor needs multiples as large") {
    const Texts problems = drawn({where("b", multiple_of("a")), where("b", between(100, 130))});
    CHECK(problems.contains("a=63,b=126"));
    CHECK_FALSE(problems.contains("-"));
}
