// SPDX-License-Identifier: Apache-2.0
// The rule that is told is the one that was planted. Predicates stand for kernels.
#include "properties/explaining/explain.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "harness/base/random.hpp"
#include "harness/testing/made_operator.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

struct Told {
    Generality generality;
    std::int64_t runs = 0;
    std::vector<Problem> problems;  ///< that were run
};

Outcome wrong_value_if(bool is_wrong) {
    Outcome outcome = failed_if(is_wrong);
    if (is_wrong) outcome.worst = {{.tensor = "dw", .index = {0}, .got = 1.0, .want = 2.0}};
    return outcome;
}

Told told(const Problem& smallest, const CaseRunner& runner,
          const RunBudget& budget = generalize_budget, const TestKernel& kernel = any_kernel()) {
    Told told;
    const CaseRunner noting = [&](const Case& candidate) {
        if (told.problems.empty() || !(told.problems.back() == candidate.problem))
            told.problems.push_back(candidate.problem);
        return runner(candidate);
    };
    const Case found = case_on(kernel, smallest);
    ShrinkTrials trials(found, Outcome::failed("first"), noting);
    ProblemTrials problems(kernel.kernel, found, trials);
    told.generality = generalize(kernel.supported(), smallest, problems, trials, budget);
    told.runs = trials.runs();
    return told;
}

std::string text_of(const Problem& smallest, const Fails& fails,
                    const TestKernel& kernel = any_kernel()) {
    return told(smallest, failing_where(fails), generalize_budget, kernel).generality.text;
}

const TestAxis h(const Problem& p) { return TestAxis(p, 0); }
const TestAxis w(const Problem& p) { return TestAxis(p, 1); }

}  // namespace

