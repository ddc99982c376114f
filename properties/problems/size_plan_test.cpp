// SPDX-License-Identifier: Apache-2.0
// A row of 1,000 cases meets sizes just above every block, and two sizes of several tiles together,
// whatever the seed, and pays for the dear ones with cheap ones.
#include "properties/problems/size_plan.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "harness/registry/registry.hpp"
#include "properties/tests/drawn_problems.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// The first cases of a row of a kernel without conditions.
std::vector<Problem> row_of(const char* operator_name, const std::string& pass, std::uint64_t seed,
                            std::int64_t cases, const KernelDeclaration& kernel = {}) {
    const Operator& op = *Registry::instance().find_operator(operator_name);
    const ProblemGenerator generator(op, *op.find_pass(pass), kernel);
    std::vector<Problem> problems;
    for (std::int64_t i = 0; i < cases; ++i)
        problems.push_back(
            *generator.draw(draw_seed({seed, operator_name, "matches_reference", i}), i));
    return problems;
}

/// Two sizes from which on some kernel is wrong.
struct Thresholds {
    const char *a, *b;
    std::int64_t least_a, least_b;
};

std::map<std::string, Predicate> beyond(const std::vector<Thresholds>& all) {
    std::map<std::string, Predicate> kinds;
    for (const Thresholds& one : all)
        kinds[fmt::format("{} {} with {} {}", one.a, one.least_a, one.b, one.least_b)] =
            [one](const Problem& p) {
                return p.scalar(one.a) >= one.least_a && p.scalar(one.b) >= one.least_b;
            };
    return kinds;
}

}  // namespace

TEST_CASE("two sizes are beyond any two thresholds of a tile within 1,000 cases, in every seed") {
    const std::map<const char*, std::vector<Thresholds>> table{
        {"layer_norm",
         {{"rows", "width", 5, 1025},
          {"rows", "width", 9, 769},
          {"rows", "width", 17, 513},
          {"rows", "width", 33, 257},
          {"rows", "width", 65, 129},
          {"rows", "width", 129, 65},
          {"rows", "width", 129, 129},
          {"rows", "width", 257, 33},
          {"rows", "width", 513, 17},
          {"rows", "width", 1025, 5},
          {"rows", "width", 100, 200}}},
        {"fc",
         {{"n", "k", 129, 65},
          {"n", "k", 65, 129},
          {"n", "k", 257, 257},
          {"n", "c", 129, 129},
          {"n", "c", 257, 257},
          {"n", "c", 5, 1025},
          {"c", "k", 129, 129},
          {"c", "k", 257, 257},
          {"c", "k", 1025, 65},
          {"n", "k", 129, 1025},
          {"n", "k", 1025, 129},
          {"n", "k", 100, 900}}},
        {"conv",
         {{"n", "c", 129, 129}, {"n", "k", 129, 129}, {"c", "k", 129, 129}, {"n", "k", 65, 257}}},
        {"softmax_cross_entropy", {{"n", "v", 5, 1025}, {"n", "v", 129, 129}, {"n", "v", 257, 65}}},
        {"attention",
         {{"sq", "sk", 129, 129}, {"sk", "d", 129, 65}, {"sq", "d", 65, 129}, {"b", "h", 17, 33}}},
        {"batch_norm", {{"n", "c", 129, 129}, {"c", "pixels", 33, 257}, {"n", "pixels", 257, 33}}},
        {"group_norm",
         {{"c", "pixels", 129, 129}, {"n", "groups", 33, 33}, {"groups", "pixels", 33, 65}}},
        {"embedding", {{"tokens", "rows", 257, 129}, {"tokens", "width", 129, 129}}},
        {"rms_norm", {{"rows", "width", 129, 129}, {"rows", "width", 9, 1025}}},
        {"causal_conv1d", {{"total", "channels", 257, 65}, {"seqs", "channels", 33, 129}}},
        {"grouped_gemm", {{"total", "n", 129, 129}, {"k", "n", 129, 65}, {"total", "k", 129, 129}}},
        {"selective_scan", {{"d", "l", 65, 129}, {"b", "l", 17, 257}}},
        {"segment_sum", {{"total", "width", 257, 129}, {"total", "parts", 129, 65}}},
        {"grid_sample",
         {{"h", "w", 65, 129},
          {"n", "c", 129, 129},
          {"out_h", "out_w", 129, 65},
          {"out_h", "out_w", 65, 129},
          {"c", "out_w", 65, 129}}},
        {"conv_transpose", {{"n", "k", 129, 65}, {"c", "k", 65, 129}}},
        {"scatter_add",
         {{"k", "inner", 65, 129}, {"k", "inner", 129, 65}, {"outer", "k", 129, 65}}},
        {"rope",
         {{"batch", "heads", 33, 129},
          {"length", "heads", 33, 129},
          {"heads", "dim", 129, 129},
          {"length", "dim", 129, 129}}}};
    // Passes of an operator draw alike, so three seeds of one stand for those of the others.
    for (const auto& [name, thresholds] : table)
        for (const PassSpec& pass : Registry::instance().find_operator(name)->passes)
            for (std::uint64_t seed = 1; seed <= (pass.name == "forward" ? 3 : 1); ++seed) {
                CAPTURE(seed);
                CAPTURE(std::string(name));
                CAPTURE(pass.name);
                CHECK(too_rare(row_of(name, pass.name, seed, 1000), 1, beyond(thresholds)) == "");
            }
}

