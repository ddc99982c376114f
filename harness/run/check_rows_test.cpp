// SPDX-License-Identifier: Apache-2.0
// How rows are served: a fake suite draws cases whose seed is their index, and a fake worker does
// what the property's name says; see testing/worker.cpp. Problems that are not drawn come last: the
// user's, and a property's own large ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "harness/base/interrupt.hpp"
#include "harness/base/text.hpp"
#include "harness/run/redraw.hpp"
#include "harness/testing/fake_rows.hpp"

using namespace gradverify;
using namespace gradverify::testing;

TEST_CASE("rows are served in turn, one case each first") {
    Bench bench;
    const auto results = bench.check({bench.row("pass"), bench.row("vacuous"), bench.row("echo")},
                                     {.cases = 4, .seed = 5});
    REQUIRE(bench.asked.size() == 12);
    for (std::size_t i = 0; i < 12; ++i) {
        CHECK(bench.asked[i].property == std::vector{"pass", "vacuous", "echo"}[i % 3]);
        CHECK(bench.asked[i].index == static_cast<std::int64_t>(i / 3));
        CHECK(bench.asked[i].seed == 5);
    }
    REQUIRE(results.size() == 3);
    for (const RowResult& result : results) CHECK(result.cases == 4);
    CHECK(results[1].row.property->name == "vacuous");
    CHECK(bench.done == 12);
    CHECK(bench.most == 12);
}

TEST_CASE("a row whose cases pass has passed, and keeps what they measured") {
    Bench bench;
    const RowResult result = bench.check_one("pass", {.cases = 3});
    CHECK(result.verdict == Verdict::passed);
    CHECK(result.cases == 3);
    CHECK(result.passed == 3);
    CHECK(result.message.empty());
    CHECK(result.error_over_bound.count() == 3);
    CHECK(result.error_over_bound.quantile(0.5) == 0.25);
    CHECK(result.multiply_adds.count() == 3);
    CHECK(result.seconds == 3 * 0x1p-10);
    CHECK_FALSE(result.failure);
}

TEST_CASE("cases that have failed before come first, on the row's device, in the first shard") {
    Bench bench;
    const Row row = bench.row("fail_from_3");
    const Problem problem = Problem::parse(row.kernel->op->space, "in=2");
    Case passes = case_on(row, problem, 1), fails = case_on(row, problem, 3);
    fails.device = "cuda";
    Case of_another = fails;
    of_another.property = "pass";
    CheckOptions options{.cases = 2, .known_cases = {passes, of_another, fails}};
    const RowResult failed = bench.check_one("fail_from_3", options);
    CHECK(failed.verdict == Verdict::failed);
    CHECK(failed.found_at == -1);
    REQUIRE(failed.failure);
    CHECK(failed.failure->smallest.problem == problem);
    CHECK(failed.failure->smallest.device == "cpu");
    options.known_cases = {passes};
    const RowResult passed = bench.check_one("fail_from_3", options);
    CHECK(passed.verdict == Verdict::passed);
    CHECK(passed.cases == 2);  // that it passes tells nothing of what was drawn
    CHECK_FALSE(passed.found_at);
    CHECK(bench.check_one("vacuous", {.cases = 2, .known_cases = {passes}}).cases == 2);
    Case stale = passes;
    stale.property = "error";
    const RowResult errs = bench.check_one("error", {.cases = 1, .known_cases = {stale}});
    CHECK(errs.left_out == std::vector{stale.print() + ": no memory"});
    options.known_cases = {fails};
    options.shard = {.index = 1, .count = 2};
    CHECK(bench.check_one("fail_from_3", options).verdict == Verdict::passed);
}

TEST_CASE("each case is told as it ends") {
    Bench bench;
    bench.check({bench.row("pass"), bench.row("skip")}, {.cases = 2});
    CHECK(bench.ended_cases == std::vector<std::string>{"pass 0 passed", "skip 0 skipped",
                                                        "pass 1 passed", "skip 1 skipped"});
}

TEST_CASE("a case with nothing to compare is run with other data, and is one case") {
    Bench bench;
    // The fake worker compares something where the seed is not the case's index.
    const RowResult result = bench.check_one("pass_if_redrawn", {.cases = 3});
    CHECK(result.verdict == Verdict::passed);
    CHECK(result.cases == 3);
    CHECK(result.passed == 3);
    CHECK(bench.asked.size() == 3);
    CHECK(bench.done == 3);
}

