// SPDX-License-Identifier: Apache-2.0
// A problem is run once with every dense draw, and the verdicts are remembered.
#include "properties/shrinking/trials.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "properties/data/dense.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

struct Trials {
    std::vector<Case> runs;
    std::function<Outcome(const Case&)> outcome;
    CaseRunner runner = [this](const Case& candidate) {
        runs.push_back(candidate);
        return outcome(candidate);
    };
    ShrinkTrials trials;
    ProblemTrials problems;

    Trials(const Case& found, std::function<Outcome(const Case&)> outcome_of)
        : outcome(std::move(outcome_of)),
          trials(found, Outcome::failed("first"), runner),
          problems(any_kernel().kernel, found, trials) {}

    std::vector<Case> dense(std::string_view problem) const {
        return dense_cases(any_kernel().kernel, "matches_reference", "cpu", parsed(problem));
    }
};

Case found_at(std::string_view problem) {
    Case found = case_on(any_kernel(), parsed(problem), 77);
    found.setting = {.order = ThreadOrder::random_threads, .order_seed = 5};
    return found;
}

Outcome passed(const Case&) { return Outcome::passed(); }

}  // namespace

TEST_CASE("a failure that dense cases show is looked for with dense cases alone") {
    Trials trials(found_at("n=3,in=1x1"), [](const Case& candidate) {
        return failed_if(candidate.problem.scalar("n") >= 2 &&
                         candidate.setting.order == ThreadOrder::descending);
    });
    CHECK(trials.problems.is_canonical());
    CHECK(trials.problems.runs_per_problem() == 3);
    // The first draw passes, the second one fails, and the third one is not run.
    std::vector<Case> expected = trials.dense("n=3,in=1x1");
    expected.pop_back();
    CHECK(trials.runs == expected);
    CHECK(trials.trials.smallest() == expected.back());
    CHECK(trials.problems.known(parsed("n=3,in=1x1")) == true);

    trials.runs.clear();
    CHECK_FALSE(trials.problems.fails(parsed("in=1x1")));
    CHECK(trials.runs == trials.dense("in=1x1"));
    CHECK(trials.problems.known(parsed("in=1x1")) == false);
    // What is known is not run again.
    for (const char* known : {"n=2,in=1x1", "n=2,in=1x1", "n=3,in=1x1"})
        CHECK(trials.problems.fails(parsed(known)));
    CHECK(trials.runs.size() == 3 + 2);
    CHECK(trials.problems.shown(parsed("n=2,in=1x1")) == true);
    CHECK_FALSE(trials.problems.known(parsed("n=5,in=1x1")).has_value());
    CHECK_FALSE(trials.problems.shown(parsed("n=5,in=1x1")).has_value());
    CHECK(trials.problems.is_clean_below(parsed("n=9,in=1x1")));
}

TEST_CASE("a failure that dense cases do not show is looked for as it was found, then dense") {
    const Case found = found_at("n=3,in=1x1");
    Trials trials(found, passed);
    CHECK_FALSE(trials.problems.is_canonical());
    CHECK(trials.problems.runs_per_problem() == 5);
    CHECK(trials.runs == trials.dense("n=3,in=1x1"));
    trials.runs.clear();
    CHECK_FALSE(trials.problems.fails(parsed("in=1x1")));
    std::vector<Case> expected = trials.dense("in=1x1");
    Case as_found = found;
    as_found.problem = parsed("in=1x1");
    as_found.data = expected.front().data;
    expected.insert(expected.begin(), as_found);
    as_found.data = found.data;
    expected.insert(expected.begin(), as_found);
    CHECK(trials.runs == expected);

    // Each of the first two that fails says that the problem does.
    const auto fails_on = [&](const std::function<bool(const Case&)>& fails) {
        Trials one(found, [&](const Case& candidate) { return failed_if(fails(candidate)); });
        one.runs.clear();
        CHECK(one.problems.fails(parsed("in=1x1")));
        CHECK(one.problems.known(parsed("in=1x1")) == true);
        return one.runs.size();
    };
    CHECK(fails_on([](const Case& c) { return c.data.seed == 77; }) == 1);
    CHECK(fails_on([](const Case& c) { return c.setting.order_seed == 5 && c.data.is_dense; }) ==
          2);
}

TEST_CASE(
    "the found call before is made on other problems too, and explicit data where there is room") {
    Case found = found_at("n=3,in=1x1");
    found.data = {.is_explicit = true, .elements = {{"x", 2, 1.0}}};
    found.setting.before = parsed("in=1x2");
    Trials trials(found, passed);
    CHECK(trials.runs.size() == 3);
    CHECK_FALSE(trials.problems.fails(parsed("in=1x1")));
    CHECK(trials.runs.size() == 8);
    CHECK(trials.runs[3].data == Data{.is_explicit = true, .elements = {{"x", 0, 1.0}}});
    for (const Case& run : trials.runs) CHECK(run.setting.before == parsed("in=1x2"));
}

TEST_CASE("where the call before had the case's own value of a parameter it has that still") {
    const std::pair<const char*, const char*> befores[] = {
        {"n=3,in=2x2", "n=1,in=1x2"},
        {"n=3,in=2x2,stride=2x1", "n=1,in=1x2,stride=2x1"},
        {"n=2,in=2x2", "n=2,in=1x2"}};
    for (const auto& [before, after] : befores) {
        Case found = found_at("n=3,in=2x2");
        found.setting.before = parsed(before);
        CHECK(before_on(any_kernel().kernel, found, parsed("in=1x2")) == parsed(after));
    }
}

