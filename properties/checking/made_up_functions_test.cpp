// SPDX-License-Identifier: Apache-2.0
// A gradient along directions of functions whose values, derivatives, branches and kinks are made
// up one by one: which of them contradict themselves, and between which slopes a gradient passes.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "harness/base/random.hpp"
#include "properties/checking/directions.hpp"
#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// A function of the elements of x, moved along a direction.
using Along =
    std::function<ValueAlong(const std::vector<double>& x, const std::vector<double>& direction)>;

/// What it returns is asked of a case of `toy` whose x has this number of elements.
template <class Ask>
auto in_case(Operator op, std::int64_t elements, const std::string& data, const Ask& ask) {
    const Registry registry = registry_of({toy_kernel("any")}, std::move(op));
    Scene scene(registry, "toy.forward/any", fmt::format("n=1,in={}:{}", elements, data),
                ValueKind::mantissas);
    return ask(scene);
}

Operator toy_along(Along along, double work = 1.0) {
    Operator op = toy_operator();
    op.passes.front().multiply_adds = [work](const Problem&) { return work; };
    for (PassSpec& pass : op.passes) pass.reduction_length = [](const Problem&) { return 1; };
    op.along = [along](const Problem&, Inputs<double> inputs, std::size_t,
                       const Array<double>& direction,
                       Inputs<double>) { return along(inputs[0].data, direction.data); };
    return op;
}

BoundedGradient gradient_of(std::vector<double> values, std::vector<Bound> bounds,
                            std::vector<double> by_branches) {
    const auto size = static_cast<std::int64_t>(values.size());
    return {"x", {{1, size}, std::move(values)}, std::move(bounds), std::move(by_branches)};
}

/// How a gradient ends, with each element exactly as it is or within a bound.
Outcome outcome_of(const Along& along, const std::vector<double>& values,
                   std::vector<Bound> bounds = {}, double by_branches = nan) {
    bounds.resize(values.size());
    const auto gradient =
        gradient_of(values, bounds, std::vector<double>(values.size(), by_branches));
    return in_case(
        toy_along(along), gradient.values.size(1), "data=zeros",
        [&](CaseContext& context) { return matches_derivatives_along(context, {gradient}); });
}

// ---- values against derivatives

/// A function as it is after a step along whatever direction.
using AtStep = std::function<ValueAlong(double step)>;

struct Surroundings {
    std::vector<double> x{0.0}, dy{0.0};
    /// The steps from zero to where the domain of x ends.
    double reach = INFINITY;
};

bool contradicts_itself(const AtStep& at, const Surroundings& given = {}) {
    ValueDomain domain;
    Operator op = toy_along([&](const auto& x, const auto& direction) {
        const double from = x[0], along = direction[0];
        if (from != 0.0) return at(from / along);
        if (along != 0.0) domain.highest = given.reach * std::abs(along);
        return at(0.0);
    });
    op.inputs.front().may_be_nan = true;
    op.inputs.front().domain = [&](const Problem&) { return domain; };
    std::string data;
    for (std::size_t i = 0; i < given.x.size(); ++i)
        data += fmt::format("{}x[{}]={},dy[{}]={}", i == 0 ? "data=" : ",", i, given.x[i], i,
                            given.dy[i]);
    // Whatever the kernel gave, it is not charged.
    const auto gradient = gradient_of(std::vector<double>(given.x.size(), 0.0),
                                      std::vector<Bound>(given.x.size(), 1e300),
                                      std::vector<double>(given.x.size(), nan));
    return in_case(std::move(op), gradient.values.size(1), data, [&](CaseContext& context) {
        const Verdict verdict = matches_derivatives_along(context, {gradient}).verdict;
        CHECK(verdict != Verdict::failed);
        return verdict == Verdict::errored;
    });
}

/// Steps are 2^-4, 2^-8, ... 2^-24; a function is looked at there, halfway, and just beside.
int exponent_of(double step) {
    return step == 0.0 ? 0 : static_cast<int>(std::lround(std::log2(std::abs(step))));
}
bool is_end(double step) { return exponent_of(step) % 4 == 0; }
bool is_half(double step) { return exponent_of(step) % 4 == -1; }
/// How far beside the end of a step, in 2^-20 of it.
long beside(double step) {
    return std::lround((std::abs(step) / std::exp2(exponent_of(step)) - 1.0) * 0x1p20);
}

}  // namespace

