// SPDX-License-Identifier: Apache-2.0
// That what is said of a failure in general is what was planted, from the problems that are run
// alone. Kernels are stood for by predicates that say where they fail.
#include "properties/explaining/generalize.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "harness/testing/operator.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

struct Told {
    Generality generality;
    std::int64_t runs = 0;
    std::vector<Problem> problems;  ///< that were run
};

Told told(const TestKernel& kernel, const Problem& smallest, const CaseRunner& runner,
          const GeneralizeOptions& options = {}) {
    Told told;
    const CaseRunner noting = [&](const Case& candidate) {
        if (told.problems.empty() || !(told.problems.back() == candidate.problem))
            told.problems.push_back(candidate.problem);
        return runner(candidate);
    };
    const Case found = case_on(kernel, smallest);
    ShrinkTrials trials(found, Outcome::failed("first"), noting);
    ProblemTrials problems(kernel.kernel, found, trials);
    const SupportedProblems supported(*kernel.kernel.op, *kernel.kernel.pass, kernel.declaration);
    told.generality = generalize(supported, found.problem, problems, trials, options);
    told.runs = trials.runs();
    return told;
}

Told told(const TestKernel& kernel, const char* smallest, const CaseRunner& runner,
          const GeneralizeOptions& options = {}) {
    return told(kernel, parsed(smallest), runner, options);
}

const TestAxis h(const Problem& p) { return TestAxis(p, 0); }
const TestAxis w(const Problem& p) { return TestAxis(p, 1); }

}  // namespace

TEST_CASE("the rule is what was planted, and the others don't matter") {
    struct Planted {
        const char* smallest;
        const char* rule;
        Fails fails;
    };
    const std::vector<Planted> planted{
        {"k=2,in=1x1",
         "fails wherever k >= 2; n, c, groups, in, filter, stride, dilation and padding don't "
         "matter",
         [](const Problem& p) { return p.scalar("k") >= 2; }},
        {"in=1x1",
         "fails everywhere; n, c, k, groups, in, filter, stride, dilation and padding don't matter",
         [](const Problem&) { return true; }},
        {"c=2,k=2,groups=2,in=1x1",
         "fails wherever groups >= 2; n, c, k, in, filter, stride, dilation and padding don't "
         "matter",
         [](const Problem& p) { return p.scalar("groups") >= 2; }},
        {"in=1x2",
         "fails wherever in_h != in_w; n, c, k, groups, filter, stride, dilation and padding don't "
         "matter",
         [](const Problem& p) { return h(p).in != w(p).in; }},
        {"in=1x2,stride=1x2",
         "fails wherever in_w is even and stride_w >= 2; n, c, k, groups, in_h, filter, stride_h, "
         "dilation and padding don't matter",
         [](const Problem& p) { return w(p).in % 2 == 0 && w(p).stride >= 2; }},
        {"c=5,in=1x1",
         "fails wherever c >= 5 and c mod 4 = 1; n, k, groups, in, filter, stride, dilation and "
         "padding don't matter",
         [](const Problem& p) { return p.scalar("c") >= 5 && p.scalar("c") % 4 == 1; }},
        {"in=6x7",
         "fails wherever in_h * in_w >= 41; n, c, k, groups, filter, stride, dilation and padding "
         "don't matter",
         [](const Problem& p) { return h(p).in * w(p).in >= 41; }},
        {"in=1x1",
         "fails wherever k <= 40; n, c, groups, in, filter, stride, dilation and padding don't "
         "matter",
         [](const Problem& p) { return p.scalar("k") <= 40; }},
        {"k=3,in=1x1",
         "fails wherever k = 3; n, c, groups, in, filter, stride, dilation and padding don't "
         "matter",
         [](const Problem& p) { return p.scalar("k") == 3; }},
        {"c=3,in=1x1,dilation=2x1",
         "fails wherever c >= 3 and dilation_h >= 2, or wherever n >= 5; k, groups, in, filter, "
         "stride, dilation_w and padding don't matter",
         [](const Problem& p) {
             return p.scalar("n") >= 5 || (p.scalar("c") >= 3 && h(p).dilation >= 2);
         }}};
    const TestKernel kernel(test_kernel());
    for (const Planted& one : planted) {
        CAPTURE(std::string(one.smallest));
        const Told all = told(kernel, one.smallest, failing_where(one.fails));
        CHECK(all.generality.text == one.rule);
        CHECK(all.generality.is_rule);
        CHECK(all.generality.problems > 100);
        CHECK(all.runs < 700);
    }
}

