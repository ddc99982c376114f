// SPDX-License-Identifier: Apache-2.0
// Draws meet every edge at which kernels are known to break, within the budget; a kernel whose
// predicate rejects too many draws is told so, and every draw ends.
#include "properties/problems/generator.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include <stdexcept>

#include "properties/problems/cost.hpp"
#include "properties/tests/drawn_problems.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

std::int64_t count_of(const std::vector<Problem>& problems, const Predicate& predicate) {
    return std::ranges::count_if(problems, predicate);
}

std::vector<Problem> supported_draws(const KernelDeclaration& kernel, int count) {
    const Supported supported(kernel);
    std::vector<Problem> problems = draws(kernel, count);
    for (const Problem& p : problems)
        if (!supported.problems.contains(p)) FAIL_CHECK(p.print());
    return problems;
}

const std::vector<std::int64_t> lengths{31,  32,  33,  63,  64,  65,  127, 128,  129,  255,
                                        256, 257, 511, 512, 513, 768, 769, 1023, 1024, 1025};

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

constexpr int edges = 3, trials = 400, enough = trials / 10;

}  // namespace

TEST_CASE("axes are drawn independently, and every relation between them comes up") {
    const std::vector<Problem> problems = draws(test_kernel().with_empty_problems(), 3000);
    const auto differs = [](const std::string& name) {
        return [name](const Problem& p) { return p.on_axis(name, 0) != p.on_axis(name, 1); };
    };
    CHECK(too_rare(problems, 1000,
                   {{"in_h != in_w", differs("in")},
                    {"out_h != out_w",
                     [](const Problem& p) { return TestAxis(p, 0).out() != TestAxis(p, 1).out(); }},
                    {"stride_h != stride_w", differs("stride")},
                    {"dilation_h != dilation_w", differs("dilation")},
                    {"filter_h != filter_w", differs("filter")},
                    {"padding_h != padding_w", [](const Problem& p) {
                         return TestAxis(p, 0).left != TestAxis(p, 1).left;
                     }}}) == "");
    CHECK(too_rare(
              problems, 40,
              {{"square", [&](const Problem& p) { return !differs("in")(p); }},
               {"S > F", on_some_axis([](const TestAxis& a) { return a.stride > a.filter; })},
               {"S > H", on_some_axis([](const TestAxis& a) { return a.stride > a.in; })},
               {"D > 1, F > 1",
                on_some_axis([](const TestAxis& a) { return a.dilation > 1 && a.filter > 1; })},
               {"D > 1, F = 1",
                on_some_axis([](const TestAxis& a) { return a.dilation > 1 && a.filter == 1; })},
               {"empty output", on_some_axis([](const TestAxis& a) { return a.out() == 0; })},
               {"P >= F", on_some_axis([](const TestAxis& a) { return a.left >= a.filter; })},
               {"P > F > 1",
                on_some_axis([](const TestAxis& a) { return a.left > a.filter && a.filter > 1; })},
               {"H = 1", [](const Problem& p) { return p.on_axis("in", 0) == 1; }},
               {"W = 1", [](const Problem& p) { return p.on_axis("in", 1) == 1; }},
               {"F = H > 1", on_some_axis([](const TestAxis& a) {
                    return a.filter == a.in && a.in > 1;
                })}}) == "");
}

TEST_CASE("every residue of the stride comes up") {
    const std::vector<Problem> problems = draws(test_kernel(), 10000);
    std::map<std::string, Predicate> residues;
    for (std::int64_t stride = 2; stride <= 6; ++stride)
        for (std::int64_t residue = 0; residue < stride; ++residue)
            for (const int axis : {0, 1})
                residues[fmt::format("{} of {} on axis {}", residue, stride, axis)] =
                    [=](const Problem& p) {
                        const TestAxis a(p, axis);
                        return a.stride == stride && (a.padded() - a.reach()) % stride == residue &&
                               a.out() > 1;
                    };
    CHECK(too_rare(problems, 2, residues) == "");
}

TEST_CASE("batches are drawn at nothing, at one, around a chunk, and beyond a grid's limit") {
    CHECK(too_rare(draws(test_kernel().with_empty_problems(), 20000), 4,
                   each_value("n", {0, 1, 2, 3, 255, 256, 257, 65535, 65536})) == "");
}

