// SPDX-License-Identifier: Apache-2.0
// How a failure, a case and a map of wrong elements read, to the letter.
#include "harness/report/text/failure.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "harness/base/text.hpp"
#include "harness/testing/made_results.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

std::string report_failure(const RowResult& result) { return report_bug({&result}, "gradverify"); }

/// A failure of toy.forward/plain.
RowResult plain_fails(const char* property, const std::string& message) {
    return failure_of("plain", property, Outcome::failed(message));
}

Outcome wrong_outcome() {
    Outcome outcome = Outcome::failed("y differs from the reference");
    outcome.worst = {{.tensor = "y", .index = {1, 2}, .got = 3.0, .want = 1.0},
                     {.tensor = "y", .index = {0, 0}, .got = 0.1, .want = 0.2, .bound = 0.05}};
    outcome.maps = {{.tensor = "y", .sizes = {2, 3}, .wrong = 2, .total = 6, .marks = "#....#"}};
    return outcome;
}

/// What a report says of a single wrong element.
std::string worst(double got, double want, double bound, std::optional<DType> dtype = {}) {
    Outcome outcome = Outcome::failed("differs");
    outcome.worst = {{"y", {0}, got, want, bound, dtype}};
    const std::string text = report_failure(failure_of("plain", "repeatable", outcome));
    const std::size_t begin = text.find("y[0]: ");
    return text.substr(begin, text.find('\n', begin) - begin);
}

/// What a report says of the problem.
std::string problem_line(const Minimality& minimality) {
    const std::string text =
        report_failure(failure_of("plain", "repeatable", Outcome::failed("differs"), minimality));
    const std::size_t begin = text.find("  problem    ");
    return text.substr(begin, text.find("  given") - begin);
}

}  // namespace

TEST_CASE("a failed row tells kernel, property, problem, the worst elements, where, and a line") {
    CHECK(report_failure(failure_of("plain", "matches_reference", wrong_outcome())) ==
          R"(FAILED toy.forward/plain
  kernel     toy.forward/plain on cpu
  property   matches_reference: y differs from the reference
  problem    n=2,in=3 (minimal, certified: all 7 smaller problems pass; 41 runs)
  given      x[0] = 1
  worst      y[1][2]: got 3, want 1 exactly
             y[0][0]: got 0.1, want 0.2, bound 0.05 (2 times the bound)
  wrong      2 of 6 elements of y
    y
    ┌───┬───┬───┐
    │ # │ · │ · │
    ├───┼───┼───┤
    │ · │ · │ # │
    └───┴───┴───┘
  replay     gradverify repro 'v1:toy.forward/plain:matches_reference:cpu:n=2,in=3:data=x[0]=1'
)");
}

TEST_CASE("whole numbers that were given are told, the first of many") {
    Outcome outcome = Outcome::failed("differs");
    outcome.given = {{.tensor = "offsets", .first = {0, 0, 1}, .total = 3},
                     {.tensor = "index", .first = {7, -1}, .total = 40},
                     {.tensor = "none", .first = {}, .total = 0}};
    const std::string line =
        "  given      offsets = 0 0 1, index = 7 -1 ... (40 in all), none = (no element); x[0] = "
        "1\n";
    const RowResult row = failure_of("plain", "repeatable", outcome);
    CHECK(contains(report_failure(row), "runs)\n" + line + "  replay"));
    CHECK(contains(report_case(row.failure->smallest, outcome), "n=2,in=3\n" + line));
}

TEST_CASE("a failure that is yet to be shrunk is one line") {
    const RowResult row = failure_of("plain", "matches_reference", wrong_outcome());
    CHECK(report_seen(row.failure->smallest) ==
          "FAILED toy.forward/plain on cpu, yet to be shrunk: matches_reference at n=2,in=3\n");
}