TEST_CASE("whole tiles that pass, where nothing else does, are found") {
    struct Tiled {
        std::string passes, idle;
        Fails fails;
    };
    std::vector<Tiled> all{
        {"n is a multiple of 8 and c is a multiple of 8 and k is a multiple of 8",
         "groups, in, filter, stride, dilation and padding",
         [](const Problem& p) {
             return p.scalar("n") % 8 != 0 || p.scalar("c") % 8 != 0 || p.scalar("k") % 8 != 0;
         }},
        {"in_h is a multiple of 8 and in_w is a multiple of 8",
         "n, c, k, groups, filter, stride, dilation and padding",
         [](const Problem& p) { return h(p).in % 8 != 0 || w(p).in % 8 != 0; }},
        {"k is a multiple of 16 and in_w is a multiple of 4",
         "n, c, groups, in_h, filter, stride, dilation and padding",
         [](const Problem& p) { return p.scalar("k") % 16 != 0 || w(p).in % 4 != 0; }}};
    for (const std::int64_t tile : {4, 8, 16, 32, 64}) {
        const std::string multiple = " is a multiple of " + std::to_string(tile);
        all.push_back({"n" + multiple + " and k" + multiple,
                       "c, groups, in, filter, stride, dilation and padding",
                       [tile](const Problem& p) {
                           return p.scalar("n") % tile != 0 || p.scalar("k") % tile != 0;
                       }});
    }
    const TestKernel kernel(test_kernel());
    for (const Tiled& one : all) {
        const Told what = told(kernel, "in=1x1", failing_where(one.fails));
        CHECK(what.generality.text ==
              "fails everywhere but where " + one.passes + "; " + one.idle + " don't matter");
        CHECK(what.generality.is_rule);
        CHECK(what.runs < 700);
    }
}

TEST_CASE("the limits of both of two clauses are closed in on") {
    const TestKernel kernel(test_kernel());
    const auto small = [](const Problem& p) { return p.scalar("c") < 32 || p.scalar("k") < 32; };
    CHECK(
        told(kernel, "in=1x1", failing_where(small)).generality.text ==
        "fails wherever c <= 31, or wherever k <= 31; n, groups, in, filter, stride, dilation and "
        "padding don't matter");
}

TEST_CASE("a rule that explains a part of the failures says so") {
    const TestKernel kernel(test_kernel());
    // In terms of padding and stride the remainder is beyond any rule of parameters.
    const auto bottom = [](const Problem& p) {
        const TestAxis a(p, 0);
        return a.out() > 0 && (a.padded() - a.reach()) % a.stride < a.right;
    };
    const Generality told_of = told(kernel, "in=1x1,padding=1x0", failing_where(bottom)).generality;
    CHECK(told_of.is_rule);
    CHECK(told_of.text ==
          "fails wherever stride_h = 1 and padding_h >= 1, and in some other problems; n, c, k, "
          "groups, in, filter, stride_w, dilation and padding_w don't matter there");
}

TEST_CASE("sizes of outputs are spoken of too, and what they depend on is not called idle") {
    const TestKernel kernel(test_kernel());
    const auto dilated = [](const Problem& p) { return w(p).dilation >= 2 && w(p).out() >= 2; };
    CHECK(told(kernel, "in=1x2,dilation=1x2", failing_where(dilated)).generality.text ==
          "fails wherever dilation_w >= 2 and size 3 of y >= 2; n, c, k, groups, in_h, filter_h, "
          "stride_h, dilation_h and padding_h don't matter");
}

TEST_CASE("where no rule fits, it is told what was seen, one parameter at a time") {
    const TestKernel kernel(test_kernel());
    const auto is_odd_one = [](std::int64_t k) {
        return k == 2 || k == 3 || k == 5 || k == 7 || k == 17 || k == 31;
    };
    const Told all = told(kernel, "k=2,in=1x1", failing_where([&](const Problem& p) {
                              return is_odd_one(p.scalar("k")) && w(p).dilation == 1;
                          }));
    CHECK_FALSE(all.generality.is_rule);
    CHECK(all.generality.text ==
          "no simple rule fits; with one parameter changed it fails where k is 2, 3, 5, 7, 17, 31 "
          "but not 1, 4, 6, 8, 9, 15, 16, 32, 33, 64, 65, 128, 256, 257, where dilation_w = 1; n, "
          "c, in, stride, dilation_h and padding alone don't matter");
}

TEST_CASE("what a constraint forbids is neither run nor told") {
    const TestKernel kernel(plain_kernel().where("c", multiple_of(4)));
    const SupportedProblems supported(test_operator(), *kernel.kernel.pass, kernel.declaration);
    const Told all = told(kernel, "c=8,in=2x2,filter=2x2", failing_where([](const Problem& p) {
                              return p.scalar("c") >= 8 && h(p).filter >= 2;
                          }));
    for (const Problem& problem : all.problems) CHECK(supported.contains(problem));
    CHECK(all.generality.text == "fails wherever c >= 8 and filter >= 2; n, k and in don't matter");
}