TEST_CASE("values jump by no more than the rounding of the numbers that they were made from") {
    struct Line {
        std::vector<double> x, dy;
        double magnitude, size;
    };
    for (const Line& line :
         {Line{{0}, {0}, 0, 0}, Line{{0}, {3}, 0, 3}, Line{{0}, {3}, 7, 10},
          Line{{0, -5, 2}, {1, -2, 0.5}, 0, 17.5}, Line{{0, INFINITY, 3}, {0, 0, 1}, 0, 3}}) {
        const auto jumps_by = [&](double jump) {
            return contradicts_itself(
                [&](double step) {
                    return ValueAlong{.value = std::copysign(jump, step),
                                      .magnitude = line.magnitude};
                },
                {.x = line.x, .dy = line.dy});
        };
        const double rounding = 0x1p-36 * line.size;
        CAPTURE(line.size);
        CHECK_FALSE(jumps_by(rounding));
        CHECK(jumps_by(std::nextafter(rounding, 1.0)));
    }
}

TEST_CASE("rounding that is seen beside either end of a step counts a hundredfold") {
    for (const double side : {-1.0, 1.0})
        for (int where = 1; where <= 4; ++where) {
            const auto jumps_by = [&](double jump) {
                return contradicts_itself([&](double step) {
                    const bool is_there = is_end(step) && beside(step) == where && step * side > 0;
                    return ValueAlong{.value = std::copysign(jump, step) + is_there};
                });
            };
            CAPTURE(side);
            CAPTURE(where);
            CHECK_FALSE(jumps_by(100.0));
            CHECK(jumps_by(100.5));
        }
}

TEST_CASE("where a domain ends just behind a step, its rounding is not known") {
    const auto jumps = [](double step) { return ValueAlong{.value = std::copysign(1.0, step)}; };
    CHECK_FALSE(contradicts_itself(jumps, {.reach = 0x1p-4 * (1.0 + 0x1p-21)}));
    CHECK(contradicts_itself(jumps, {.reach = 0x1p-4 * (1.0 + 0x1p-17)}));
}

TEST_CASE("a difference tells where the derivative changes by at most a hundredth of itself") {
    // At the point, and a step and a half of one to either side.
    using Derivatives = std::array<double, 5>;
    const auto contradicts = [](const Derivatives& of, double slope) {
        return contradicts_itself([&](double step) {
            const std::size_t which = step == 0.0     ? 0
                                      : is_half(step) ? (step < 0 ? 2 : 3)
                                      : !is_end(step) ? 0
                                                      : (step < 0 ? 1 : 4);
            return ValueAlong{.value = slope * step, .derivative = of[which]};
        });
    };
    for (const double slope : {0.9991, 1.0009}) CHECK_FALSE(contradicts({1, 1, 1, 1, 1}, slope));
    for (const double slope : {0.9989, 1.0011}) CHECK(contradicts({1, 1, 1, 1, 1}, slope));
    constexpr std::array<double, 5> weights{12, 7, 32, 32, 7};
    for (const double sign : {-1.0, 1.0}) {
        CHECK(contradicts({sign, sign, sign, sign, 1.01005 * sign}, 2.0));
        for (std::size_t which = 0; which < weights.size(); ++which) {
            CAPTURE(sign);
            CAPTURE(which);
            for (const double change : {-0.02, 0.02}) {
                Derivatives of{sign, sign, sign, sign, sign};
                of[which] += change;
                CHECK_FALSE(contradicts(of, 2.0));
            }
            for (const double change : {-0.009, 0.009}) {
                Derivatives of{sign, sign, sign, sign, sign};
                of[which] += change;
                const double mean = sign + weights[which] / 90.0 * change;
                // The mean may be off by a fifth of the change.
                for (const double off : {-0.0027, 0.0, 0.0027})
                    CHECK_FALSE(contradicts(of, mean + off));
                for (const double off : {-0.0029, 0.0029}) CHECK(contradicts(of, mean + off));
            }
        }
    }
}