TEST_CASE("a case is drawn again where it had data to draw, and not for ever") {
    Bench bench;
    const Operator& op = *bench.row("vacuous").kernel->op;
    const Outcome nothing{.verdict = Verdict::vacuous};
    Case drawn = case_on(bench.row("vacuous"), Problem::parse(op.space, "in=3"), 7);
    CHECK(is_worth_redrawing(drawn, op, nothing, 0));
    CHECK_FALSE(is_worth_redrawing(drawn, op, Outcome::passed(), 0));
    CHECK_FALSE(is_worth_redrawing(drawn, op, nothing, 4));
    for (const Data& data : {Data{.is_dense = true}, Data{.is_explicit = true}}) {
        Case other = drawn;
        other.data = data;
        CHECK_FALSE(is_worth_redrawing(other, op, nothing, 0));
    }
    Case large = drawn;
    large.setting.copies = Copies{.along = "n", .count = 2};
    CHECK_FALSE(is_worth_redrawing(large, op, nothing, 0));

    CHECK(redrawn(drawn).data.seed != 7);
    drawn.setting.output_mask = 0;
    CHECK(redrawn(drawn).setting.output_mask == Setting::every_output);
}

TEST_CASE("refused problems are counted, and other reasons to skip are no refusal") {
    Bench bench;
    const RowResult refusing = bench.check_one("refuse_9_of_10", {.cases = 40});
    CHECK(refusing.verdict == Verdict::passed);
    CHECK(refusing.refused == 36);
    CHECK(refusing.passed == 4);
    const RowResult skipping = bench.check_one("skip_most", {.cases = 7});
    CHECK(said(skipping) == "skipped: too coarse");
    CHECK(skipping.cases == 7);
    CHECK(skipping.refused == 0);
}

TEST_CASE("an error ends a row and tells the case") {
    Bench bench;
    const RowResult result = bench.check_one("error", {.cases = 1000});
    CHECK(said(result) == "errored: no memory (v1:toy.forward/any:error:cpu:in=3:seed=0)");
    CHECK(result.cases < 20);
    CHECK_FALSE(result.failure);
}

TEST_CASE("a row that has no case to draw is an error that says why, and no other row is") {
    Bench bench;
    const auto results = bench.check(
        {bench.row("undrawable"), bench.row("throws"), bench.row("pass")}, {.cases = 2});
    CHECK(said(results[0]) == "errored: no problem is left");
    CHECK(results[0].cases == 0);
    CHECK(said(results[1]) == "errored: drawing a problem threw: no such size");
    CHECK(results[2].verdict == Verdict::passed);
    CHECK(bench.ended == std::vector<std::string>{"undrawable", "throws", "pass"});
}

TEST_CASE("a shrunk failure is explained, and an interruption costs the explanation alone") {
    Bench bench;
    bench.suite.on_explain = [](Shrunk& shrunk, const CaseRunner& runner) {
        CHECK(runner(shrunk.smallest).verdict == Verdict::failed);
        shrunk.witnesses = "the kernel stands alone";
    };
    const RowResult told = bench.check_one("fail", {.cases = 1000});
    REQUIRE(told.failure);
    CHECK(told.failure->witnesses == "the kernel stands alone");
    bench.suite.on_explain = [](Shrunk&, const CaseRunner&) { throw Interrupted(); };
    const RowResult cut = bench.check_one("fail", {.cases = 1000});
    REQUIRE(cut.failure);
    CHECK(cut.verdict == Verdict::failed);
    CHECK(cut.failure->smallest.print() == told.failure->smallest.print());
    CHECK(cut.failure->witnesses.empty());
}

