// SPDX-License-Identifier: Apache-2.0
// The tape's gradients and their bounds, link by link, and how values are compared and chosen. The
// arithmetic is so coarse that each part of the formula in tape.hpp shows.
#include "harness/numbers/autodiff/tape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "harness/numbers/autodiff/dual.hpp"

namespace {

using namespace gradverify;

// gamma(1) = 1/3, gamma(2) = 1.
const Rounding coarse{.unit_roundoff = 0.25, .smallest_normal = 0.5};
const Rounding up_to_8{.unit_roundoff = 0.25, .smallest_normal = 0.5, .largest = 8.0};

constexpr auto off = &Bounded::within;
Traced constant(double value, double error = 0.0) { return {off(value, error), Tape::constant}; }

/// The gradient by `x` when `y` has this cotangent.
Bounded gradient(const Tape& tape, const Traced& x, const Traced& y, double cotangent) {
    const Tape::Seed seed{y.node(), cotangent};
    const auto at = static_cast<std::size_t>(x.node());
    const Bounded bounded = tape.bounded_gradients({&seed, 1})[at];
    CHECK(tape.gradients({&seed, 1})[at] == bounded.value());
    return bounded;
}

void check(const Bounded& got, double value, double error, double magnitude, double additions) {
    CHECK(got.value() == value);
    CHECK(got.magnitude() == doctest::Approx(magnitude));
    CHECK(got.additions() == additions);
    const Bounded::Sum sum{value, error, magnitude, additions};
    CHECK(got.error() == doctest::Approx(Bounded(sum).error()));
}

}  // namespace

TEST_CASE("a link adds its slope's error to a path, and a rounding unless it is exactly 1 or -1") {
    const ScopedRounding rounding(coarse);
    Tape tape;
    const Traced x = tape.input(5.0);
    check(gradient(tape, x, x, -2.0), -2.0, 0.0, 2.0, 0.0);
    check(gradient(tape, x, -x, 2.0), -2.0, 0.0, 2.0, 0.0);
    check(gradient(tape, x, x + constant(7.0, 2.0), 2.0), 2.0, 0.0, 2.0, 0.0);
    check(gradient(tape, x, constant(7.0) - x, 2.0), -2.0, 0.0, 2.0, 0.0);
    // M e, and a possible underflow; the path may be as large as M (|p| + e) and that.
    check(gradient(tape, x, constant(3.0) * x, 2.0), 6.0, 0.5, 6.5, 1.0);
    check(gradient(tape, x, x * constant(-3.0, 1.0), -2.0), 6.0, 2.5, 10.5, 1.0);
    check(gradient(tape, x, x * constant(1.0, 1.0), 2.0), 2.0, 2.5, 6.5, 1.0);
    // A second link has an E to carry on, and a rounding more.
    const Traced twice = (x * constant(-3.0, 1.0)) * constant(5.0, 1.0);
    const double first = 2.0 * 1.0 + 0.5, magnitude = 2.0 * 6.0;
    check(gradient(tape, x, twice, 2.0), -30.0, first * 4.0 + magnitude * 1.0 + 0.5,
          magnitude * 4.0 + first * 4.0 + magnitude * 1.0 + 0.5, 2.0);
}

TEST_CASE("a gradient that is rounded by its number's name may lose that rounding, as a whole") {
    const std::vector<std::pair<std::string, DType>> types{
        {"p", DType::bf16}, {"dq", DType::bf16}, {"dr", DType::f8e4m3}};
    Rounding named = coarse;
    named.types_by_name = types;
    const ScopedRounding rounding(named);
    Tape tape;
    const Traced x = tape.input(5.0);
    CHECK(rounded_by_name("other", x).node() == x.node());
    const Traced p = rounded_by_name("p", x * constant(1.0 + 0x1p-10)), q = rounded_by_name("q", x);
    // p itself is rounded, its gradient is not; and the other way round.
    CHECK(p.value().error() >= 0x1p-8 * 5.0);
    CHECK(q.value().error() == x.value().error());
    check(gradient(tape, x, q, 1.0 + 0x1p-7), 1.0 + 0x1p-7, 0.0, 1.0 + 0x1p-7, 0.0);
    const double middle = 1.0 + 0x1p-8, lost = 0x1p-8 * middle;
    check(gradient(tape, x, q, middle), middle, lost, middle + lost, 0.0);
    check(gradient(tape, x, q + constant(2.0), -middle), -middle, lost, middle + lost, 0.0);
    // A sum is rounded once, with what it is off by: gamma(1) 6, and 0.5.
    const double of_sum = 0x1p-8 * (6.0 + 2.0 + 0.5);
    check(gradient(tape, x, q + q, 3.0), 6.0, of_sum, 6.0 + of_sum, 1.0);
    // Beyond the type's largest number there is no bound.
    const Traced r = rounded_by_name("r", x);
    CHECK(gradient(tape, x, r, 400.0).error() == 0x1p-4 * 400.0);
    CHECK(gradient(tape, x, r, 500.0).error() == INFINITY);
    CHECK_FALSE(gradient(tape, x, r, 500.0).may_be_infinite());
    // What a slope is off by is rounded with the rest: gamma(1) of 10.5 is 3.5.
    const double of_product = 0x1p-8 * (6.0 + 2.5 * 4 / 3 + 3.5 + 0.5);
    check(gradient(tape, x, q * constant(3.0, 1.0), 2.0), 6.0, 2.5 + of_product, 10.5 + of_product,
          1.0);
    // A constant has no gradient to round, nor has what came before it.
    const Traced last = -x;
    CHECK(rounded_by_name("q", constant(3.0)).is_constant());
    check(gradient(tape, x, last, middle), -middle, 0.0, middle, 0.0);
}