TEST_CASE("a difference tells nothing across a branch, a kink, an end, or where a value is none") {
    using Fault = void (*)(double step, ValueAlong& point);
    const auto with = [](Fault fault) {
        return [fault](double step) {
            ValueAlong point{.value = 2.0 * step, .derivative = 1.0};
            fault(step, point);
            return point;
        };
    };
    CHECK(contradicts_itself(with([](double, ValueAlong&) {})));
    CHECK_FALSE(contradicts_itself(with([](double, ValueAlong&) {}), {.reach = 0x1p-26}));
    const Fault branches = [](double step, ValueAlong& point) { point.branches = step > 0.0; };
    const Fault kinks = [](double step, ValueAlong& point) {
        point.is_kink = step == 0.0;
        point.terms = {1.0};
    };
    for (const Fault fault : {branches, kinks}) CHECK_FALSE(contradicts_itself(with(fault)));
    for (double ValueAlong::* const member : {&ValueAlong::derivative, &ValueAlong::magnitude})
        for (const auto is_there : {+[](double step) { return step == 0.0; }, &is_half})
            CHECK_FALSE(contradicts_itself([&](double step) {
                ValueAlong point{.value = 2.0 * step, .derivative = 1.0};
                if (is_there(step)) point.*member = nan;
                return point;
            }));
}

TEST_CASE("any of the steps may tell alone, down to the last") {
    for (int only = -4; only >= -28; only -= 4) {
        CAPTURE(only);
        CHECK(contradicts_itself([&](double step) {
                  const int exponent = exponent_of(step);
                  const bool tells = step == 0.0 || exponent == only || exponent == only - 1;
                  return ValueAlong{.value = 2.0 * step, .derivative = 1.0, .branches = !tells};
              }) == (only >= -24));
    }
}

TEST_CASE("a function that jumps within the first step agrees at a later one, beyond rounding") {
    struct Line {
        double derivative, first, later, rounding;
        bool contradicts;
    };
    // The rounding is told at the second step, and is 16 times as large at each that follows.
    for (const Line& line : {Line{1, 1, 1.5, 0, false}, Line{1, 1.5, 1, 0.125, false},
                             Line{1, 1.5, 1, 0.2, false}, Line{1, 1.5, 1, 0.3, true},
                             Line{0, 0.5, 0, 0.25, true}, Line{0, 0.5, 0, 0.2499, false}}) {
        CAPTURE(line.rounding);
        CHECK(contradicts_itself([&](double step) {
                  const bool is_first = exponent_of(step) >= -5;
                  return ValueAlong{.value = (is_first ? line.first : line.later) * step,
                                    .magnitude = line.rounding * 0x1p+28,
                                    .derivative = line.derivative};
              }) == line.contradicts);
    }
}

// ---- gradients against derivatives

TEST_CASE("a smooth gradient is the derivative, but for its bound and a double's rounding") {
    struct Line {
        std::vector<double> slopes, gradient;
        std::vector<Bound> bounds;
        Verdict verdict;
    };
    const double small = 0x1p-10;
    for (const Line& line : {
             Line{{1}, {1 + 0x1p-41}, {}, Verdict::passed},
             Line{{1}, {1 + 0x1p-39}, {}, Verdict::failed},
             Line{{small}, {small * (1 + 0x1p-41)}, {}, Verdict::passed},
             Line{{small}, {small * (1 + 0x1p-38)}, {}, Verdict::failed},
             Line{{1}, {INFINITY}, {}, Verdict::failed},
             Line{{1}, {nan}, {}, Verdict::failed},
             Line{{nan}, {5}, {}, Verdict::vacuous},
             // However far another element may be off.
             Line{{1, 0}, {1 + 0x1p-41, 7}, {0.0, INFINITY}, Verdict::passed},
             Line{{1, 0}, {1.001, 7}, {0.0, INFINITY}, Verdict::failed},
             Line{{1, 0}, {1, 7}, {0.0, Bound::none()}, Verdict::passed},
             Line{{0, 1}, {7, 1}, {Bound::none(), 0.0}, Verdict::passed},
         }) {
        const auto along = [&](const auto& x, const auto& direction) {
            ValueAlong point;
            for (std::size_t i = 0; i < line.slopes.size(); ++i) {
                point.value += line.slopes[i] * x[i];
                point.derivative += line.slopes[i] * direction[i];
            }
            return point;
        };
        CAPTURE(line.gradient[0]);
        CHECK(outcome_of(along, line.gradient, line.bounds).verdict == line.verdict);
    }
}