TEST_CASE("the rule is what was planted, and the others don't matter") {
    struct Planted {
        const char* smallest;
        std::string where, idle;
        Fails fails;
    };
    const std::string all_others = "groups, in, filter, stride, dilation and padding";
    std::vector<Planted> planted{
        {"k=2,in=1x1", "wherever k >= 2", "n, c, " + all_others,
         [](const Problem& p) { return p.scalar("k") >= 2; }},
        {"in=1x1", "everywhere", "n, c, k, " + all_others, [](const Problem&) { return true; }},
        {"c=2,k=2,groups=2,in=1x1", "wherever groups >= 2",
         "n, c, k, in, filter, stride, dilation and padding",
         [](const Problem& p) { return p.scalar("groups") >= 2; }},
        {"in=1x2", "wherever in_h != in_w", "n, c, k, groups, filter, stride, dilation and padding",
         [](const Problem& p) { return h(p).in != w(p).in; }},
        {"in=1x2,stride=1x2", "wherever in_w is even and stride_w >= 2",
         "n, c, k, groups, in_h, filter, stride_h, dilation and padding",
         [](const Problem& p) { return w(p).in % 2 == 0 && w(p).stride >= 2; }},
        {"c=5,in=1x1", "wherever c >= 5 and c mod 4 = 1", "n, k, " + all_others,
         [](const Problem& p) { return p.scalar("c") >= 5 && p.scalar("c") % 4 == 1; }},
        {"in=6x7", "wherever in_h * in_w >= 41",
         "n, c, k, groups, filter, stride, dilation and padding",
         [](const Problem& p) { return h(p).in * w(p).in >= 41; }},
        {"in=1x1", "wherever k <= 40", "n, c, " + all_others,
         [](const Problem& p) { return p.scalar("k") <= 40; }},
        {"k=3,in=1x1", "wherever k = 3", "n, c, " + all_others,
         [](const Problem& p) { return p.scalar("k") == 3; }},
        {"c=3,in=1x1,dilation=2x1", "wherever c >= 3 and dilation_h >= 2, or wherever n >= 5",
         "k, groups, in, filter, stride, dilation_w and padding",
         [](const Problem& p) {
             return p.scalar("n") >= 5 || (p.scalar("c") >= 3 && h(p).dilation >= 2);
         }},
        {"in=1x1", "wherever c <= 31, or wherever k <= 31", "n, " + all_others,
         [](const Problem& p) { return p.scalar("c") < 32 || p.scalar("k") < 32; }},
        {"in=1x1,padding=0x1", "wherever padding_h != padding_w",
         "n, c, k, groups, in, filter, stride and dilation",
         [](const Problem& p) { return h(p).left != w(p).left; }},
        {"in=2x1,padding=0x1", "wherever y.size(2) >= 2 and padding_h != padding_w",
         "n, c, k, groups, in_w, filter_w, stride_w and dilation_w",
         [](const Problem& p) { return h(p).left != w(p).left && h(p).out() >= 2; }},
        // Sizes of outputs are spoken of too, and what they depend on is not called idle.
        {"in=1x2,dilation=1x2", "wherever dilation_w >= 2 and y.size(3) >= 2",
         "n, c, k, groups, in_h, filter_h, stride_h, dilation_h and padding_h",
         [](const Problem& p) { return w(p).dilation >= 2 && w(p).out() >= 2; }},
        // Whole tiles pass, and nothing else does.
        {"in=1x1",
         "everywhere but where n is a multiple of 8 and c is a multiple of 8 and k is a multiple "
         "of 8",
         all_others,
         [](const Problem& p) {
             return p.scalar("n") % 8 != 0 || p.scalar("c") % 8 != 0 || p.scalar("k") % 8 != 0;
         }},
        {"in=1x1", "everywhere but where in_h is a multiple of 8 and in_w is a multiple of 8",
         "n, c, k, groups, filter, stride, dilation and padding",
         [](const Problem& p) { return h(p).in % 8 != 0 || w(p).in % 8 != 0; }},
        {"in=1x1", "everywhere but where k is a multiple of 16 and in_w is a multiple of 4",
         "n, c, groups, in_h, filter, stride, dilation and padding",
         [](const Problem& p) { return p.scalar("k") % 16 != 0 || w(p).in % 4 != 0; }}};
    for (const std::int64_t tile : {4, 8, 16, 32, 64}) {
        const std::string multiple = " is a multiple of " + std::to_string(tile);
        planted.push_back({"in=1x1", "everywhere but where n" + multiple + " and k" + multiple,
                           "c, " + all_others, [tile](const Problem& p) {
                               return p.scalar("n") % tile != 0 || p.scalar("k") % tile != 0;
                           }});
    }
    for (const Planted& one : planted) {
        CAPTURE(std::string(one.smallest));
        const Told all = told(parsed(one.smallest), failing_where(one.fails));
        CHECK(all.generality.text == "fails " + one.where + "; " + one.idle + " don't matter");
        CHECK(all.generality.is_rule);
        CHECK(all.generality.problems > 100);
        CHECK(all.runs < 800);
    }
}

TEST_CASE("where no rule fits, it is told what was seen, one parameter at a time") {
    const std::set<std::int64_t> odd_ones{2, 3, 5, 7, 17, 31};
    const Told all = told(parsed("k=2,in=1x1"), failing_where([&](const Problem& p) {
                              return odd_ones.contains(p.scalar("k")) && w(p).dilation == 1;
                          }));
    CHECK_FALSE(all.generality.is_rule);
    CHECK(all.generality.text ==
          "no simple rule fits; with one parameter changed it fails where k is 2, 3, 5, 7, 17, 31 "
          "but not 1, 4, 6, 8, 9, 15, 16, 32, 33, 64, 65, 128, 256, 257, where dilation_w = 1; n, "
          "c, in, stride, dilation_h and padding alone don't matter");
}

