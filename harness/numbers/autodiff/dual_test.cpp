// SPDX-License-Identifier: Apache-2.0
// The rules by which dual numbers are computed and compared, and comparisons are counted.
#include "harness/numbers/autodiff/dual.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace gradverify;

using Pair = std::pair<double, double>;
Pair parts(const Dual& x) { return {x.value(), x.tangent()}; }

std::uint64_t trace_of(const std::vector<bool>& outcomes) {
    Decisions decisions;
    for (const bool outcome : outcomes) decisions.note(outcome);
    return decisions.trace;
}

}  // namespace

TEST_CASE("in a scope comparisons are counted from zero, and after it the count goes on") {
    const ScopedDecisions outer;
    ++current_decisions.ties;
    ++current_decisions.undecided;
    const std::uint64_t trace = current_decisions.trace;
    {
        const ScopedDecisions inner;
        CHECK(inner.made().ties == 0);
        CHECK(inner.made().undecided == 0);
        CHECK(inner.made().trace == Decisions{}.trace);
        static_cast<void>(Dual(1.0, 1.0) < Dual(1.0));
        CHECK(inner.made().ties == 1);
        CHECK(inner.made().trace != trace);
    }
    CHECK(outer.made().ties == 1);
    CHECK(outer.made().undecided == 1);
    CHECK(outer.made().trace == trace);
}

TEST_CASE("arithmetic on dual numbers follows the rules of differentiation") {
    const Dual a(3.0, 2.0), b(4.0, -5.0);
    CHECK(parts(Dual()) == Pair(0.0, 0.0));
    CHECK(parts(Dual(7.0)) == Pair(7.0, 0.0));
    CHECK(parts(-a) == Pair(-3.0, -2.0));
    CHECK(parts(a + b) == Pair(7.0, -3.0));
    CHECK(parts(a - b) == Pair(-1.0, 7.0));
    CHECK(parts(a * b) == Pair(12.0, -7.0));
    CHECK(parts(a / b) == Pair(0.75, 1.4375));
    Dual sum = a, difference = a, product = a, quotient = a;
    sum += b, difference -= b, product *= b, quotient /= b;
    CHECK(parts(sum) == parts(a + b));
    CHECK(parts(difference) == parts(a - b));
    CHECK(parts(product) == parts(a * b));
    CHECK(parts(quotient) == parts(a / b));
}

TEST_CASE("dual numbers are ordered by value, then by tangent, and every comparison is noted") {
    const std::vector<Dual> numbers{{1.0, -1.0}, {1.0, 0.0}, {1.0, 2.0}, {2.0, -3.0}, {2.0, 0.0}};
    for (std::size_t i = 0; i < numbers.size(); ++i)
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            const Dual &a = numbers[i], &b = numbers[j];
            INFO(i, " and ", j);
            CHECK((a < b) == (i < j));
            CHECK((a > b) == (i > j));
            CHECK((a <= b) == (i <= j));
            CHECK((a >= b) == (i >= j));
            CHECK((a == b) == (i == j));
            CHECK(parts(max(a, b)) == parts(numbers[std::max(i, j)]));
            CHECK(parts(min(a, b)) == parts(numbers[std::min(i, j)]));
            const ScopedDecisions decisions;
            static_cast<void>(a < b);
            // A tie is of values that move apart: two that move alike stay equal.
            CHECK(decisions.made().ties == (a.value() == b.value() && i != j));
            CHECK(decisions.made().trace == trace_of({i < j}));
            CHECK(decisions.made().undecided == 0);
            const ScopedDecisions of_equality;
            static_cast<void>(a == b);
            CHECK(of_equality.made().ties == (a.value() == b.value() && i != j));
            CHECK(of_equality.made().trace == trace_of({i == j}));
        }
    // Equal numbers give the first, and a zero is not below zero.
    CHECK_FALSE(std::signbit(max(Dual(0.0), Dual(-0.0)).value()));
    CHECK_FALSE(std::signbit(min(Dual(0.0), Dual(-0.0)).value()));
    CHECK_FALSE(std::signbit(abs(Dual(0.0)).value()));
    CHECK(parts(abs(Dual(-1.5, 3.0))) == Pair(1.5, -3.0));
    CHECK(parts(abs(Dual(1.5, -3.0))) == Pair(1.5, -3.0));
}