TEST_CASE("beyond 512 roundings a path's are counted where they are made, but not an input's") {
    const Rounding fine{.unit_roundoff = 0x1p-10, .smallest_normal = 0x1p-4};
    const ScopedRounding rounding(fine);
    constexpr int terms = 514;
    Tape tape;
    const Traced x = tape.input(5.0);
    const auto sum_of = [](const Traced& term) {
        Traced sum = term;
        for (int i = 1; i < terms; ++i) sum += term;
        return sum;
    };
    check(gradient(tape, x, sum_of(x), 1.0), 514.0, 0.0, 514.0, 513.0);
    const double of_one = fine.gamma(1.0) * 514.0 + 0x1p-4;
    for (const Traced& term : {-x, x + constant(1.0), constant(1.0) + x}) {
        const Bounded by_x = gradient(tape, x, sum_of(term), 1.0);
        check(by_x, by_x.value(), of_one, 514.0 + of_one, 512.0);
    }
    // Products with 1 +- 1/2, of one rounding each: what they are off by is lost twice.
    const Traced term = -x;
    Traced sum = term * constant(1.0, 0.5);
    for (int i = 1; i < terms; ++i) sum += term * constant(1.0, 0.5);
    const double before = 514.0 * (0.5 + 0x1p-4), reach = 514.0 * 1.5;
    const double off = before + fine.gamma(2.0) * (reach + 2.0 * before) + 2 * 0x1p-4;
    check(gradient(tape, x, sum, 1.0), -514.0, off, reach + off, 512.0);
    // Too many for a bound are no reason to be infinite.
    const ScopedRounding of_two_digits(coarse);
    const Bounded lost = gradient(tape, term, sum_of(sum_of(term)), 1.0);
    CHECK(std::isinf(lost.error()));
    CHECK_FALSE(lost.may_be_infinite());
}

TEST_CASE("what a formula or the inputs lose of a gradient is a share of all its paths") {
    Rounding losing = coarse;
    losing.loss_of_formula = 0.25, losing.loss_of_inputs = 0.5;
    const ScopedRounding rounding(losing);
    Tape tape;
    const Traced x = tape.input(-2.0);
    CHECK(x.value().error() == 1.0);
    check(gradient(tape, x, -x, 2.0), -2.0, 1.5, 3.5, 0.0);
}

TEST_CASE(
    "a gradient without a bound may be infinite where the reference's own factors are beyond") {
    const ScopedRounding rounding(up_to_8);
    Tape tape;
    const Traced x = tape.input(1.0);
    const auto may_be_infinite = [&](const Traced& y, double cotangent) {
        const Bounded by_x = gradient(tape, x, y, cotangent);
        CHECK(std::isinf(by_x.error()));
        return by_x.may_be_infinite();
    };
    CHECK(may_be_infinite(x, 8.5));
    CHECK(may_be_infinite(x * constant(9.0, 10.0), 0.5));
    CHECK(may_be_infinite(x * constant(5.0), 2.0));
    CHECK_FALSE(may_be_infinite(x * constant(8.0), 1.0));
    CHECK_FALSE(may_be_infinite(x * constant(3.0, 2.0), 2.0));
    // A zero that met one is no number from there on.
    CHECK(may_be_infinite(x * constant(2.0) * constant(9.0) * constant(0.0), 1.0));
}