TEST_CASE("a bug names each property that fails at its problem, and those that agree once") {
    const RowResult first = plain_fails("matches_reference", "differs");
    const RowResult same = plain_fails("repeatable", "differs");
    const RowResult other = plain_fails("stays_in_bounds", "left y[0]");
    CHECK(report_bug({&first, &other, &same}, "gradverify") == R"(FAILED toy.forward/plain
  kernel     toy.forward/plain on cpu
  property   matches_reference: differs
  also       repeatable: the same
             stays_in_bounds: left y[0]
  problem    n=2,in=3 (minimal, certified: all 7 smaller problems pass; 41 runs)
  given      x[0] = 1
  replay     gradverify repro 'v1:toy.forward/plain:matches_reference:cpu:n=2,in=3:data=x[0]=1'
)");
    const RowResult told =
        plain_fails("matches_reference", "differs; it adds to y; k.cu:1: launch");
    const RowResult shorter =
        plain_fails("repeatable", "varies; by chance; it adds to y; k.cu:1: launch");
    const RowResult whole = plain_fails("stays_in_bounds", "k.cu:1: launch");
    CHECK(contains(report_bug({&told, &shorter, &whole}, "gradverify"),
                   "  also       stays_in_bounds: k.cu:1: launch\n"
                   "             repeatable: varies; by chance\n"));
    const RowResult read = plain_fails("repeatable", "a.cu:1: read at address 0x7f5cbb1b");
    const RowResult read_again =
        plain_fails("stays_in_bounds", "a.cu:1: read at address 0x7f34ad6d");
    CHECK(
        contains(report_bug({&first, &read, &read_again}, "gradverify"),
                 "  also       repeatable, stays_in_bounds: a.cu:1: read at address 0x7f5cbb1b\n"));
    CHECK(contains(report_bug({&read, &read_again}, "gradverify"),
                   "  also       stays_in_bounds: the same\n"));
    RowResult elsewhere = plain_fails("free_of_races", "a.cu:1: left y[0]");
    elsewhere.failure->smallest.problem = Problem::parse(first.row.kernel->op->space, "n=5,in=3");
    CHECK(contains(report_bug({&first, &elsewhere}, "gradverify"),
                   "  also       free_of_races, at n=5,in=3: a.cu:1: left y[0]\n"));
    CHECK(report_more({&other}) ==
          "FAILED toy.forward/plain too, as above, at n=2,in=3\n"
          "  also       stays_in_bounds: left y[0]\n");
}

TEST_CASE("an error within a type is told in its ulps, and doubles that differ look different") {
    CHECK(worst(1.5, 1.0, 0.25, DType::f16) ==
          "y[0]: got 1.5, want 1, bound 0.25 (2 times the bound, 5.1e+02 ulps of f16)");
    CHECK(worst(1.5, 0.0, 0.25, DType::f32) ==
          "y[0]: got 1.5, want 0, bound 0.25 (6 times the bound)");
    CHECK(worst(260.0, 256.5, 0.5, DType::bf16) ==
          "y[0]: got 260, want 256.5, bound 0.5 (7 times the bound, 1.8 ulps of bf16)");
    CHECK(worst(1.5, 1.0, 0.25) == "y[0]: got 1.5, want 1, bound 0.25 (2 times the bound)");
    CHECK(worst(3.0, 1.0, 0.0, DType::f16) == "y[0]: got 3, want 1 exactly");
    CHECK(worst(NAN, NAN, 0.0, DType::f32) ==
          "y[0]: got nan, and the operator gives no number either, though no input is NaN");
    CHECK(worst(2147483647.0, -1.0, 0.0, DType::i32) == "y[0]: got 2147483647, want -1 exactly");
    CHECK(worst(0.1 + 0x1p-50, 0.1, 0x1p-51, DType::f64) ==
          "y[0]: got 0.10000000000000089, want 0.10000000000000001, bound 4.4e-16 (2 times the "
          "bound, 64 ulps of f64)");
}

TEST_CASE("what is compared between two calls is not said to be wanted") {
    Outcome outcome = Outcome::failed("differs");
    outcome.is_of_two_calls = true;
    outcome.worst = {{.tensor = "y", .index = {0}, .got = 3.0, .want = 1.0},
                     {.tensor = "y", .index = {1}, .got = NAN, .want = NAN}};
    const std::string text = report_failure(failure_of("plain", "repeatable", outcome));
    CHECK(contains(text, "y[0]: got 1 in one call, 3 in the other\n"));
    CHECK(contains(text, "y[1]: got nan in both calls\n"));
    CHECK(Outcome::from_json(outcome.to_json()).is_of_two_calls);
}