TEST_CASE(
    "the found case's data are tried beside dense data that fail, if they are to be carried") {
    Case found = found_at("n=3,in=1x1");
    found.data = {.is_explicit = true, .elements = {{"x", 2, 1.0}}};
    for (const bool carries : {false, true}) {
        std::vector<Data> run;
        const CaseRunner runner = [&](const Case& candidate) {
            run.push_back(candidate.data);
            return failed_if(candidate.problem.scalar("n") == 3 || candidate.data.is_explicit);
        };
        ShrinkTrials trials(found, Outcome::failed("first"), runner);
        ProblemTrials problems(any_kernel().kernel, found, trials);
        if (carries) problems.carry_data();
        CHECK(problems.is_canonical());
        CHECK(problems.runs_per_problem() == (carries ? 4 : 3));
        CHECK(problems.fails(parsed("in=1x1")) == carries);
        CHECK(run.back().is_explicit == carries);
    }
}

TEST_CASE("what a problem's runs came to is known: errors first, and nothing where none compared") {
    const auto shown_after = [](Outcome first, Outcome later) {
        Trials trials(found_at("n=3,in=1x1"), [=](const Case& candidate) {
            if (candidate.problem.scalar("n") == 3) return Outcome::failed("wrong");
            return candidate.setting.order == ThreadOrder::ascending ? first : later;
        });
        CHECK_FALSE(trials.problems.fails(parsed("in=1x1")));
        const auto known = trials.problems.known(parsed("in=1x1"));
        const auto shown = trials.problems.shown(parsed("in=1x1"));
        // One that is not smaller doesn't matter.
        CHECK(trials.problems.is_clean_below(parsed("n=3,in=1x1")) == known.has_value());
        CHECK(trials.problems.is_clean_below(parsed("in=1x1")));
        return std::pair(known, shown);
    };
    using Known = std::optional<bool>;
    const Outcome errored = Outcome::errored("lost"), vacuous{}, skipped = Outcome::skipped("no");
    CHECK(shown_after(Outcome::passed(), vacuous) == std::pair(Known(false), Known(false)));
    CHECK(shown_after(vacuous, Outcome::passed()) == std::pair(Known(false), Known(false)));
    CHECK(shown_after(vacuous, skipped) == std::pair(Known(false), Known()));
    CHECK(shown_after(errored, Outcome::passed()) == std::pair(Known(), Known()));
    CHECK(shown_after(Outcome::passed(), errored) == std::pair(Known(), Known()));
}

TEST_CASE("zeros that are wanted and given, and other failures, are no failures of this kind") {
    Outcome wrong = Outcome::failed("wrong");
    wrong.worst = {{.tensor = "dw", .index = {0}, .got = 1.0, .want = 2.0}};
    const auto likewise_after = [&](const Outcome& there) {
        const Problem problem = parsed("in=1x1");
        const Case found = found_at("n=3,in=1x1");
        const CaseRunner runner = [&](const Case& candidate) {
            return candidate.problem.scalar("n") == 3 ? wrong : there;
        };
        ShrinkTrials trials(found, wrong, runner, fails_likewise);
        ProblemTrials problems(any_kernel().kernel, found, trials);
        problems.fails(problem);
        CHECK(problems.wants_zeros(problem) == (there.verdict == Verdict::vacuous));
        return std::pair(problems.fails_likewise(problem), problems.fails_otherwise(problem));
    };
    using Known = std::optional<bool>;
    const auto wrong_in = [](const char* tensor, double got) {
        Outcome outcome = Outcome::failed("wrong");
        outcome.worst = {{.tensor = tensor, .index = {0}, .got = got, .want = 2.0}};
        return outcome;
    };
    for (const char* same : {"dw", "<dw, v>", "<dy, dw>"})
        CHECK(likewise_after(wrong_in(same, 7.0)) == std::pair(Known(true), false));
    for (const Outcome& other : {wrong_in("db", 7.0), wrong_in("<db, v>", 7.0), wrong_in("dw", NAN),
                                 Outcome::failed("a.cu:1: read past the end of dy")})
        CHECK(likewise_after(other) == std::pair(Known(false), true));
    CHECK(likewise_after(Outcome{}) == std::pair(Known(), false));
    for (const Outcome& none : {Outcome::skipped("no"), Outcome::errored("lost")})
        CHECK(likewise_after(none) == std::pair(Known(), false));
    // What can't be launched can't, whatever values it is to give.
    wrong.worst.clear();
    CHECK(likewise_after(Outcome{}) == std::pair(Known(false), false));
    CHECK(likewise_after(Outcome::skipped("no")) == std::pair(Known(), false));
}

TEST_CASE(
    "draws of a problem are run in the setting of the found case, each once, also later ones") {
    Trials trials(found_at("n=3,in=1x1"), [](const Case& candidate) {
        return failed_if(candidate.problem.scalar("n") == 3 && candidate.data.seed % 2 == 1);
    });
    trials.trials.start({.runs = 100, .seconds = 1e6});
    trials.runs.clear();
    const DrawsThere first = trials.problems.draws_at(parsed("n=3,in=1x1"));
    CHECK(first.run == 3);
    CHECK(first.failing == 2);
    CHECK(first.differ());
    CHECK(trials.problems.draws_at(parsed("n=3,in=1x1"), first.run).failing == 1);
    for (std::size_t i = 0; i < trials.runs.size(); ++i) {
        CHECK(trials.runs[i].data.seed == i + 1);
        CHECK(trials.runs[i].setting == found_at("n=3,in=1x1").setting);
    }
}