TEST_CASE("a computed factor of a carried product may be got from each saved output behind it") {
    const ScopedRounding exact(
        Rounding{.unit_roundoff = 0.0, .smallest_normal = 0.0, .loss_of_saved = 0.5});
    Tape::Meetings meetings;
    Tape tape(&meetings);
    const Traced x = tape.input(2.0), c = tape.input(8.0);
    const Traced factor = x + Traced(2.0), left = Traced(1.0) * factor, shaded = left * c;
    // Here it is multiplied on, and here it is not.
    const Traced both = shaded + left * factor, apart = factor * c;
    const Traced plain = apart + shaded;
    const auto errors = [&](const std::vector<Tape::Seed>& seeds) {
        const auto gradients = tape.bounded_gradients(seeds);
        return std::pair(gradients[static_cast<std::size_t>(x.node())].error(),
                         gradients[static_cast<std::size_t>(c.node())].error());
    };
    CHECK(errors({{shaded.node(), 1.0}, {both.node(), 1.0}}) == std::pair(0.0, 0.0));
    // An output on several ways counts once; an input is no factor that was computed.
    CHECK(errors({{shaded.node(), 1.0, 0.5}, {both.node(), 1.0, 0.25}}) == std::pair(0.1875, 0.0));
    CHECK(errors({{plain.node(), 1.0, 0.5}}) == std::pair(0.125, 0.0));
    CHECK(errors({{apart.node(), 1.0}, {shaded.node(), 1.0, 0.5}}) == std::pair(0.125, 0.0));
    // Nothing is made of the last factor, -4, but what it was made of leads to an output.
    (void)(shaded * (Traced(-2.0) - (x + Traced(0.0))));
    CHECK(errors({{shaded.node(), 1.0, 0.5}}) == std::pair(0.25, 0.0));
}

TEST_CASE("a factor is got from saved outputs where its product is carried on, and only there") {
    // x = 2 leads to the factor 4, by which an output that is off by 0.5 may have x off by 0.125.
    struct Scene {
        Traced x, c, factor, left;
    };
    using Build = Traced (*)(const Scene&);
    const auto error_of = [](Build build, double loss_of_saved = 0.5, bool is_second_run = true) {
        const ScopedRounding exact(
            Rounding{.unit_roundoff = 0.0, .smallest_normal = 0.0, .loss_of_saved = loss_of_saved});
        Tape::Meetings meetings;
        Tape tape(is_second_run ? &meetings : nullptr);
        const Traced x = tape.input(2.0), c = tape.input(8.0), factor = x + Traced(2.0);
        const Traced y = build({x, c, factor, Traced(1.0) * factor});
        const std::vector<Tape::Seed> seeds{{Tape::constant, 1.0, 0.5}, {y.node(), 1.0, 0.5}};
        return tape.bounded_gradients(seeds)[static_cast<std::size_t>(x.node())].error();
    };
    const Build carried_on[] = {
        [](const Scene& s) { return s.left + Traced(1.0); },
        [](const Scene& s) { return Traced(1.0) - s.left; },
        [](const Scene& s) { return s.c * Traced(3.0) * s.factor + Traced(1.0) + s.left; },
        [](const Scene& s) { return s.factor * (s.c * Traced(3.0)) + Traced(1.0) + s.left; },
        // Or it is not used any more.
        [](const Scene& s) { return s.factor + Traced(1.0); },
    };
    for (const Build& build : carried_on) {
        CAPTURE(&build - carried_on);
        CHECK(error_of(build) == 0.125);
        CHECK(error_of(build, 0.0) == 0.0);
        CHECK(error_of(build, 0.5, false) == 0.0);
    }
    const Build others[] = {
        [](const Scene& s) { return s.left + Traced(0.0); },
        [](const Scene& s) { return Traced(0.0) + s.left; },
        [](const Scene& s) { return s.left + s.x; },
        [](const Scene& s) { return s.x + s.left; },
        [](const Scene& s) { return s.left * s.c; },
        [](const Scene& s) { return s.factor * s.factor + Traced(1.0) + s.left; },
        // A number that is no product meets one, and two numbers are multiplied beside one.
        [](const Scene& s) {
            const Traced y = s.left + s.x;
            return s.factor + Traced(1.0), y;
        },
        [](const Scene& s) {
            const Traced sum = s.x + Traced(3.0);
            return Traced(2.0) * Traced(3.0), sum * s.factor + Traced(1.0) + s.left;
        },
        // What it is carried on to leads to no output.
        [](const Scene& s) {
            const Traced y = s.x + s.x;
            return s.left + Traced(1.0), y;
        },
        // Nothing is divided by a factor of zero.
        [](const Scene& s) { return Traced(1.0) * (s.x - Traced(2.0)) + Traced(1.0) + s.left; },
    };
    for (const Build& build : others) {
        CAPTURE(&build - others);
        CHECK(error_of(build) == 0.0);
    }
}