TEST_CASE("at a kink the gradient lies between the sums of each output's two slopes") {
    // The slopes of two outputs, times their cotangents.
    struct Line {
        std::array<double, 2> right, left;
        double by_branches, low, high;
    };
    for (const Line& line :
         {Line{{1, -2}, {3, 1}, nan, -1, 4}, Line{{3, 1}, {1, -2}, nan, -1, 4},
          Line{{3, -2}, {1, 1}, nan, -1, 4}, Line{{3, -2}, {1, 1}, 2, -1, 4},
          Line{{3, -2}, {1, 1}, 6, -1, 6}, Line{{3, -2}, {1, 1}, -3, -3, 4},
          Line{{3, -2}, {1, 1}, INFINITY, -1, 4}, Line{{3, -2}, {1, 1}, -INFINITY, -1, 4},
          // No kink for a step backwards.
          Line{{3, -2}, {3, -2}, nan, 1, 1}}) {
        const auto along = [&](const auto& x, const auto& direction) {
            const double v = direction[0];
            const auto& slopes = v > 0.0 ? line.right : line.left;
            ValueAlong point{.derivative = v * (slopes[0] + slopes[1])};
            point.value = point.derivative / v * x[0];
            point.is_kink = x[0] == 0.0 && (v > 0.0 || line.left != line.right);
            if (point.is_kink) point.terms = {v * slopes[0], v * slopes[1]};
            return point;
        };
        CAPTURE(line.by_branches);
        CAPTURE(line.low);
        CAPTURE(line.high);
        const auto outcome = [&](double gradient) {
            return outcome_of(along, {gradient}, {}, line.by_branches);
        };
        CHECK(outcome(line.low).verdict != Verdict::failed);
        CHECK(outcome(line.high).verdict != Verdict::failed);
        for (const double beyond : {line.low - 1e-6, line.high + 1e-6}) {
            const Outcome wrong = outcome(beyond);
            REQUIRE(wrong.verdict == Verdict::failed);
            const WrongElement& element = wrong.worst.back();
            CHECK(element.tensor == "dx");
            CHECK(element.want == (line.low + line.high) / 2.0);
            CHECK(element.bound == doctest::Approx((line.high - line.low) / 2.0));
        }
    }
}

TEST_CASE("at a kink with an infinite slope to one side nothing is asked of a gradient") {
    for (const double steep : {-INFINITY, INFINITY}) {
        const auto along = [&](const auto&, const auto& direction) {
            const double v = direction[0], slope = v > 0.0 ? steep : 0.0;
            return ValueAlong{.derivative = v * slope, .is_kink = true, .terms = {v * slope}};
        };
        for (const double gradient : {nan, -7.0, 7.0})
            CHECK(outcome_of(along, {gradient}).verdict == Verdict::vacuous);
    }
}

TEST_CASE("numbers that any would do for are left out, but not what must be a number and is none") {
    Array<double> values{{3}, {5.0, nan, 5.0}};
    leave_out_unbounded({Bound::finite(), Bound::finite(), Bound(1.0)}, values);
    CHECK(values.data[0] == 0.0);
    CHECK(std::isnan(values.data[1]));
    CHECK(values.data[2] == 5.0);
}