TEST_CASE("rows that fail at one problem are one bug, which is explained once; late ones follow") {
    Bench bench;
    int explanations = 0;
    bench.suite.on_explain = [&](Shrunk& shrunk, const CaseRunner&) {
        shrunk.generality.text = "fails everywhere";
        ++explanations;
    };
    bench.check({bench.row("fail"), bench.row("pass"), bench.row("fail_at_1"),
                 bench.row("fail", "toy.forward/small")},
                {.cases = 200});
    std::ranges::sort(bench.bugs);  // the kernels' own order is the answers'
    CHECK(bench.bugs == std::vector<std::string>{"bug fail", "bug fail fail_at_1"});
    CHECK(explanations == 2);
    // Again where the first one told could not say which outputs are wrong.
    for (const bool first_knows : {false, true}) {
        Row first = bench.row("fail"), second = bench.row("fail_at_1");
        Property knows = first_knows ? *first.property : *second.property;
        knows.knows_outputs = true;
        (first_knows ? first : second).property = &knows;
        explanations = 0;
        bench.check({first, second}, {.cases = 200});
        CHECK(explanations == (first_knows ? 1 : 2));
    }
    Bench late;
    late.check({late.row("fail"), late.row("fail_at_900")}, {.cases = 1000});
    CHECK(late.bugs == std::vector<std::string>{"bug fail", "more fail_at_900"});
    const auto bugs_at_two_problems = [](const std::string& message) {
        Bench apart;
        apart.suite.on_shrink = [=](const Case& found, const Outcome&, const CaseRunner&) {
            Case smallest = found;
            if (found.property == "fail")
                smallest.problem = Problem::parse(found.problem.space(), "in=1");
            return Shrunk{{{Minimality::Kind::certified}}, smallest, Outcome::failed(message), 1};
        };
        apart.check({apart.row("fail"), apart.row("fail_at_1")}, {.cases = 200});
        return apart.bugs;
    };
    CHECK(bugs_at_two_problems("differs") == std::vector<std::string>{"bug fail", "bug fail_at_1"});
    CHECK(bugs_at_two_problems("k.cu:3: read past") ==
          std::vector<std::string>{"bug fail fail_at_1"});
}

TEST_CASE("a failure joins a bug by the problem of one of its rows or by the line of another") {
    const auto bugs_of = [](const std::vector<std::string>& properties) {
        Bench bench;
        bench.suite.on_shrink = [](const Case& found, const Outcome&, const CaseRunner&) {
            Case smallest = found;
            if (found.property == "fail" || found.property == "fail_at_1")
                smallest.problem = Problem::parse(found.problem.space(), "in=1");
            const char* message = found.property == "fail" ? "differs" : "k.cu:3: read past";
            return Shrunk{{{Minimality::Kind::certified}}, smallest, Outcome::failed(message), 1};
        };
        // It fails when the others are told, however many cases it has had by then.
        bench.suite.on_draw = [&](const Row& row, std::uint64_t, std::int64_t index) {
            if (row.property->name == "fail_at_40") index = bench.bugs.empty() ? 0 : 40;
            return drawn_on(row, "in=3", index);
        };
        std::vector<Row> rows;
        for (const std::string& property : properties) rows.push_back(bench.row(property));
        bench.check(rows, {.cases = 1'000'000});
        return joined(bench.bugs);
    };
    CHECK(bugs_of({"fail", "fail_at_1", "fail_from_3"}) == "bug fail fail_at_1 fail_from_3");
    // Also one that is told already, by the line of a row that is not its first.
    CHECK(bugs_of({"fail", "fail_at_1", "fail_at_40"}) == "bug fail fail_at_1, more fail_at_40");
}

TEST_CASE("once so many rows have failed no case begins, and the others keep what they have") {
    Bench bench;
    const std::vector<Row> rows{bench.row("fail_from_3"), bench.row("pass")};
    const std::vector<RowResult> results = bench.check(rows, {.cases = 1000, .max_failures = 1});
    CHECK(results[0].failure);
    CHECK(results[1].verdict == Verdict::passed);
    CHECK(results[1].cut_short);
    CHECK(results[1].cases < 100);
}

TEST_CASE("a failure is shrunk after the first case of every row") {
    Bench bench;
    std::vector<Row> rows(60, bench.row("pass"));
    rows.front() = bench.row("fail");
    std::size_t asked_before = 0;
    bench.suite.on_shrink = [&](const Case& found, const Outcome& outcome, const CaseRunner&) {
        asked_before = bench.asked.size();
        return Shrunk{{{Minimality::Kind::certified}}, found, outcome, 1};
    };
    const auto results = bench.check(rows, {.cases = 3});
    CHECK(asked_before >= rows.size());
    CHECK(results.front().verdict == Verdict::failed);
    CHECK(results.back().cases == 3);
}