TEST_CASE("of more than 64 saved outputs behind a factor all from the first to the last count") {
    // The seeds are off by 1, those that the factor does not lead to, at either end and between, by
    // more.
    const auto error_of = [](int behind, double at_ends, bool is_reversed, bool is_apart = false) {
        const ScopedRounding exact(
            Rounding{.unit_roundoff = 0.0, .smallest_normal = 0.0, .loss_of_saved = 0.5});
        Tape::Meetings meetings;
        Tape tape(&meetings);
        const Traced x = tape.input(2.0), other = -tape.input(1.0), factor = x + Traced(2.0),
                     left = Traced(1.0) * factor;
        std::vector<Tape::Seed> seeds{{other.node(), 1.0, at_ends}};
        for (int i = 0; i < behind; ++i) {
            const Traced& last = is_apart && i + 1 == behind ? factor : left;
            seeds.push_back({(last + Traced(1.0)).node(), i == 0 ? 1.0 : 0.0, 1.0});
            if (i == 3) seeds.push_back({other.node(), 1.0, 100.0});
            if (i == 4) seeds.push_back({(left + Traced(1.0)).node(), 0.0});
        }
        seeds.push_back({other.node(), 1.0, 1000.0});
        if (is_reversed) std::ranges::reverse(seeds);
        return tape.bounded_gradients(seeds)[static_cast<std::size_t>(x.node())].error();
    };
    for (const bool is_reversed : {false, true}) {
        CHECK(error_of(2, 1000.0, is_reversed) == 0.5);
        CHECK(error_of(64, 1000.0, is_reversed) == 16.0);
        CHECK(error_of(65, 1000.0, is_reversed) == 41.25);
        CHECK(error_of(66, 1000.0, is_reversed) == 41.5);
        CHECK(error_of(66, 1000.0, is_reversed, true) == 41.5);
        CHECK(error_of(64, INFINITY, is_reversed) == 16.0);
    }
    // How far one is off without a limit is not told from those before it.
    CHECK(error_of(66, INFINITY, false) == INFINITY);
    CHECK(error_of(66, INFINITY, true) == 41.5);
}

TEST_CASE("links into one value add up, and count an addition each but the first") {
    const ScopedRounding rounding(coarse);
    Tape tape;
    const Traced x = tape.input(5.0);
    check(gradient(tape, x, x + x, 2.0), 4.0, 0.0, 4.0, 1.0);
    check(gradient(tape, x, x - x, 2.0), 0.0, 0.0, 4.0, 1.0);
    check(gradient(tape, x, x + x + x, 1.0), 3.0, 0.0, 3.0, 2.0);
    // On top of the longest chain alone.
    const Traced one = x * constant(2.0), two = one * constant(2.0);
    CHECK(gradient(tape, x, x + one + two, 1.0).value() == 7.0);
    CHECK(gradient(tape, x, x + one + two, 1.0).additions() == 4.0);
    CHECK(gradient(tape, x, two + one + x, 1.0).additions() == 4.0);
    // An operation that leads to no output is no path.
    const Traced unused = x * constant(3.0);
    check(gradient(tape, x, -x, 1.0), -1.0, 0.0, 1.0, 0.0);
    check(gradient(tape, unused, -x, 1.0), 0.0, 0.0, 0.0, 0.0);
    const Traced soon = -x, late = x * constant(2.0);
    CHECK(gradient(tape, x, soon + late, 1.0).additions() == 2.0);
}

TEST_CASE("cotangents of one value add up, and those of constants and zeros are none") {
    const ScopedRounding rounding(coarse);
    Tape tape;
    const Traced x = tape.input(5.0), y = -x;
    const std::vector<Tape::Seed> seeds{
        {y.node(), 2.0}, {Tape::constant, 9.0}, {y.node(), -5.0}, {x.node(), 0.0}};
    CHECK(tape.gradients(seeds) == std::vector<double>{3.0, -3.0});
    const std::vector<Bounded> bounded = tape.bounded_gradients(seeds);
    check(bounded[0], 3.0, 0.0, 7.0, 1.0);
    check(bounded[1], -3.0, 0.0, 7.0, 1.0);
    CHECK(tape.size() == 2);
}