TEST_CASE("each size is just above each block among a row's first dozen cases") {
    for (const auto& [name, sizes] : {std::pair("fc", std::vector{"n", "c", "k"}),
                                      {"layer_norm", {"rows", "width"}},
                                      {"relu", {"n"}}}) {
        std::map<std::string, Predicate> kinds;
        for (const char* size : sizes) kinds.merge(each_value(size, {33, 65, 129, 257, 513, 1025}));
        CHECK(too_rare(row_of(name, "forward", 1, 12), 1, kinds) == "");
    }
    CHECK(row_of("fc", "forward", 1, 1).front().print() == "n=1");
}

TEST_CASE("each size is more than a grid's axis within 1,000 cases, that of multiples too") {
    const auto any = [](const char* size) {
        return std::pair(std::string(size),
                         Predicate([=](const Problem& p) { return p.scalar(size) >= 65536; }));
    };
    CHECK(too_rare(row_of("fc", "forward", 1, 1000), 1, {any("n"), any("c"), any("k")}) == "");
    CHECK(too_rare(row_of("conv", "forward", 1, 1000), 1, {any("n"), any("c"), any("k")}) == "");
    // An element of these costs many multiply-adds.
    for (const std::uint64_t seed : {1, 2, 3})
        for (const auto& [name, sizes] : {std::pair("rms_norm", std::vector{"rows", "width"}),
                                          {"layer_norm", {"rows", "width"}},
                                          {"softmax_cross_entropy", {"n", "v"}},
                                          {"scatter_amax", {"outer", "k", "inner"}},
                                          {"attention", {"b", "sq", "h"}},
                                          {"rope", {"batch", "length", "heads"}}})
            for (const char* size : sizes)
                CHECK_MESSAGE(too_rare(row_of(name, "forward", seed, 1000), 1, {any(size)}) == "",
                              name, " ", size, " ", seed);
}

TEST_CASE("a row's planned sizes cost no more than a few free draws in each turn") {
    const Operator& op = *Registry::instance().find_operator("layer_norm");
    const KernelDeclaration kernel;
    const SupportedProblems problems(op, op.forward(), kernel);
    const SizePlan plan(problems, {});
    double spent = 0.0;
    for (const GivenSizes& given : plan.first()) spent += given.share;
    CHECK(spent < 1.0);
    CHECK(plan.first().size() <= 11);
    spent = 0.0;
    for (std::int64_t turn = 0; turn < 160; ++turn) {
        // A size beyond a grid's axis costs what it does.
        if (const GivenSizes* given = plan.at_turn(turn))
            spent += given->sizes.size() > 1 ? given->share : std::min(given->share, 0.08);
        CHECK(spent <= 0.09 * static_cast<double>(turn) + 1.0);
    }
    CHECK(spent > 5.0);
}

TEST_CASE("a plan of few sizes comes again once all of it is paid") {
    const auto of_relu = row_of("relu", "forward", 1, 1000);
    const auto most =
        std::ranges::count_if(of_relu, [](const Problem& p) { return p.scalar("n") == 65536; });
    CHECK(most > 0);
    CHECK(most < 60);
}

TEST_CASE("planned sizes keep to what a kernel takes") {
    KernelDeclaration kernel;
    kernel.where("n", multiple_of(16)).where("k", between(1, 200)).where("c", equals(8));
    for (const Problem& p : row_of("fc", "forward", 1, 1000, kernel))
        if (p.scalar("n") % 16 != 0 || p.scalar("k") > 200 || p.scalar("c") != 8)
            FAIL_CHECK(p.print());
    CHECK(too_rare(row_of("fc", "forward", 1, 1000, kernel), 1,
                   beyond({{"n", "k", 272, 129}, {"n", "k", 1040, 65}})) == "");
}