TEST_CASE("what a constraint forbids is neither run nor told") {
    const TestKernel kernel(plain_kernel().where("c", multiple_of(4)));
    const auto fails = [](const Problem& p) { return p.scalar("c") >= 8 && h(p).filter >= 2; };
    const Told all =
        told(parsed("c=8,in=2x2,filter=2x2"), failing_where(fails), generalize_budget, kernel);
    const SupportedProblems supported = kernel.supported();
    for (const Problem& problem : all.problems) CHECK(supported.contains(problem));
    CHECK(all.generality.text == "fails wherever c >= 8 and filter >= 2; n, k and in don't matter");
}

TEST_CASE("where right zeros are all that a parameter gives, it is not said not to matter") {
    const auto text_of = [](bool is_by_value) {
        const CaseRunner runner = [=](const Case& candidate) {
            const Problem& p = candidate.problem;
            // By no rule, and zeros alone where n is large.
            if (p.scalar("n") >= 32) return Outcome{};
            const bool fails = std::set<std::int64_t>{2, 3, 5, 7, 17}.contains(p.scalar("k"));
            return is_by_value ? wrong_value_if(fails) : failed_if(fails);
        };
        return told(parsed("k=2,in=1x1"), runner).generality.text;
    };
    for (const bool is_by_value : {false, true}) {
        CAPTURE(text_of(is_by_value));
        CHECK(text_of(is_by_value).find("where n <= ") != std::string::npos);
    }
}