TEST_CASE("a slope of zero is no path") {
    const ScopedRounding rounding(coarse);
    Tape tape;
    const Traced x = tape.input(5.0), zero = tape.input(0.0);
    check(gradient(tape, x, x + x * constant(0.0), 2.0), 2.0, 0.0, 2.0, 0.0);
    // A slope that is zero within an error is one.
    check(gradient(tape, x, x * constant(0.0, 1.0), 2.0), 0.0, 2.5, 4.5, 1.0);
    const Traced steep = sqrt(zero);
    CHECK(gradient(tape, zero, steep, 1.0).value() == INFINITY);
    CHECK(gradient(tape, zero, constant(0.0) * steep + zero, 1.0).value() == 1.0);
    // The value cancels, its error does not.
    const Traced cancelled = steep * constant(0.0, 1.0);
    const Tape::Seed seed{cancelled.node(), 1.0};
    CHECK(tape.bounded_gradients({&seed, 1})[1].value() == 0.0);
    CHECK(tape.bounded_gradients({&seed, 1})[1].error() == INFINITY);
    const Traced off_zero = sqrt(x * constant(0.0, 1.0));
    const Tape::Seed off_seed{off_zero.node(), 1.0};
    CHECK(tape.bounded_gradients({&off_seed, 1})[0].value() == 0.0);
    // Nor is a path none whose size underflows: its error does not.
    const Traced least = x * constant(1e-200) * constant(1e-200) * constant(1e-200);
    CHECK(gradient(tape, x, least, 1.0).error() >= 0.5);
}

TEST_CASE("where zero meets a factor that may be infinite, kernels' product may be anything") {
    const ScopedRounding rounding(up_to_8);
    Tape tape;
    const Traced x = tape.input(0.0), unused = sqrt(x) * constant(2.0), other = -x;
    const auto has_bound = [&](const Traced& y, double cotangent) {
        return std::isfinite(gradient(tape, x, y, cotangent).error());
    };
    // A slope that is infinite, is no number, or overflows, after a zero.
    CHECK_FALSE(has_bound(sqrt(x), 0.0));
    CHECK_FALSE(has_bound(-sqrt(x), 0.0));
    CHECK_FALSE(has_bound(x + sqrt(x) * constant(0.0), 1.0));
    CHECK_FALSE(has_bound(x / constant(0.0), 0.0));
    CHECK_FALSE(has_bound(x * constant(9.0), 0.0));
    CHECK_FALSE(has_bound(x * constant(1.0, 8.0), 0.0));
    // And before one, or before a small factor: in another order nothing overflows.
    CHECK_FALSE(has_bound(x * constant(0.125) * constant(7.0) * constant(4.0), 1.0));
    CHECK(has_bound(x * constant(7.0) * constant(0.125) * constant(4.0), 1.0));
    CHECK_FALSE(has_bound(x * constant(0.0) * constant(9.0), 1.0));
    CHECK(has_bound(x * constant(0.0) * constant(7.0), 1.0));
    // What reaches a zero: an overflow further on, a cotangent, paths that add up with errors.
    const Traced none = x * constant(0.0);
    CHECK_FALSE(has_bound(none * constant(0.125) * constant(9.0), 1.0));
    CHECK(has_bound(none, 8.0));
    CHECK_FALSE(has_bound(none, 8.5));
    CHECK_FALSE(has_bound(none * constant(2.0) + none * constant(2.0), 2.0));
    CHECK(has_bound(none * constant(2.0) + none * constant(1.0), 2.0));
    // A product is beyond the largest number with its error.
    CHECK_FALSE(has_bound(x * constant(0.125) * constant(8.0), 1.0));
    // Operations on the way to no output, or in the branch not taken, do no harm.
    CHECK(has_bound(other, 0.0));
    CHECK(has_bound(max(other, other - constant(1.0)), 1.0));
    check(gradient(tape, unused, other, 1.0), 0.0, 0.0, 0.0, 0.0);
    check(gradient(tape, x, x * constant(7.0), 0.0), 0.0, 0.0, 0.0, 0.0);
}