TEST_CASE("equal numbers that do not move have an order that is open, but are equal") {
    const Dual zero, square = Dual(0.0, 3.0) * Dual(0.0, 3.0), one(0.0, 1.0);
    const ScopedDecisions decisions;
    CHECK_FALSE(square == one);
    CHECK(square == zero);
    CHECK_FALSE(one < one);
    CHECK(zero < one);
    CHECK_FALSE(one < square);
    CHECK_FALSE(Dual(1.0) < square);
    CHECK(decisions.made().open == 0);
    CHECK(decisions.made().ties == 3);
    CHECK_FALSE(square > zero);
    CHECK(decisions.made().open == 1);
    CHECK_FALSE(square < zero);
    CHECK(decisions.made().open == 2);
    CHECK(decisions.made().ties == 3);
    // Constants compare alike in every kernel.
    CHECK_FALSE(sqrt(zero) + zero * zero < zero / Dual(2.0) - zero);
    CHECK(decisions.made().open == 2);
    for (const Dual& moved :
         {-square, square + zero, zero - square, square * zero, zero * square, square / Dual(2.0),
          zero / (square + 1.0), cos(square) - 1.0, pow(square, Dual(2.0))})
        CHECK_FALSE(zero < moved);
    CHECK(decisions.made().open == 11);
}

TEST_CASE("runs that took different branches have different traces") {
    std::set<std::uint64_t> traces;
    std::vector<std::vector<bool>> runs{{}};
    for (std::size_t i = 0; i < 511; ++i) {
        traces.insert(trace_of(runs[i]));
        for (const bool outcome : {false, true}) {
            runs.push_back(runs[i]);
            runs.back().push_back(outcome);
        }
    }
    CHECK(traces.size() == 511);
    Decisions up, down;
    up.note_step(1.0), up.note_step(2.0);
    down.note_step(2.0), down.note_step(1.0);
    CHECK(up.trace != down.trace);
}

TEST_CASE("a tangent of zero stays zero where the slope is infinite") {
    CHECK(parts(Dual(INFINITY) * Dual(2.0)) == Pair(INFINITY, 0.0));
    CHECK((Dual(0.0) / Dual(0.0)).tangent() == 0.0);
    CHECK((Dual(0.0) * Dual(NAN)).tangent() == 0.0);
    CHECK(std::isnan((Dual(0.0, 1.0) * Dual(NAN)).tangent()));
    CHECK(parts(sqrt(Dual(0.0))) == Pair(0.0, 0.0));
    CHECK(sqrt(Dual(0.0, 2.0)).tangent() == INFINITY);
    CHECK(parts(pow(Dual(0.0), Dual(0.5))) == Pair(0.0, 0.0));
    CHECK(parts(Dual::with_slope(5.0, 3.0, Dual(1.0, 2.0))) == Pair(5.0, 6.0));
}

TEST_CASE("a power has a derivative by its base and one by its exponent") {
    CHECK(parts(pow(Dual(2.0, 1.0), Dual(3.0))) == Pair(8.0, 12.0));
    CHECK(pow(Dual(2.0), Dual(3.0, 5.0)).tangent() == doctest::Approx(40.0 * std::log(2.0)));
    CHECK(pow(Dual(2.0, 1.0), Dual(3.0, 5.0)).value() == 8.0);
    CHECK(pow(Dual(2.0, 1.0), Dual(3.0, 5.0)).tangent() ==
          doctest::Approx(12.0 + 40.0 * std::log(2.0)));
    // A whole constant exponent takes a negative base, which has no logarithm.
    CHECK(parts(pow(Dual(-2.0, 1.0), Dual(3.0))) == Pair(-8.0, 12.0));
}