TEST_CASE("problems that say nothing are not counted, and no rule is made of them") {
    const TestKernel kernel(test_kernel());
    const Told all = told(kernel, "k=2,in=1x1",
                          [](const Case& candidate) {
                              if (candidate.problem.scalar("n") > 1)
                                  return Outcome::skipped("no forward");
                              if (candidate.problem.scalar("c") > 1)
                                  return Outcome::errored("no memory");
                              if (w(candidate.problem).in > 1) return Outcome{};
                              return candidate.problem.scalar("k") >= 2 ? Outcome::failed("wrong")
                                                                        : Outcome::passed();
                          },
                          {.budget = {.runs = 10'000, .seconds = 20.0}});
    CHECK(all.generality.is_rule);
    CHECK(all.generality.text ==
          "fails wherever k >= 2; in_h, filter, stride, dilation and padding don't matter");
    std::int64_t informative = 0;
    std::vector<Problem> seen;
    for (const Problem& p : all.problems) {
        if (p.scalar("n") > 1 || p.scalar("c") > 1 || w(p).in > 1) continue;
        if (std::ranges::find(seen, p) != seen.end()) continue;
        seen.push_back(p);
        ++informative;
    }
    CHECK(all.generality.problems == informative);
}

TEST_CASE("a budget that ends early leaves what was seen until then, and no rule") {
    const TestKernel kernel(test_kernel());
    const auto fails = failing_where([](const Problem& p) { return p.scalar("k") >= 2; });
    const Told few = told(kernel, "k=2,in=1x1", fails, {.budget = {.runs = 40, .seconds = 9.0}});
    CHECK_FALSE(few.generality.is_rule);
    CHECK(few.runs < 45);
    CHECK(
        few.generality.text.starts_with("no rule was found in time; with one parameter changed "
                                        "it fails where k >= 2; n, c, "));
    const Told none = told(kernel, "k=2,in=1x1", fails, {.budget = {.runs = 0, .seconds = 9.0}});
    CHECK(none.generality.text == "nothing else could be run");
    CHECK(none.generality.problems == 1);
}

TEST_CASE("no problem is run that costs far more than the smallest") {
    const TestKernel kernel(test_kernel());
    const auto fails = failing_where([](const Problem&) { return true; });
    for (const Problem& problem : told(kernel, "in=1x1", fails).problems)
        CHECK(products(problem) <= 0x1p16);
    // One that is larger itself is still varied downwards.
    const Told large = told(kernel, "n=2,c=16,k=16,in=64x64,filter=3x3", fails);
    CHECK(large.generality.problems > 40);
    for (const Problem& problem : large.problems)
        CHECK(products(problem) <= 4.0 * products(parsed("n=2,c=16,k=16,in=64x64,filter=3x3")));
}

TEST_CASE("what is dear and fails from some size on is told, as larger ones are run too") {
    const TestKernel kernel(plain_kernel());
    const auto fails = failing_where([](const Problem& p) { return p.scalar("k") >= 100'000; });
    const Told all = told(kernel, "k=100000,in=1x1", fails);
    CHECK(all.generality.text.starts_with("fails wherever k >= 100000; "));
}

TEST_CASE("an attribute is told by its value, which is one of some and in no order") {
    Operator op = make_test_operator();
    std::vector<ParameterSpec> specs(op.space.parameters().begin(), op.space.parameters().end());
    specs.push_back({.name = "momentum",
                     .default_value = 0,
                     .minimum = 0,
                     .maximum = 2,
                     .values = {0.5, 0.1, 0.9}});
    op.space = ParameterSpace(specs, 2, 2);
    TestKernel kernel(test_kernel());
    kernel.kernel.op = &op;
    kernel.kernel.pass = op.find_pass("grad_weight");
    const auto text = [&](const char* smallest, const Fails& fails) {
        return told(kernel, Problem::parse(op.space, smallest), failing_where(fails))
            .generality.text;
    };
    const auto is = [](const Problem& p, double value) { return p.real("momentum") == value; };
    const std::string others =
        "; n, c, k, groups, in, filter, stride, dilation and padding don't matter";
    CHECK(text("in=1x1,momentum=0.1", [&](const Problem& p) { return is(p, 0.1); }) ==
          "fails wherever momentum = 0.1" + others);
    CHECK(text("in=1x1,momentum=0.9", [&](const Problem& p) { return is(p, 0.9); }) ==
          "fails wherever momentum = 0.9" + others);
    CHECK(text("in=1x1,momentum=0.1", [&](const Problem& p) { return !is(p, 0.5); }) ==
          "fails wherever momentum != 0.5" + others);
    const auto is_odd_one = [](std::int64_t k) { return k == 2 || k == 5 || k == 7 || k == 31; };
    const std::string odd = text("k=2,in=1x1,momentum=0.9", [&](const Problem& p) {
        return is_odd_one(p.scalar("k")) && is(p, 0.9) && w(p).dilation == 1;
    });
    CAPTURE(odd);
    CHECK(odd.find("where momentum = 0.9") != std::string::npos);
}

TEST_CASE("the same failure is told in the same words") {
    const TestKernel kernel(test_kernel());
    const auto fails = failing_where([](const Problem& p) { return p.scalar("k") * 3 > 7; });
    const Told one = told(kernel, "k=3,in=1x1", fails), other = told(kernel, "k=3,in=1x1", fails);
    CHECK(one.generality.text == other.generality.text);
    CHECK(one.generality.problems == other.generality.problems);
    CHECK(one.problems == other.problems);
}