TEST_CASE("problems that say nothing are not counted; on zeros that are right no kernel fails") {
    const CaseRunner runner = [](const Case& candidate) {
        const Problem& p = candidate.problem;
        if (p.scalar("n") > 1) return Outcome::skipped("no forward");
        if (p.scalar("c") > 1) return Outcome::errored("no memory");
        if (w(p).in > 1) return Outcome{};
        return wrong_value_if(p.scalar("k") >= 2);
    };
    const Told all = told(parsed("k=2,in=1x1"), runner, {.runs = 10'000, .seconds = 20.0});
    CHECK(all.generality.is_rule);
    CHECK(all.generality.text ==
          "fails wherever k >= 2 and in_w = 1; in_h, filter, stride, dilation and padding don't "
          "matter");
    std::set<std::string> informative;
    for (const Problem& p : all.problems)
        if (p.scalar("n") <= 1 && p.scalar("c") <= 1 && w(p).in <= 1) informative.insert(p.print());
    CHECK(all.generality.problems == std::ssize(informative));
}

TEST_CASE("where zeros that are right make a rule long, they are its exception") {
    const CaseRunner runner = [](const Case& candidate) {
        const Problem& p = candidate.problem;
        if (w(p).in > 1 && h(p).stride > 1 && p.scalar("n") > 2) return Outcome{};
        return wrong_value_if(p.scalar("k") >= 2);
    };
    const std::string text =
        told(parsed("k=2,in=1x1"), runner, {.runs = 10'000, .seconds = 20.0}).generality.text;
    CAPTURE(text);
    CHECK(text.starts_with("fails wherever k >= 2, unless zeros alone are wanted; "));
}

TEST_CASE("a budget that ends early leaves what was seen until then, and no rule") {
    const auto fails = failing_where([](const Problem& p) { return p.scalar("k") >= 2; });
    const Told few = told(parsed("k=2,in=1x1"), fails, {.runs = 40, .seconds = 9.0});
    CHECK_FALSE(few.generality.is_rule);
    CHECK(few.runs < 45);
    CHECK(few.generality.text.starts_with(
        "no rule was found in the 40 runs for it; with one parameter changed "
        "it fails where k >= 2; n, c, "));
    const Told none = told(parsed("k=2,in=1x1"), fails, {.runs = 0, .seconds = 9.0});
    CHECK(none.generality.text == "nothing else could be run");
    CHECK(none.generality.problems == 1);
}

TEST_CASE("no problem is run that costs far more than the smallest") {
    const auto fails = failing_where([](const Problem&) { return true; });
    for (const Problem& problem : told(parsed("in=1x1"), fails).problems)
        CHECK(products(problem) <= 0x1p16);
    // One that is larger itself is still varied downwards.
    const Problem large = parsed("n=2,c=16,k=16,in=64x64,filter=3x3");
    const Told varied = told(large, fails);
    CHECK(varied.generality.problems > 40);
    for (const Problem& problem : varied.problems)
        CHECK(products(problem) <= 4.0 * products(large));
}

TEST_CASE("what is dear and fails from some size on is told, as larger ones are run too") {
    const auto fails = [](const Problem& p) { return p.scalar("k") >= 100'000; };
    CHECK(text_of(parsed("k=100000,in=1x1"), fails, TestKernel(plain_kernel()))
              .starts_with("fails wherever k >= 100000; "));
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
    const TestKernel kernel(test_kernel(), op);
    const auto text = [&](const std::string& smallest, const Fails& fails) {
        return text_of(Problem::parse(op.space, smallest), fails, kernel);
    };
    const auto is = [](const Problem& p, double value) { return p.real("momentum") == value; };
    const std::string others =
        "; n, c, k, groups, in, filter, stride, dilation and padding don't matter";
    for (const auto& [value, printed] : {std::pair{0.1, std::string("0.1")}, {0.9, "0.9"}})
        CHECK(text("in=1x1,momentum=" + printed, [&](const Problem& p) { return is(p, value); }) ==
              "fails wherever momentum = " + printed + others);
    CHECK(text("in=1x1,momentum=0.1", [&](const Problem& p) { return !is(p, 0.5); }) ==
          "fails wherever momentum != 0.5" + others);
    const std::string odd = text("k=2,in=1x1,momentum=0.9", [&](const Problem& p) {
        const std::int64_t k = p.scalar("k");
        return (k == 2 || k == 5 || k == 7 || k == 31) && is(p, 0.9) && w(p).dilation == 1;
    });
    CAPTURE(odd);
    CHECK(odd.find("where momentum = 0.9") != std::string::npos);
}

TEST_CASE("a flag is told by its value, and is no size to be compared with others") {
    Operator op = make_test_operator();
    std::vector<ParameterSpec> specs(op.space.parameters().begin(), op.space.parameters().end());
    for (const char* flag : {"padded", "aligned"})
        specs.push_back({.name = flag, .default_value = 0, .minimum = 0, .maximum = 1});
    op.space = ParameterSpace(specs, 2, 2);
    const TestKernel kernel(test_kernel(), op);
    const auto text = [&](const char* smallest, const Fails& fails) {
        return text_of(Problem::parse(op.space, smallest), fails, kernel);
    };
    const auto is = [](const Problem& p, const char* flag) { return p.scalar(flag) == 1; };
    CHECK(text("in=1x1,padded=1", [&](const Problem& p) {
              return is(p, "padded");
          }).starts_with("fails wherever padded = 1; n, c, k, groups, in, filter"));
    // What is constant where nothing but the flags is left passes.
    const std::string rule = text("in=1x1,padded=1", [&](const Problem& p) {
        const bool is_constant = h(p).in == 1 && w(p).in == 1 && is(p, "aligned");
        return is(p, "padded") && !is_constant;
    });
    CAPTURE(rule);
    CHECK(rule.find("padded is") == std::string::npos);
    CHECK(rule.find("padded = 1") != std::string::npos);
    CHECK(rule.find("<= aligned") == std::string::npos);
}

TEST_CASE("where data decide, a rule is told that withstood, and none that chance has made") {
    const auto told_where = [](const std::function<bool(const Case&)>& fails) {
        Case found = case_on(any_kernel(), parsed("k=2,in=1x1"));
        found.data = {.is_explicit = true, .elements = {{"x", 0, 1.0}}};
        const CaseRunner runner = [&](const Case& candidate) {
            return failed_if(fails(candidate));
        };
        ShrinkTrials trials(found, Outcome::failed("first"), runner);
        ProblemTrials problems(any_kernel().kernel, found, trials);
        problems.carry_data();
        return generalize(any_kernel().supported(), found.problem, problems, trials,
                          generalize_budget, {.compared = 3, .failing = 1});
    };
    const auto by_chance = [](const Case& c, std::uint64_t one_in) {
        return SplitMix64(mix_seed(c.data.seed, c.problem.print())).one_in(one_in);
    };
    const std::string draws = "1 of 3 draws fails at the smallest problem";
    const Generality carried = told_where([&](const Case& c) {
        return c.problem.scalar("k") >= 2 && (c.data.is_explicit || by_chance(c, 3));
    });
    CHECK(carried.text == "fails wherever k >= 2; data decide there: " + draws +
                              "; n, c, groups, in, filter, stride, dilation and padding don't "
                              "matter");
    for (const std::uint64_t one_in : {3, 30}) {
        const Generality chance = told_where([&](const Case& c) {
            return c.problem == parsed("k=2,in=1x1") || (c.data.is_dense && by_chance(c, one_in));
        });
        CAPTURE(chance.text);
        CHECK(chance.text.starts_with("no rule of sizes fits, as data decide: " + draws));
        CHECK(chance.text.find(" but not ") == std::string::npos);
        CHECK(chance.text.find(" is odd") == std::string::npos);
        CHECK_FALSE(chance.is_rule);
    }
    // A limit that many values show is no chance.
    const Generality limited = told_where([&](const Case& c) {
        return c.problem.scalar("k") >= 2 && (c.problem.scalar("n") == 1 || by_chance(c, 4));
    });
    CHECK(limited.text.find("with one parameter changed it fails where k >= 2") !=
          std::string::npos);
}

TEST_CASE("the same failure is told in the same words") {
    const auto fails = failing_where([](const Problem& p) { return p.scalar("k") * 3 > 7; });
    const Told one = told(parsed("k=3,in=1x1"), fails), other = told(parsed("k=3,in=1x1"), fails);
    CHECK(one.generality.text == other.generality.text);
    CHECK(one.generality.problems == other.generality.problems);
    CHECK(one.problems == other.problems);
}

TEST_CASE("a rule is of one kind of failure, and tells how often another was met") {
    Outcome wrong = Outcome::failed("wrong");
    wrong.worst = {{.tensor = "dw", .index = {0}, .got = 1.0, .want = 2.0}};
    const CaseRunner runner = [&](const Case& candidate) {
        return candidate.problem.scalar("k") >= 4 ? Outcome::failed("a.cu:1: read past the end")
                                                  : wrong;
    };
    const Case found = case_on(any_kernel(), parsed("in=1x1"));
    ShrinkTrials trials(found, wrong, runner, fails_likewise);
    ProblemTrials problems(any_kernel().kernel, found, trials);
    const std::string text =
        generalize(any_kernel().supported(), found.problem, problems, trials).text;
    CAPTURE(text);
    CHECK(text.starts_with("fails so wherever k <= 3, and in another way at "));
}

TEST_CASE(
    "that data decide is also seen at larger problems than the smallest, where all may fail") {
    // A sample beside the first is right with most data.
    const std::string text = text_of(parsed("in=1x1"), [](const Problem&) { return true; });
    CHECK(text.starts_with("fails everywhere; n, "));
    const Told mixed = told(parsed("in=1x1"), [](const Case& c) {
        return failed_if(c.problem.scalar("n") == 1 || c.data.seed % 2 == 1);
    });
    CAPTURE(mixed.generality.text);
    CHECK(mixed.generality.text.find("data decide there: 2 of 3 draws fail at ") !=
          std::string::npos);
    // What passes with the first draws may fail with others.
    const Told later = told(parsed("k=2,in=1x1"), [](const Case& c) {
        const std::uint64_t seed = c.data.seed;
        return failed_if(c.problem.scalar("k") == 1   ? seed == 5
                         : c.problem.scalar("k") == 2 ? true
                                                      : seed % 2 == 1);
    });
    CAPTURE(later.generality.text);
    CHECK_FALSE(later.generality.is_rule);
}