TEST_CASE("groups are drawn at one, at all channels and at a proper divisor") {
    const std::vector<Problem> problems = draws(test_kernel(), 1200);
    const auto c = [](const Problem& p) { return p.scalar("c"); };
    const auto g = [](const Problem& p) { return p.scalar("groups"); };
    std::map<std::string, Predicate> groups{
        {"G = 1 < C", [&](const Problem& p) { return g(p) == 1 && c(p) > 1; }},
        {"G = C > 1", [&](const Problem& p) { return g(p) == c(p) && c(p) > 1; }},
        {"1 < G < C", [&](const Problem& p) { return 1 < g(p) && g(p) < c(p); }}};
    for (const std::int64_t share : {1, 2, 3})
        groups["K/G = " + std::to_string(share) + ", G > 1"] = [=](const Problem& p) {
            return g(p) > 1 && p.scalar("k") / g(p) == share;
        };
    CHECK(too_rare(problems, 20, groups) == "");
}

TEST_CASE("every power of two and its neighbours come up as a length") {
    const std::vector<Problem> problems = draws(test_kernel(), 60000);
    std::map<std::string, Predicate> edges;
    for (const char* name : {"n", "c", "k"}) edges.merge(each_value(name, lengths));
    for (const std::int64_t length : lengths) {
        edges["in_h = " + std::to_string(length)] = [=](const Problem& p) {
            return p.on_axis("in", 0) == length;
        };
        edges["filter = " + std::to_string(length)] =
            on_some_axis([=](const TestAxis& a) { return a.filter == length; });
    }
    CHECK(too_rare(problems, 3, edges) == "");
}

TEST_CASE("constraints are solved, so that a plain kernel draws as much as any other") {
    const std::vector<Problem> problems = supported_draws(plain_kernel(), 60000);
    std::map<std::string, Predicate> edges{
        {"F = H", on_some_axis([](const TestAxis& a) { return a.filter == a.in && a.in > 1; })},
        {"F = 3", on_some_axis([](const TestAxis& a) { return a.filter == 3; })},
        {"H = 1 < W", [](const Problem& p) { return p.on_axis("in", 0) == 1; }},
        {"H < W", [](const Problem& p) { return p.on_axis("in", 0) < p.on_axis("in", 1); }},
        {"H > W", [](const Problem& p) { return p.on_axis("in", 0) > p.on_axis("in", 1); }}};
    edges.merge(each_value("n", {65536}));
    edges.merge(each_value("k", lengths));
    CHECK(too_rare(problems, 5, edges) == "");
}

TEST_CASE("a kernel's own ranges and multiples are drawn to their ends") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("c", multiple_of(4)).where("c", between(8, 40)).where("n", between(3, 2000));
    kernel.where("k", equals(6)).where("stride", same_as("dilation"));
    const std::vector<Problem> problems = supported_draws(kernel, 4000);
    CHECK(too_rare(problems, 1, each_value("c", {8, 12, 16, 20, 24, 28, 32, 36, 40})) == "");
    CHECK(too_rare(problems, 1, each_value("n", {3, 4, 256, 1024, 2000})) == "");
    CHECK(too_rare(problems, 1, each_value("groups", {1, 2, 3, 6})) == "");
}

TEST_CASE("draws are supported, hold something, and stay within the budget") {
    for (const bool empty : {false, true}) {
        KernelDeclaration kernel = test_kernel();
        kernel.costs({.threads_per_output = 256, .barriers_per_thread = 9}).accepts_empty = empty;
        const WorkBudget budget{
            .multiply_adds = 1e5, .longest_factor = 1.0, .thread_barriers = 3e5, .bytes = 1e5};
        const ProblemGenerator generator =
            generator_for(kernel, {.budget = budget, .edge_problems = false});
        const CostModel cost(*generator.supported());
        const std::vector<Problem> problems = draws(generator, 3000);
        for (const Problem& p : problems)
            if (!generator.supported()->contains(p) || cost(p).share_of(budget) > 1.0)
                FAIL_CHECK(p.print());
        const std::int64_t empty_draws =
            count_of(problems, [&](const Problem& p) { return test_operator().is_empty(p); });
        CHECK(empty_draws >= (empty ? 60 : 0));
        CHECK(empty_draws <= (empty ? 300 : 0));
    }
}

TEST_CASE("draws stay within the elements that a kernel takes, however few they are") {
    for (const std::int64_t most : {1, 2, 16, 1000}) {
        CAPTURE(most);
        KernelDeclaration kernel = test_kernel();
        kernel.up_to_elements(most);
        std::int64_t largest = 0;
        for (const Problem& p : supported_draws(kernel, 300))
            for (const Sizes& sizes : {input_sizes(p), filter_sizes(p), output_sizes(p)})
                largest = std::max(largest, element_count(sizes));
        CHECK(largest <= most);
        CHECK(largest > most / 2);
    }
}