TEST_CASE("a gradient that may be beyond the largest number has no bound") {
    const ScopedRounding rounding(up_to_8);
    Tape tape;
    const Traced x = tape.input(1.0);
    CHECK(gradient(tape, x, -x, 8.0).error() == 0.0);
    CHECK(gradient(tape, x, -x, 8.5).error() == INFINITY);
    CHECK(gradient(tape, x, x, 8.0).error() == 0.0);
    CHECK(gradient(tape, x, x, 8.5).error() == INFINITY);
    CHECK(std::isfinite(gradient(tape, x, x * constant(3.0, 0.25), 2.0).error()));
    // 6 + 2 is not beyond it, but with the error of 2.5 it is.
    CHECK(gradient(tape, x, x * constant(3.0, 1.0), 2.0).error() == INFINITY);
    // So are 4 and 4 with an error each; to halve them afterwards comes too late.
    const Bounded sum = gradient(tape, x, x * constant(2.0) + x * constant(2.0), 2.0);
    CHECK((sum * Bounded(0.5)).error() == INFINITY);
}

TEST_CASE("tapes may be nested: a value is recorded on the one that was made last") {
    Tape outer;
    const Traced x = outer.input(1.0);
    {
        Tape inner;
        static_cast<void>(-inner.input(2.0));
        CHECK(inner.size() == 2);
    }
    CHECK((-x).node() == 1);
    CHECK(outer.size() == 2);
}

TEST_CASE("what is computed of constants is constant, and a node for everything else") {
    // A forward function may make constants of its own before any tape is there.
    CHECK((Traced(3.0) / Traced(2.0) + Traced(1.0)).value().value() == 2.5);
    Tape tape;
    const Traced x = tape.input(3.0);
    CHECK(Traced(2.0).is_constant());
    CHECK(Traced().is_constant());
    CHECK_FALSE(x.is_constant());
    for (const Traced& y : {-Traced(2.0), Traced(2.0) * Traced(3.0), exp(Traced(1.0))})
        CHECK(y.is_constant());
    CHECK(tape.size() == 1);
    for (const Traced& y : {x * Traced(2.0), Traced(2.0) * x, exp(x)}) CHECK_FALSE(y.is_constant());
    Traced sum = x, difference = x, product = x, quotient = x;
    sum += Traced(2.0), difference -= Traced(2.0), product *= Traced(2.0), quotient /= Traced(2.0);
    CHECK(sum.value().value() + difference.value().value() == 6.0);
    CHECK(may_jump(constant(1.0, 0.5)));
    CHECK_FALSE(may_jump(constant(1.0)));
    CHECK(product.value().value() * quotient.value().value() == 9.0);
    // A whole constant exponent takes a negative base, which has no logarithm.
    CHECK(gradient(tape, x, pow(-x, Traced(3.0)), 1.0).value() == -27.0);
}

TEST_CASE("values on the tape are compared by value; ties and what errors could turn are noted") {
    Tape tape;
    const std::vector<Traced> numbers{tape.input(1.0), tape.input(1.5), tape.input(4.0)};
    for (std::size_t i = 0; i < numbers.size(); ++i)
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            const Traced &a = numbers[i], &b = numbers[j];
            INFO(i, " and ", j);
            const ScopedDecisions decisions;
            CHECK((a < b) == (i < j));
            CHECK((a > b) == (i > j));
            CHECK((a <= b) == (i <= j));
            CHECK((a >= b) == (i >= j));
            CHECK((a == b) == (i == j));
            CHECK(decisions.made().ties == (i == j ? 5 : 0));
            CHECK(decisions.made().undecided == 0);
        }
    const auto noted = [](const Traced& a, const Traced& b) {
        const ScopedDecisions decisions;
        static_cast<void>(a < b);
        return std::pair(decisions.made().ties, decisions.made().undecided);
    };
    using Noted = std::pair<std::int64_t, std::int64_t>;
    const Traced exact = tape.input(1.0), one(off(1.0, 0.25), exact.node());
    CHECK(noted(one, constant(1.5, 0.25)) == Noted(0, 1));
    CHECK(noted(constant(1.5, 0.25), one) == Noted(0, 1));
    CHECK(noted(one, constant(1.5, 0.125)) == Noted(0, 0));
    CHECK(noted(one, exact) == Noted(0, 1));
    CHECK(noted(exact, one) == Noted(0, 1));
    CHECK(noted(exact, constant(1.0)) == Noted(1, 0));
    CHECK(noted(constant(1.0), exact) == Noted(1, 0));
    // Which of two constants is larger can't depend on the inputs, but may on their rounding.
    CHECK(noted(constant(1.0), constant(1.0)) == Noted(0, 0));
    CHECK(noted(constant(1.0, 1.0), constant(1.0)) == Noted(0, 1));
}

