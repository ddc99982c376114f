// SPDX-License-Identifier: Apache-2.0
// For which values of one element a failure is told. Predicates stand for kernels.
#include "properties/explaining/explain.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// What is said of the values of x[0], which was found to fail at `value`.
std::string values_told(double value, const std::function<bool(double)>& fails,
                        bool data_decide = false, const TestKernel& kernel = any_kernel()) {
    Shrunk shrunk{.smallest = case_on(kernel, parsed("in=1x1")),
                  .outcome = Outcome::failed("wrong")};
    shrunk.smallest.data = {.is_explicit = true, .elements = {{"x", 0, value}}};
    const CaseRunner runner = [&](const Case& candidate) {
        if (candidate.data.is_dense) return failed_if(!data_decide || candidate.data.seed == 1);
        return failed_if(fails(candidate.data.elements.at(0).value));
    };
    explain(kernel.kernel, shrunk, runner);
    return shrunk.values;
}

}  // namespace

TEST_CASE("values that a failure hangs on are told in the smallest words") {
    const double small = -0x1p-30;
    CHECK(values_told(small, [](double x) { return x != 0.0; }) == "fails where x[0] is not 0");
    CHECK(values_told(small, [](double x) { return x < 0.0; }) == "fails where x[0] < 0");
    CHECK(values_told(0.3, [](double x) { return x > 0.0; }) == "fails where x[0] > 0");
    CHECK(values_told(0.3, [](double x) { return x != 0.0 && x != 1.0 && x != 2.0; }) ==
          "fails where x[0] is 0.3, -1, -2, 0.1, -0.1, 100, -100, -0.3, and passes at 0, 1, 2");
    CHECK(values_told(-20.0, [](double x) { return x <= -14.0; }) ==
          "fails where x[0] <= -14, and passes at -13.9");
    CHECK(values_told(20.0, [](double x) { return x >= 14.0 && x < 30.0; }) ==
          "fails where x[0] >= 14, and passes at 13.9 and at 112");
    CHECK(values_told(5.0, [](double) { return true; }) == "");
}

TEST_CASE("the limit of a whole number is one") {
    Operator op = make_test_operator();
    op.inputs[0].dtype = DType::i32;
    const TestKernel kernel(test_kernel(), op);
    CHECK(values_told(
              13.0, [](double x) { return x >= 8.0 && x < 20.0; }, false, kernel) ==
          "fails where x[0] >= 8, and passes at 7 and at 64");
}

TEST_CASE("a value is printed with the digits that tell it from those that pass") {
    CHECK(values_told(0.99994f, [](double x) { return x >= 0.99994f && x < 1.0; }) ==
          "fails where x[0] >= 0.99994, and passes at 0.992 and at 1.25 and at 2 and at 8");
}

TEST_CASE("a simple value is told where data decide, and not where any data fail") {
    const auto negative = [](double x) { return x < 0.0; };
    CHECK(values_told(-1.0, negative, true) == "fails where x[0] < 0");
    CHECK(values_told(-1.0, negative) == "");
    CHECK(values_told(1.0, [](double x) { return x != 0.0; }, true) == "");
}

TEST_CASE("what came to no verdict is told neither as a pass nor as a failure") {
    const auto told = [](double value, const std::function<Outcome(double)>& outcome_at) {
        Shrunk shrunk{.smallest = case_on(any_kernel(), parsed("in=1x1")),
                      .outcome = Outcome::failed("wrong")};
        shrunk.smallest.data = {.is_explicit = true, .elements = {{"x", 0, value}}};
        explain(any_kernel().kernel, shrunk, [&](const Case& candidate) {
            if (candidate.data.is_dense) return Outcome::failed("wrong");
            return outcome_at(candidate.data.elements.at(0).value);
        });
        return shrunk.values;
    };
    const Outcome wrong = Outcome::failed("wrong"), nothing{.verdict = Verdict::vacuous};
    // Zero compares nothing, and what lies between is skipped.
    CHECK(told(-0x1p-30, [&](double x) { return x == 0.0 ? nothing : wrong; }) ==
          "fails where x[0] is not 0");
    CHECK(told(20.0, [&](double x) {
              return x >= 14.0  ? wrong
                     : x == 0.0 ? Outcome::passed()
                                : Outcome::skipped("no partner");
          }) == "fails where x[0] is 20, 100, and passes at 0");
    CHECK(told(20.0, [&](double x) { return x < 14.0 ? Outcome::errored("no memory") : wrong; }) ==
          "");
    // Time may end behind any run.
    const auto told_in_time = [&](double value, int runs,
                                  const std::function<bool(double)>& fails) {
        return told(value, [&](double x) {
            return --runs < 0 ? Outcome::errored("no time is left") : failed_if(fails(x));
        });
    };
    CHECK(told_in_time(-0x1p-30, 42, [](double x) { return x != 0.0 && x < 50.0; }) ==
          "fails where x[0] is -9.313226e-10, 1, and passes at 0");
    CHECK(told_in_time(20.0, 4, [](double x) { return x >= 14.0 && x < 24.0; }) ==
          "fails where x[0] is 15, and passes at 12.5");
}