TEST_CASE("a small gradient is compared element by element too, a large one along a few") {
    for (const std::int64_t elements : {2, 200}) {
        std::vector<std::vector<double>> met;
        const auto size = static_cast<std::size_t>(elements);
        const auto along = [&](const auto& x, const auto& direction) {
            if (x[0] == 0.0 && x[1] == 0.0)
                if (met.empty() || met.back() != direction) met.push_back(direction);
            return ValueAlong{};
        };
        CHECK(outcome_of(along, std::vector<double>(size, 0.0)).verdict == Verdict::vacuous);
        const auto drawn = [&](const char* purpose) {
            return draw_smooth_direction(filled<double>({1, elements}), mix_seed(0, purpose)).data;
        };
        REQUIRE(met.size() == (elements == 2 ? 4 : 3));
        CHECK(met[0] == drawn("x0"));
        CHECK(met[1] == drawn("x1"));
        if (elements == 2) {
            CHECK(met[2] == std::vector<double>{1.0, 0.0});
            CHECK(met[3] == std::vector<double>{0.0, 1.0});
            continue;
        }
        const auto all = drawn("x2");
        int moved = 0;
        for (std::size_t i = 0; i < size; ++i) {
            moved += met[2][i] != 0.0;
            CHECK((met[2][i] == 0.0 || met[2][i] == all[i]));
        }
        CHECK(moved == 4);
    }
}

TEST_CASE(
    "the second direction has the signs of the gradient, so that wide bounds tell zero apart") {
    constexpr std::size_t size = 200;
    const auto minus_sum = [](const auto& x, const auto& direction) {
        ValueAlong along;
        for (const double element : x) along.value -= element;
        for (const double element : direction) along.derivative -= element;
        return along;
    };
    const auto ends = [&](double got, double by_branches) {
        return outcome_of(minus_sum, std::vector<double>(size, got), std::vector<Bound>(size, 0.9),
                          by_branches)
            .verdict;
    };
    CHECK(ends(-1.0, nan) == Verdict::vacuous);
    CHECK(ends(-1.0, -1.0) == Verdict::passed);
    CHECK(ends(0.0, -1.0) == Verdict::failed);
}

TEST_CASE("a gradient is small up to 24 elements, and 65536 multiply-adds for all of them") {
    struct Line {
        std::int64_t elements;
        double work;
        bool is_small;
    };
    for (const Line& line : {Line{24, 1, true}, Line{25, 1, false}, Line{16, 4096, true},
                             Line{16, 4097, false}, Line{2, 40000, false}, Line{1, 65536, true}}) {
        const auto gradient =
            gradient_of(std::vector<double>(static_cast<std::size_t>(line.elements), 0.0), {}, {});
        CAPTURE(line.elements);
        CAPTURE(line.work);
        CHECK(in_case(toy_along({}, line.work), line.elements, "seed=0",
                      [&](const CaseContext& context) {
                          return moves_each_element(context, gradient);
                      }) == line.is_small);
    }
}

TEST_CASE("three of many gradients are compared by values, by turns") {
    struct Line {
        std::uint64_t seed;
        std::set<std::size_t> by_values;
    };
    for (const Line& line :
         {Line{0, {0, 1, 2}}, Line{4, {1, 2, 3}}, Line{2, {0, 3, 4}}, Line{3, {0, 1, 4}}}) {
        std::array<int, 5> calls{};
        Operator op = toy_along({});
        op.along = [&](const Problem&, Inputs<double>, std::size_t which, const Array<double>&,
                       Inputs<double>) {
            ++calls[which];
            return ValueAlong{};
        };
        std::vector<BoundedGradient> gradients;
        for (const std::string name : {"x", "w", "a", "b", "c"}) {
            if (gradients.size() >= 2) {
                op.inputs.push_back({.name = name, .sizes = op.inputs[1].sizes});
                op.passes.front().inputs.push_back(name);
            }
            gradients.push_back(gradient_of({0.0}, {0.0}, {nan}));
            gradients.back().tensor = name;
        }
        in_case(std::move(op), 1, fmt::format("seed={}", line.seed), [&](CaseContext& context) {
            return matches_derivatives_along(context, gradients);
        });
        std::set<std::size_t> by_values;
        // Two directions and one element are looked at without a step.
        for (std::size_t which = 0; which < calls.size(); ++which)
            if (calls[which] > 3) by_values.insert(which);
        CAPTURE(line.seed);
        CHECK(by_values == line.by_values);
    }
}

}  // namespace gradverify