TEST_CASE("rows go on while a failure is shrunk, on an only worker by turns") {
    for (const int jobs : {1, 2, 4}) {
        CAPTURE(jobs);
        Bench bench;
        bool is_shrunk = false;
        int runs = 0;
        std::int64_t done_meanwhile = 0;
        // A row that ends after the shrinking, however long that takes.
        bench.suite.on_draw = [&](const Row& row, std::uint64_t, std::int64_t index) {
            if (row.property->name == "fail_at_40") index = is_shrunk ? 40 : 0;
            return drawn_on(row, "in=3", index);
        };
        bench.suite.on_shrink = [&](const Case& found, const Outcome& outcome,
                                    const CaseRunner& runner) {
            const std::int64_t before = bench.done;
            while (!is_shrunk && done_meanwhile <= 50 && runs < 100'000) {
                runner(found);
                ++runs;
                done_meanwhile = bench.done - before;
            }
            is_shrunk = true;
            return Shrunk{{}, found, outcome, runs};
        };
        const auto results =
            bench.check({bench.row("fail"), bench.row("fail_at_40")}, {.cases = 1'000'000}, jobs);
        CHECK(done_meanwhile > 50);
        if (jobs == 1) CHECK(runs <= 100);
        REQUIRE(results[0].failure);
        CHECK(results[0].failure->runs == runs);
        CHECK(results[1].verdict == Verdict::failed);
        CHECK(results[1].cases >= done_meanwhile);
    }
}

TEST_CASE("a kernel that has failed is named once where its report takes long") {
    Bench bench;
    bench.suite.on_shrink = [&](const Case& found, const Outcome& outcome,
                                const CaseRunner& runner) {
        while (bench.named.empty()) runner(found);
        for (int i = 0; i < 10; ++i) runner(found);
        CHECK(bench.bugs.empty());
        return Shrunk{{}, found, outcome, 1};
    };
    const std::vector<Row> rows{bench.row("fail"), bench.row("fail_at_1"), bench.row("pass")};
    bench.check(rows, {.cases = 30, .seconds_to_report = 0.01});
    CHECK(bench.named == std::vector<std::string>{"toy.forward/any"});
    CHECK(bench.bugs.size() == 1);
}

TEST_CASE("of several kernels the one that fails with the least work is shrunk first") {
    Bench bench;
    bench.suite.on_draw = [&](const Row& row, std::uint64_t, std::int64_t index) {
        const char* problem = row.kernel->name == "toy.forward/small" ? "in=2" : "in=9";
        return drawn_on(row, problem, index);
    };
    std::vector<std::string> order;
    bench.suite.on_shrink = [&](const Case& found, const Outcome& outcome, const CaseRunner&) {
        order.push_back(found.kernel + " " + found.property);
        return Shrunk{{}, found, outcome, 1};
    };
    std::vector<Row> rows(30, bench.row("pass"));  // the others have failed before all have a case
    rows[0] = bench.row("fail");
    rows[1] = bench.row("fail", "toy.forward/small");
    bench.check(rows, {.cases = 3});
    CHECK(order == std::vector<std::string>{"toy.forward/small fail", "toy.forward/any fail"});
}

TEST_CASE("the failure or error of lowest index ends a row; a failure is shrunk, once") {
    for (const int jobs : {1, 2, 4}) {
        CAPTURE(jobs);
        Bench bench;
        const RowResult failed = bench.check_one("fail_from_3", {.cases = 1000}, jobs);
        CHECK(failed.verdict == Verdict::failed);
        REQUIRE(failed.failure);
        CHECK(bench.shrunk == std::vector<std::uint64_t>{3});
        CHECK(failed.failure->smallest.data.seed == 3);
        CHECK(failed.failure->minimal());
        CHECK(failed.message == "case 3");
        CHECK(failed.passed == 3);
        CHECK(failed.cases < 60);
        CHECK(bench.ended.size() == 1);
        const RowResult errored = bench.check_one("err_at_2_fail_at_4", {.cases = 1000}, jobs);
        CHECK(said(errored) ==
              "errored: no memory (v1:toy.forward/any:err_at_2_fail_at_4:cpu:in=3:seed=2)");
        CHECK(bench.shrunk.size() == 1);
    }
}