TEST_CASE("a problem costs its products, its threads' barriers and its tensors' bytes") {
    Operator op = make_test_operator();
    op.passes.push_back(test_pass("grad_input", {"dy", "w"}, "dx"));
    KernelDeclaration kernel = test_kernel().with_empty_problems();
    const auto cost = [&](const char* pass, const char* text) {
        const SupportedProblems supported(op, *op.find_pass(pass), kernel);
        return CostModel(supported)(Problem::parse(op.space, text));
    };
    const char* text = "n=2,c=4,k=6,groups=2,in=5x4,filter=3x1,padding=1x0";
    const double x = 2 * 4 * 5 * 4, w = 6 * 2 * 3 * 1, b = 6, y = 2 * 6 * 5 * 4;
    const double work = y * (2 * 3 * 1);
    for (const auto& [pass, outputs] :
         {std::pair{"forward", y}, {"grad_input", x}, {"grad_weight", w}}) {
        CHECK(cost(pass, text).multiply_adds == work);
        CHECK(cost(pass, text).thread_barriers == outputs);
        CHECK(cost(pass, text).bytes == 4 * (x + w + b + y));
        CHECK(cost(pass, text).empty_axes == 0);
    }
    // The forward pass is run too, and counts where it is more; some pass may not say.
    op.passes[0].multiply_adds = [](const Problem& p) { return 10.0 * products(p); };
    op.passes[1].multiply_adds = {};
    for (const char* pass : {"forward", "grad_input", "grad_weight"})
        CHECK(cost(pass, text).multiply_adds == 10 * work);
    op.passes[0].multiply_adds = [](const Problem& p) { return 0.1 * products(p); };
    CHECK(cost("grad_input", text).multiply_adds == work);
    kernel.costs({.threads_per_output = 32, .barriers_per_thread = 5}).accumulates_in(DType::f64);
    const ProblemCost dear = cost("grad_weight", text);
    CHECK(dear.thread_barriers == 32 * 5 * w);
    CHECK(dear.bytes == 8 * (x + w + b + y));
    CHECK(dear.share_of({.multiply_adds = 1e9, .thread_barriers = 1e9, .bytes = 1e3}) ==
          dear.bytes / 1e3);
    CHECK(dear.share_of({.multiply_adds = 1e9, .thread_barriers = 10, .bytes = 1e9}) == 16 * w);
    // A block for each row costs by row, however long it is.
    kernel.costs({.barriers_per_thread = 9,
                  .threads = [](const Problem& p) { return 256 * p.scalar("n"); }});
    CHECK(cost("grad_weight", text).thread_barriers == 256 * 2 * 9);
    CHECK(cost("forward", "n=0,in=1x1").empty_axes == 2);
    CHECK(cost("forward", "n=0,in=1x1,filter=2x2").empty_axes == 4);
}

TEST_CASE("a large parameter comes with small others, and stays large") {
    const std::vector<Problem> problems = draws(test_kernel(), 6000);
    const auto largest = [](const Problem& p) { return *std::ranges::max_element(p.values()); };
    const std::int64_t large =
        count_of(problems, [&](const Problem& p) { return largest(p) > 161; });
    CHECK(large > 6000 / 20);
    CHECK(large < 6000 / 5);
}

TEST_CASE("the median draw has a few thousand multiply-adds") {
    const KernelDeclaration kernel = test_kernel();
    const ProblemGenerator generator = generator_for(kernel);
    const CostModel cost(*generator.supported());
    std::vector<double> multiply_adds;
    for (const Problem& p : draws(generator, 4001)) multiply_adds.push_back(cost(p).multiply_adds);
    std::ranges::nth_element(multiply_adds, multiply_adds.begin() + 2000);
    CHECK(multiply_adds[2000] >= 1000.0);
    CHECK(multiply_adds[2000] <= 10000.0);
}

