// SPDX-License-Identifier: Apache-2.0
// Draws meet problems of real networks: their filters, full tiles and long rows.
#include <doctest/doctest.h>

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

}  // namespace

TEST_CASE("the filters of networks come up with the strides and paddings that they have there") {
    const std::vector<Problem> problems = draws(test_kernel(), 8000);
    const auto with = [](std::int64_t filter, std::int64_t stride, std::int64_t padding,
                         std::int64_t dilation = 1) {
        return [=](const Problem& p) { return on_both(p, filter, stride, padding, dilation); };
    };
    CHECK(too_rare(problems, 8,
                   {{"3x3", with(3, 1, 0)},
                    {"3x3, padding 1", with(3, 1, 1)},
                    {"3x3, stride 2, padding 1", with(3, 2, 1)},
                    {"3x3, dilation 2, padding 2", with(3, 1, 2, 2)},
                    {"2x2, stride 2", with(2, 2, 0)},
                    {"1x1", with(1, 1, 0)},
                    {"1x1, stride 2", with(1, 2, 0)}}) == "");
    CHECK(too_rare(problems, 3,
                   {{"5x5", with(5, 1, 0)},
                    {"5x5, padding 2", with(5, 1, 2)},
                    {"7x7, padding 3", with(7, 1, 3)},
                    {"7x7, stride 2, padding 3", with(7, 2, 3)}}) == "");
}

TEST_CASE("channels that fill vectors and tiles come with the filters of networks") {
    const std::vector<Problem> problems = draws(test_kernel(), 12'000);
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
}

TEST_CASE("full tiles come with several steps of depth") {
    const std::vector<Problem> problems = draws(test_kernel(), 12'000);
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
    CHECK(too_rare(draws(test_kernel(), 40'000), 3,
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

TEST_CASE("the threads of a block for each row cost by row, however long it is") {
    KernelDeclaration by_output = test_kernel(), by_row = test_kernel();
    by_output.costs({.threads_per_output = 256, .barriers_per_thread = 9});
    by_row.costs({.barriers_per_thread = 9,
                  .threads = [](const Problem& p) { return 256 * p.scalar("n"); }});
    const auto long_rows = [](const KernelDeclaration& kernel) {
        const std::vector<Problem> problems = draws(kernel, 4000);
        return std::ranges::count_if(problems,
                                     [](const Problem& p) { return p.scalar("c") > 4000; });
    };
    CHECK(long_rows(by_output) == 0);
    CHECK(long_rows(by_row) > 4);
}