TEST_CASE("a row fails after all when one of its cases proves to have damaged its worker") {
    Bench bench;
    const auto results =
        bench.check({bench.row("damage"), bench.row("die_if_damaged")}, {.cases = 3});
    CHECK(results[0].verdict == Verdict::failed);
    REQUIRE(results[0].failure);
    CHECK(results[0].failure->outcome.discovery == Discovery::damaged);
    CHECK(results[1].verdict == Verdict::passed);
    // Even when it had ended: its end shows only with the worker's.
    Bench late;
    CHECK(late.check_one("damage", {.cases = 3}).verdict == Verdict::failed);
    CHECK(late.ended == std::vector<std::string>{"damage", "damage"});
}

TEST_CASE("when interrupted, rows that have passed cases keep them, and a failure stays as found") {
    const InterruptScope interrupts;
    Bench bench;
    bench.suite.on_shrink = [](const Case& found, const Outcome&, const CaseRunner& runner) {
        raise(SIGINT);
        return Shrunk{{{Minimality::Kind::certified}}, found, runner(found), 1};
    };
    const auto results = bench.check({bench.row("fail"), bench.row("sleep_20")}, {.cases = 1000});
    CHECK(results[0].verdict == Verdict::failed);
    REQUIRE(results[0].failure);
    CHECK(results[0].failure->smallest.data.seed == 0);
    CHECK_FALSE(results[0].failure->minimal());
    CHECK_FALSE(results[0].cut_short);
    CHECK(results[1].verdict == Verdict::passed);
    CHECK(results[1].cases > 0);
    CHECK(results[1].cases < 1000);
    CHECK(results[1].cut_short);
    CHECK(results[1].cut_of == 0);
    Bench before;
    CHECK(said(before.check({before.row("sleep_20")}, {.cases = 1000})[0]) ==
          "skipped: interrupted");
    CHECK(bench.ended == std::vector<std::string>{"fail", "sleep_20"});
}

TEST_CASE("what a kernel without end is waited for comes behind all others' cases, and once") {
    Bench bench;
    const char* const small = "toy.forward/small";
    const auto results = bench.check({bench.row("spin"), bench.row("pass"), bench.row("hang"),
                                      bench.row("echo", small), bench.row("spin", small)},
                                     {.cases = 20});
    for (const std::size_t hanging : {0, 2, 4}) {
        CHECK(results[hanging].verdict == Verdict::failed);
        CHECK(results[hanging].cases <= 2);  // the second was in a worker's pipe
    }
    for (const std::size_t right : {1, 3}) {
        CHECK(results[right].verdict == Verdict::passed);
        CHECK(results[right].cases == 20);
    }
    for (std::size_t i = 0; i < bench.ended_cases.size(); ++i)
        CHECK(bench.ended_cases[i].ends_with(i < 40 ? " passed" : " failed"));
    // The suite's trials had less patience; what they found was confirmed with all of it.
    CHECK(results[0].message.starts_with("no end after 0.15 s of CPU time"));
    CHECK(results[2].message.starts_with("no end after 0.3 s in which it slept"));
    CHECK(results[4].message.starts_with("no end after 0.15 s of CPU time"));
}

TEST_CASE("other rows of a kernel that has only hung wait for it, and take no time from others") {
    Bench bench;
    const char* const small = "toy.forward/small";
    std::vector<Row> rows{bench.row("spin"), bench.row("echo", small)};
    for (int i = 0; i < 8; ++i) rows.push_back(bench.row("spin"));
    const auto results = bench.check(rows, {.cases = 20});
    const auto behind = std::ranges::find_if(
        bench.ended_cases, [](const auto& ended) { return ended.ends_with(" failed"); });
    CHECK(behind - bench.ended_cases.begin() == 20);
    // One has hung, and a worker's pipe held six when it did.
    const auto of_row = [](const char* property) {
        return [property](const Asked& one) { return one.property == property; };
    };
    const auto last =
        std::ranges::find_if(bench.asked.rbegin(), bench.asked.rend(), of_row("echo"));
    CHECK(std::count_if(last, bench.asked.rend(), of_row("spin")) <= 6);
    for (const RowResult& result : results)
        CHECK(result.verdict ==
              (result.row.kernel->name == small ? Verdict::passed : Verdict::failed));
}