TEST_CASE("a certified problem says how many smaller ones pass; another is not called minimal") {
    using enum Minimality::Kind;
    const std::string start = "  problem    n=2,in=3 (";
    CHECK(problem_line({certified, 0, 0}) ==
          start + "minimal, certified: no problem is smaller; 41 runs)\n");
    CHECK(problem_line({certified, 1, 1}) ==
          start + "minimal, certified: the one smaller problem passes; 41 runs)\n");
    CHECK(problem_line({certified, 9, 9, false, 0, 12}) ==
          start + "minimal, certified: all 9 smaller problems pass on 12 draws each; 41 runs)\n");
    CHECK(contains(problem_line({certified, 1, 1, false, 0, 1}), "passes on 1 draw; "));
    CHECK(contains(problem_line({certified, 7, 7, false, 1, 3}), "none fails on 3 draws each; 1 "));
    CHECK(contains(problem_line({boxed, 3, 9, false, 0, 3}), "on 3 draws each; 41 runs)"));
    CHECK(problem_line({none, 3, 9}) == start + "shrunk, not certified; 41 runs)\n");
    CHECK(problem_line({boxed, 3, 9}) ==
          start +
              "boxed, 3 of 9: so many problems between the default one and this were run and\n"
              "             pass; 41 runs)\n");
    CHECK(contains(problem_line({boxed, 3, 9, true}), "(boxed, 3 of more than 9: "));
    CHECK(contains(problem_line({boxed, 9, 9, true}), "(boxed, 9 of an unknown number: "));
    CHECK(contains(problem_line({certified, 7, 7, false, 1}),
                   "(minimal, certified: of 7 smaller problems none fails; 1 of them has only"));
    CHECK(contains(problem_line({boxed, 3, 9, false, 2}), "none fails; 2 of them have only zeros"));
}

TEST_CASE("what fails in general and who is wrong stand behind the problem, if they are known") {
    RowResult result = plain_fails("repeatable", "differs");
    const std::string without = report_failure(result);
    CHECK_FALSE(contains(without, "in general"));
    CHECK_FALSE(contains(without, "witnesses"));
    result.failure->generality = {"fails wherever n >= 2; in doesn't matter", true, 52};
    result.failure->witnesses = "the kernel stands alone";
    result.failure->outcome.worst = wrong_outcome().worst;
    CHECK(contains(report_failure(result), "  given      x[0] = 1\n  worst      y[1][2]: got 3, "));
    CHECK(contains(report_failure(result),
                   "  in general fails wherever n >= 2; in doesn't matter (52 problems run)\n"
                   "  witnesses  the kernel stands alone\n"
                   "  replay "));
    result.failure->symptoms = {"dk is wrong; dq is right in all 9 failing runs",
                                "got = 2 x want in all of dk", "in place"};
    CHECK(contains(report_failure(result),
                   "differs\n"
                   "  outputs    dk is wrong; dq is right in all 9 failing runs\n"
                   "  pattern    got = 2 x want in all of dk\n"
                   "  only       in place\n"
                   "  problem    n=2,in=3 "));
    result.failure->generality = {"nothing else could be run", false, 1};
    CHECK(contains(report_failure(result), "could be run (1 problem run)\n"));
}

TEST_CASE("a problem of the user's is said to fail, where a smaller one is told") {
    RowResult result = plain_fails("repeatable", "differs");
    Case asked = result.failure->smallest;
    asked.problem = Problem::parse(result.row.kernel->op->space, "n=5,in=3");
    result.found = FoundFailure{asked, Outcome::failed("differs")};
    CHECK_FALSE(contains(report_failure(result), "asked"));
    result.found->is_asked = true;
    CHECK(contains(report_failure(result), "  asked      n=5,in=3, which fails, too\n"));
    result.found->drawn.problem = result.failure->smallest.problem;
    CHECK_FALSE(contains(report_failure(result), "asked"));
}

TEST_CASE("a bug is explained by the row that has been, which need not be the first") {
    const RowResult first = plain_fails("matches_reference", "differs");
    RowResult second = plain_fails("repeatable", "differs");
    second.failure->generality = {"fails wherever n >= 2", true, 52};
    second.failure->witnesses = "the kernel stands alone";
    const std::string text = report_bug({&first, &second}, "gradverify");
    CHECK(contains(text, "property   matches_reference: "));
    CHECK(contains(text, "in general fails wherever n >= 2 (52 problems run)\n"));
    CHECK(contains(text, "witnesses  the kernel stands alone\n"));
}

TEST_CASE("a long message is wrapped under its beginning") {
    std::string message = "words";
    for (int i = 0; i < 30; ++i) message += " words";
    const std::string text = report_failure(plain_fails("repeatable", message));
    CHECK(contains(text, "  property   repeatable: words words"));
    CHECK(contains(text, "\n             words words"));
    for (const std::string_view line : split(text, '\n')) CHECK(line.size() <= 100);
}