TEST_CASE(
    "a row starts with the smallest problem, planned sizes and the other smallest ones, unless it "
    "is told not to") {
    const KernelDeclaration kernel = test_kernel().with_empty_problems();
    const ProblemGenerator with = generator_for(kernel, {});
    const std::vector<Problem>& edges = with.edge_problems();
    REQUIRE(edges.size() == 15);
    CHECK(edges.front().print() == "in=1x1");
    CHECK(edges[1].print() == "n=0,in=1x1");
    CHECK(std::ranges::all_of(edges, [](const Problem& p) { return p.distance() <= 1; }));
    const std::int64_t sized = std::ssize(SizePlan(*with.supported(), {}).first());
    CHECK(*with.draw(99, 0) == edges[0]);
    for (std::int64_t i = 1; i <= sized; ++i)
        CHECK(std::ranges::max(with.draw(99, i)->values()) >= 33);
    for (std::int64_t i = 1; i < std::ssize(edges); ++i)
        CHECK(*with.draw(99, sized + i) == edges[static_cast<std::size_t>(i)]);
    const ProblemGenerator without = generator_for(kernel);
    // Two of three cases are the covering array's, and of the others half are of planned sizes.
    for (const std::int64_t behind : {0, 1, 2, 3, 4, 5, 1974})
        CHECK((*without.draw(99, 0) == *with.draw(99, std::ssize(edges) + sized + behind)) ==
              (behind == 5 || behind == 1974));
    CHECK(*without.draw(99, 0) == *without.draw(99, 1000));
}

TEST_CASE("a kernel for which nothing can be drawn is told why") {
    struct Line {
        KernelDeclaration kernel;
        const char* says;
    };
    const KernelDeclaration only_empty =
        plain_kernel().where("filter_h", equals(5)).where("in_h", between(1, 4));
    for (const Line& line :
         {Line{plain_kernel().where("stride", equals(2)), "`stride = 1`, `stride = 2`"},
          {only_empty, "hardly a problem without empty tensors"}}) {
        const ProblemGenerator generator = generator_for(line.kernel);
        CHECK(contains(generator.why_none(), line.says));
        CHECK_FALSE(generator.draw(1, 0).has_value());
    }
    const KernelDeclaration contradictory = plain_kernel().where("stride", equals(2));
    const ProblemGenerator none = generator_for(contradictory);
    CHECK(none.supported() == nullptr);
    CHECK_THROWS_AS(none.draw_freely(1), std::invalid_argument);
    CHECK(generator_for(KernelDeclaration(only_empty).with_empty_problems()).why_none() == "");
    const auto is_even = [](const Problem& p) { return p.scalar("n") % 2 == 0; };
    for (const Problem& p : draws(test_kernel().only_if("n is even", is_even), 500))
        CHECK(is_even(p));
    Operator op = make_test_operator();
    op.why_invalid = [](const Problem& p) -> std::optional<std::string> {
        return p.scalar("n") * p.scalar("c") == 1 ? std::nullopt : std::optional("many");
    };
    CHECK(contains(generator_for(test_kernel(), {}, op).why_none(),
                   "the operator's validity rejects 9"));
}

TEST_CASE("problems of several ranks are drawn") {
    const Operator op = make_test_operator(1, 3);
    const std::vector<Problem> problems = draws(generator_for(test_kernel(), {}, op), 300);
    for (const int rank : {1, 2, 3})
        CHECK(count_of(problems, [=](const Problem& p) { return p.rank() == rank; }) > 50);
}

TEST_CASE("the generator is rapidcheck's too, with a shrink tree of smaller supported problems") {
    const KernelDeclaration kernel = test_kernel();
    const ProblemGenerator generator = generator_for(kernel);
    const rc::Shrinkable<Problem> root = problem_gen(generator)(rc::Random(5), 100);
    CHECK(root.value() == *generator.draw(5, 0));
    int children = 0;
    auto shrinks = root.shrinks();
    for (auto child = shrinks.next(); child; child = shrinks.next(), ++children) {
        CHECK(child->value() < root.value());
        CHECK(generator.supported()->contains(child->value()));
    }
    CHECK(children > 20);
}

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
    script = {.asked = {}, .turns = {edges + enough, 1'000'000}};
    const ProblemGenerator generator = generator_for(kernel);
    CHECK(generator.draw_freely(1) == generator.edge_problems().front());
    CHECK(script.asked.size() == edges + enough + 256);
    // One that is accepted at last is taken.
    script = {.asked = {}, .turns = {edges + enough, 255, 1}};
    const ProblemGenerator late = generator_for(kernel);
    const Problem last = late.draw_freely(2);
    CHECK(last == script.asked.back());
    CHECK(script.asked.size() == edges + enough + 256);
}

TEST_CASE("a draw where no smallest problem is known either is an error") {
    const KernelDeclaration kernel = scripted_kernel();
    script = {.asked = {}, .turns = {0, edges, enough, 1'000'000}};
    const ProblemGenerator generator = generator_for(kernel);
    REQUIRE(generator.why_none() == "");
    REQUIRE(generator.edge_problems().empty());
    CHECK_THROWS_AS(generator.draw_freely(1), std::runtime_error);
}