TEST_CASE("a slow case that was put off passes, and its row goes on") {
    // On a loaded machine it may have ended before its time is looked at.
    bool was_last = false;
    for (int attempt = 0; attempt < 5 && !was_last; ++attempt) {
        Bench bench;
        for (const RowResult& result :
             bench.check({bench.row("spin_100"), bench.row("pass")}, {.cases = 3})) {
            CHECK(result.verdict == Verdict::passed);
            CHECK(result.cases == 3);
        }
        was_last = bench.ended_cases.back().starts_with("spin_100");
    }
    CHECK(was_last);
}

TEST_CASE("a row with a case that has not ended when time is up has not passed") {
    const InterruptScope interrupts;
    Bench bench;
    bench.suite.on_shrink = [](const Case& found, const Outcome& outcome, const CaseRunner&) {
        say_that_time_is_up();
        return Shrunk{{}, found, outcome};
    };
    const auto rows = bench.check({bench.row("hang"), bench.row("fail"), bench.row("hang_at_1")},
                                  {.cases = 2}, 2);
    CHECK(said(rows[0]) == "skipped: a case did not end in time");
    CHECK(rows[0].may_hang);
    CHECK(said(rows[2]) == "skipped: a case did not end in time, 1 passed");
    CHECK_FALSE(rows[1].may_hang);
    CHECK(rows[1].verdict == Verdict::failed);
}

TEST_CASE("shrinking starts at a smaller problem on which the kernel failed another property") {
    Bench bench;
    std::vector<std::string> starts;
    bench.suite.on_shrink = [&](const Case& found, const Outcome& outcome, const CaseRunner&) {
        starts.push_back(found.kernel + " " + found.problem.print());
        Case smallest = found;
        smallest.problem = Problem::parse(found.problem.space(), "in=2");
        return Shrunk{{}, smallest, outcome, 1};
    };
    bench.check({bench.row("fail"), bench.row("crash"), bench.row("fail"),
                 bench.row("fail", "toy.forward/small")},
                {.cases = 1});
    std::ranges::sort(starts);
    CHECK(starts == std::vector<std::string>{"toy.forward/any in=2", "toy.forward/any in=2",
                                             "toy.forward/any in=3", "toy.forward/small in=3"});
}

TEST_CASE("which cases a row gets does not depend on jobs, other rows, or when it is asked") {
    Bench alone, crowd;
    alone.check({alone.row("pass")}, {.cases = 30, .seed = 9});
    crowd.check({crowd.row("fail"), crowd.row("pass"), crowd.row("echo")}, {.cases = 50, .seed = 9},
                3);
    std::erase_if(crowd.asked, [](const Asked& one) { return one.property != "pass"; });
    REQUIRE(alone.asked.size() == 30);
    REQUIRE(crowd.asked.size() == 50);
    crowd.asked.resize(30);
    CHECK(crowd.asked == alone.asked);
}

TEST_CASE("the shards of a run partition its cases, and one without a case says so") {
    Bench whole;
    whole.check({whole.row("pass"), whole.row("echo")}, {.cases = 20, .seed = 4});
    std::set<Asked> shards;
    std::size_t count = 0;
    for (std::int64_t shard = 0; shard < 3; ++shard) {
        Bench bench;
        bench.check({bench.row("pass"), bench.row("echo")},
                    {.cases = 20, .seed = 4, .shard = {.index = shard, .count = 3}}, 2);
        CHECK(bench.done == bench.most);
        count += bench.asked.size();
        shards.insert(bench.asked.begin(), bench.asked.end());
    }
    CHECK(count == 40);
    CHECK(shards == std::set<Asked>(whole.asked.begin(), whole.asked.end()));
    const RowResult none = whole.check_one("pass", {.cases = 2, .shard = {.index = 2, .count = 3}});
    CHECK(said(none) == "skipped: no case in this shard");
}