TEST_CASE("numbers print as integers, or with the digits of a float; NaN has no sign") {
    CHECK(worst(16777216.0, -2.0, 0.0) == "y[0]: got 16777216, want -2 exactly");
    CHECK(worst(0.1f, 1.0 / 3.0, 0.0) == "y[0]: got 0.100000001, want 0.333333333 exactly");
    CHECK(worst(-std::nan(""), 1.0, 0.5) == "y[0]: got nan, want 1, bound 0.5");
    CHECK(worst(-HUGE_VAL, 1.0, 0.5) == "y[0]: got -inf, want 1, bound 0.5");
    CHECK(worst(101.0, 1.0, 1.0) == "y[0]: got 101, want 1, bound 1 (100 times the bound)");
}

TEST_CASE("a case is one line, or reads as a failed row without a line to paste") {
    const Case checked = case_of(result_of("plain", "repeatable", Verdict::passed));
    const std::string start = ": toy.forward/plain on cpu, repeatable, n=2,in=3";
    CHECK(report_case(checked, Outcome::passed()) == "passed" + start + "\n");
    Outcome wrapping = Outcome::passed();
    wrapping.add_overflows("int overflow at a.cu:1: 2 * 3");
    CHECK(report_case(checked, wrapping) ==
          "passed" + start + " (int overflow at a.cu:1: 2 * 3, which wraps back)\n");
    CHECK(report_case(checked, {}) ==
          "vacuous" + start +
              " (nothing was compared: every expected value is zero, or zero lies within its "
              "bound)\n");
    CHECK(report_case(checked, Outcome::skipped("too coarse")) ==
          "skipped" + start + " (too coarse)\n");
    CHECK(report_case(checked, Outcome::failed("differs")) ==
          "FAILED toy.forward/plain\n"
          "  kernel     toy.forward/plain on cpu\n"
          "  property   repeatable: differs\n"
          "  problem    n=2,in=3\n"
          "  given      x[0] = 1\n");
}

TEST_CASE("a map draws the slices that are wrong, three at most, and no scalar or large tensor") {
    const std::string one =
        "    ┌───┐\n"
        "    │ # │\n"
        "    └───┘\n";
    const std::pair<WrongMap, std::string> maps[] = {
        {{.tensor = "dw", .sizes = {2, 3, 1, 2}, .wrong = 2, .total = 12, .marks = "...#......#."},
         "    dw[0][1]\n"
         "    ┌───┬───┐\n"
         "    │ · │ # │\n"
         "    └───┴───┘\n"
         "    dw[1][2]\n"
         "    ┌───┬───┐\n"
         "    │ # │ · │\n"
         "    └───┴───┘\n"},
        {{.tensor = "dw", .sizes = {5, 1, 1}, .wrong = 5, .total = 5, .marks = "#####"},
         "    dw[0]\n" + one + "    dw[1]\n" + one + "    dw[2]\n" + one +
             "    and 2 more slices\n"},
        {{.tensor = "db", .sizes = {3}, .wrong = 1, .total = 3, .marks = ".#."},
         "    db\n"
         "    ┌───┬───┬───┐\n"
         "    │ · │ # │ · │\n"
         "    └───┴───┴───┘\n"},
        {{.tensor = "db", .sizes = {1}, .wrong = 1, .total = 1, .marks = "#"}, ""},
        {{.tensor = "db", .sizes = {}, .wrong = 1, .total = 1, .marks = "#"}, ""},
        {{.tensor = "y", .sizes = {99999}, .wrong = 1, .total = 99999}, ""}};
    for (const auto& [map, text] : maps) CHECK(draw_map(map) == text);
}

TEST_CASE("a large slice is drawn in part, which holds the first wrong element") {
    WrongMap map{.tensor = "y", .sizes = {20, 60}, .wrong = 1, .total = 1200, .marks = ""};
    map.marks.assign(1200, '.');
    map.marks[60 + 3] = '#';
    std::string text = draw_map(map);
    CHECK(contains(text, "    │ · │ · │ · │ # │ · │"));
    CHECK(text.ends_with("    (rows 0 to 15 of 20, columns 0 to 23 of 60)\n"));
    CHECK(std::count(text.begin(), text.end(), '\n') == 1 + 16 + 17 + 1);
    map.marks[60 + 3] = '.';
    map.marks[18 * 60 + 59] = '#';
    text = draw_map(map);
    CHECK(contains(text, "│ · │ # │\n"));
    CHECK(text.ends_with("    (rows 4 to 19 of 20, columns 36 to 59 of 60)\n"));
}