TEST_CASE("a maximum, a minimum and an absolute value hand the gradient to what they chose") {
    const ScopedRounding rounding(coarse);
    Tape tape;
    const Traced less = tape.input(-2.0), more = tape.input(3.0);
    const auto check_choice = [&](const Traced& result, const Traced& chosen, const Traced& other) {
        CHECK(result.value().value() == chosen.value().value());
        check(gradient(tape, chosen, result, 2.0), 2.0, 0.0, 2.0, 0.0);
        CHECK(gradient(tape, other, result, 2.0).magnitude() == 0.0);
    };
    for (const Traced& largest : {max(less, more), max(more, less)})
        check_choice(largest, more, less);
    for (const Traced& least : {min(less, more), min(more, less)}) check_choice(least, less, more);
    check(gradient(tape, less, abs(less), 2.0), -2.0, 0.0, 2.0, 0.0);
    check(gradient(tape, more, abs(more), 2.0), 2.0, 0.0, 2.0, 0.0);
    CHECK(abs(less).value().value() == 2.0);
    // At a tie each has half of it, give or take half; each is a product like any other.
    const Traced same = tape.input(3.0);
    check(gradient(tape, more, max(same, more), 2.0), 1.0, 1.5, 3.5, 1.0);
    check(gradient(tape, same, max(same, more), 2.0), 1.0, 1.5, 3.5, 1.0);
    const Traced zero = tape.input(0.0);
    check(gradient(tape, zero, abs(zero), 2.0), 0.0, 2.5, 4.5, 1.0);
    // A value within its error of zero may lie on either side.
    const Traced near(off(1.0, 1.0), less.node()), away(off(1.0, 0.5), less.node());
    check(gradient(tape, less, abs(near), 2.0), 0.0, 2.5, 4.5, 1.0);
    check(gradient(tape, less, abs(away), 2.0), 2.0, 0.0, 2.0, 0.0);
}

TEST_CASE(
    "of each value its largest sum with one or two others is noted, of an input with constants") {
    Tape::Meetings largest;
    Tape tape(&largest);
    const Traced x = tape.input(1.0), y = tape.input(2.0), z = tape.input(0.5);
    const Traced four = constant(4.0) * x, sixteen = y * constant(8.0), sum = four - sixteen;
    const Traced of_three = sum + x;
    for (const Traced& none : {x + y, of_three + y}) CHECK_FALSE(none.is_constant());
    for (const Traced& smaller : {four + constant(1.0), log1p(sixteen)})
        CHECK_FALSE(smaller.is_constant());
    CHECK_FALSE(log1p(z).is_constant());
    const auto noted = [&](const Traced& value) {
        const auto node = static_cast<std::size_t>(value.node());
        return node < largest.size() ? largest[node] : 0.0;
    };
    CHECK(noted(x) == 0.0);
    CHECK(noted(y) == 0.0);
    CHECK(noted(z) == 1.5);
    CHECK(noted(four) == 20.0);
    CHECK(noted(sixteen) == 20.0);
    CHECK(noted(sum) == 21.0);
    CHECK(noted(of_three) == 0.0);
}

TEST_CASE("a function of ones, and its slope, may lose eight roundings of themselves, or of one") {
    const auto errors_at = [](double at, bool by_any_formula) {
        const ScopedRounding scope(by_any_formula ? Rounding().by_any_formula() : Rounding());
        Tape tape;
        const Traced x = tape.input(at), y = expm1(x);
        return std::pair(y.value().error(), gradient(tape, x, y, 1.0).error());
    };
    for (const double at : {-3.0, 3.0}) {
        const auto own = errors_at(at, false), any = errors_at(at, true);
        const auto lost_of = [](double size) {
            return doctest::Approx(Rounding().gamma(8.0) * size).epsilon(1e-5).scale(0.0);
        };
        const double value = std::abs(std::expm1(at)), slope = std::exp(at);
        CHECK(any.first - own.first == lost_of(std::max(1.0, value)));
        // The gradient may lose as much of itself once more.
        CHECK(any.second - own.second == lost_of(std::max(1.0, slope) + slope));
    }
}