TEST_CASE("own problems are dealt in turn, each row those that its kernel supports") {
    Bench bench;
    CheckOptions options{.cases = 5, .problems = bench.problems({"in=4", "in=9", "n=2,in=3"})};
    const std::vector<Row> rows{bench.row("pass"), bench.row("pass", "toy.forward/small")};
    bench.check(rows, options);
    std::vector<std::string> any, small;
    for (const Asked& one : bench.asked)
        (one.kernel == "toy.forward/any" ? any : small).push_back(one.problem);
    CHECK(any == std::vector<std::string>{"in=4", "in=9", "n=2,in=3", "in=4", "in=9"});
    CHECK(small == std::vector<std::string>{"in=4", "n=2,in=3", "in=4", "n=2,in=3", "in=4"});
    options.cases_per_problem = 3;
    const auto results = bench.check(rows, options);
    CHECK(results[0].cases == 9);
    CHECK(results[1].cases == 6);
    CHECK(results[0].left_out.empty());
    CHECK(results[1].left_out == std::vector<std::string>{"in=9: needs 1 <= in <= 4"});
    CHECK(bench.most == 15);
}

TEST_CASE("a row that supports none of the own problems is skipped and says so") {
    Bench bench;
    const auto results = bench.check({bench.row("pass", "toy.forward/small"), bench.row("pass"),
                                      bench.row("pass", "other.forward/any")},
                                     {.cases = 5, .problems = bench.problems({"in=9"})});
    CHECK(said(results[0]) == "skipped: supports none of the given problems");
    CHECK(results[0].cases == 0);
    CHECK(results[1].verdict == Verdict::passed);
    // A problem of one operator means nothing to another, even when it reads the same.
    CHECK(results[2].verdict == Verdict::skipped);
}

TEST_CASE("own problems on which nothing was compared are named") {
    Bench bench;
    bench.suite.known = {{.name = "pass", .compares_values = true},
                         {.name = "vacuous", .compares_values = true}};
    const CheckOptions options{.cases = 5, .problems = bench.problems({"in=4", "in=9"})};
    CHECK(bench.check_one("pass", options).not_compared.empty());
    CHECK(bench.check_one("vacuous", options).not_compared ==
          std::vector<std::string>{"in=4", "in=9"});
}

TEST_CASE("a property with cases of its own has those alone, and none on a user's problem") {
    Bench bench;
    bench.suite.known = {{.name = "pass", .own_cases = 2}};
    CHECK(bench.check_one("pass", {.cases = 9}).cases == 2);
    CHECK(bench.check_one("pass", {.cases = 1}).cases == 1);
    const RowResult result =
        bench.check_one("pass", {.cases = 9, .problems = bench.problems({"in=2"})});
    CHECK(said(result) == "skipped: draws problems of its own");
    CHECK(result.cases == 0);
}

TEST_CASE("a row for which nothing is to be drawn is skipped, and what ran of it stands") {
    Bench bench;
    bench.suite.on_draw = [draw = bench.suite.on_draw](const Row& row, std::uint64_t seed,
                                                       std::int64_t index) {
        if (index >= static_cast<std::int64_t>(seed))
            return Suite::Draw{.why_none = "too small", .is_skip = true};
        return draw(row, seed, index);
    };
    const RowResult none = bench.check_one("pass", {.cases = 3, .seed = 0});
    CHECK(said(none) == "skipped: too small");
    const RowResult some = bench.check_one("pass", {.cases = 9, .seed = 2});
    CHECK(some.verdict == Verdict::passed);
    CHECK(some.cases == 2);
}

TEST_CASE("cases on problems of a row's own measure nothing of what it covers") {
    Bench bench;
    bench.suite.known = {{.name = "pass", .own_cases = 3}};
    const RowResult own = bench.check_one("pass", {.cases = 3});
    CHECK(own.passed == 3);
    CHECK(own.multiply_adds.empty());
    CHECK(own.coverage.problems() == 0);
    bench.suite.known = {{.name = "pass"}};
    CHECK(bench.check_one("pass", {.cases = 3}).multiply_adds.count() == 3);
}

TEST_CASE("cases that need the device's memory run one at a time, and others beside them") {
    Bench bench;
    bench.suite.known = {{.name = "spin_100", .own_cases = 3}};
    const auto results = bench.check(
        {bench.row("spin_100"), bench.row("spin_100", "toy.forward/small"), bench.row("pass")},
        {.cases = 3}, 2);
    REQUIRE(bench.asked.size() == 9);
    CHECK(bench.asked[0].property == "spin_100");
    for (std::size_t i = 1; i < 4; ++i) CHECK(bench.asked[i].property == "pass");
    for (const RowResult& result : results) CHECK(result.cases == 3);
}