TEST_CASE("on tensor cores what came and the slope are cut where they are multiplied") {
    Rounding cutting = coarse;
    cutting.factor_truncation = 0.25;
    cutting.factor_unit = 0.125;  // numbers of three digits are exact
    const ScopedRounding rounding(cutting);
    Tape tape;
    const Traced x = tape.input(5.0);
    check(gradient(tape, x, constant(3.0) * x, 2.0), 6.0, 0.5, 6.5, 1.0);
    check(gradient(tape, x, constant(9.0) * x, 2.0), 18.0, 4.5 + 0.5, 18.0 + 5.0, 1.0);
    check(gradient(tape, x, constant(2.0) * x, 9.0), 18.0, 4.5 + 0.5, 18.0 + 5.0, 1.0);
    const double both = 2 * 0.25 + 0.25 * 0.25;
    check(gradient(tape, x, constant(9.0) * x, 9.0), 81.0, both * 81.0 + 0.5,
          (1.0 + both) * 81.0 + 0.5, 1.0);
    // Nothing is cut unless it is multiplied.
    check(gradient(tape, x, -x, 9.0), -9.0, 0.0, 9.0, 0.0);
    // A link's result has any digits.
    const Traced twice = (constant(2.0) * x) * constant(3.0);
    const double second = 3.0 * 0.0 + 0.5, path = 6.0 + second;
    check(gradient(tape, x, twice, 2.0), 12.0, second * 2.0 + 0.5 + 0.25 * path * 2.0,
          12.0 + second * 2.0 + 0.5 + 0.25 * path * 2.0, 2.0);
    // So has a sum of paths, there or further on.
    const Traced doubled = constant(2.0) * x, opposite = -doubled;
    const double summed = 0.5 + 0.25 * 4.0 * 2.0;
    check(gradient(tape, x, doubled + doubled, 2.0), 8.0, summed, 8.0 + summed, 2.0);
    check(gradient(tape, x, opposite + opposite, 2.0), -8.0, summed, 8.0 + summed, 2.0);
}

TEST_CASE("what a cut loses of a factor's smallest digits grows with the other factor") {
    Rounding cutting = coarse;
    cutting.factor_truncation = 0.25;
    cutting.factor_unit = 0.125;
    cutting.factor_underflow = 0.5;
    const ScopedRounding rounding(cutting);
    Tape tape;
    const Traced x = tape.input(5.0);
    const double one = 0.25 * 18.0 + 0.5 * 2.0 + 0.5, both = (2 * 0.25 + 0.25 * 0.25) * 81.0;
    check(gradient(tape, x, constant(3.0) * x, 2.0), 6.0, 0.5, 6.5, 1.0);
    check(gradient(tape, x, constant(9.0) * x, 2.0), 18.0, one, 18.0 + one, 1.0);
    check(gradient(tape, x, constant(2.0) * x, 9.0), 18.0, one, 18.0 + one, 1.0);
    check(gradient(tape, x, constant(9.0) * x, 9.0), 81.0, both + 0.5 * 18.0 + 0.5,
          81.0 + both + 0.5 * 18.0 + 0.5, 1.0);
}

TEST_CASE("the slope of a power is off by what its exponent is, twice, unless that is whole") {
    const ScopedRounding exact(Rounding{.unit_roundoff = 0.0, .smallest_normal = 0.0});
    const auto slope_of = [](double base, double power, double error, bool is_constant) {
        Tape tape;
        const Traced x = tape.input(base), off_by = constant(power, error);
        return gradient(tape, x, pow(x, is_constant ? off_by : tape.input(0.0) + off_by), 1.0);
    };
    // 0.25 of 0.5 4^-0.5 and of what lies within 4^-0.25.
    const Bounded root = slope_of(4.0, 0.5, 0.25, true);
    CHECK(root.value() == 0.25);
    CHECK(root.error() == doctest::Approx(0.75 * std::pow(4.0, -0.25) - 0.25));
    const Bounded square = slope_of(4.0, 2.0, 0.25, false);
    CHECK(square.value() == 8.0);
    CHECK(square.error() == doctest::Approx(2.25 * std::pow(4.0, 1.25) - 8.0));
    CHECK(slope_of(4.0, 0.0, 0.25, false).error() == doctest::Approx(0.25 * std::pow(4.0, -0.75)));
    CHECK(slope_of(4.0, 2.0, 0.0, true).error() == 0.0);
}

TEST_CASE("the slope of a whole power has a bound where the number may be of either sign") {
    const ScopedRounding rounding(Rounding::of(DType::f32));
    for (const double value : {0.0, 0.125}) {
        Tape tape;
        const Traced x = tape.input(value), near = x + constant(0.0, 0.5);
        check(gradient(tape, x, pow(near, constant(0.0)), 2.0), 0.0, 0.0, 0.0, 0.0);
        CHECK(pow(Dual(value, 1.0), Dual(0.0)).tangent() == 0.0);
        for (const double power : {1.0, 2.0, 3.0})
            CHECK(std::isfinite(gradient(tape, x, pow(near, constant(power)), 2.0).error()));
    }
}
