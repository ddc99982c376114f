// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/derived_operator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>
#include <vector>

#include "harness/declare_operator.hpp"

namespace {

using namespace gradverify;

using Arrays = std::vector<Array<double>>;

/// s = x^2, saved for the gradient; y = x w and z = 3 x - w + k, with whole numbers k.
Operator mixed() {
    return declare_operator("mixed")
        .parameter("n")
        .input("k", {"n"}, whole_numbers(0, 9))
        .input("x", {"n"})
        .input("w", {"n"})
        .saved("s", {"n"})
        .output("y", {"n"})
        .output("z", {"n"})
        .gradient("backward", {"dy", "dz", "x", "w"}, {"dw", "dx"})
        .gradient("grad_w", {"dy", "dz", "x"}, {"dw"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), w = call.input("w");
            const auto k = call.indices("k");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                call.output("s")(i) = x(i) * x(i);
                call.output("y")(i) = x(i) * w(i);
                call.output("z")(i) = 3.0 * x(i) - w(i) + k(i);
            }
        });
}

Problem of_two(const Operator& op) { return Problem::parse(op.space, "n=2"); }

const Array<double> k{{2}, {1, 2}}, x{{2}, {5, -7}}, w{{2}, {11, 13}};
const Array<double> dy{{2}, {2, -3}}, dz{{2}, {17, 0.5}};

/// The outputs of a pass whose tensors all have two elements.
Arrays run(const Operator& op, const char* pass, const Arrays& inputs) {
    return reference_outputs(op, *op.find_pass(pass), of_two(op), inputs);
}

std::vector<Array<Bounded>> run_bounded(const Operator& op, const char* name,
                                        const Arrays& inputs) {
    return bounded_outputs(op, *op.find_pass(name), of_two(op), inputs);
}

void check_values(const std::vector<Array<Bounded>>& got, const Arrays& want) {
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        for (std::size_t j = 0; j < want[i].data.size(); ++j)
            CHECK(got[i].data[j].value() == want[i].data[j]);
}

/// y = x w where that is less than 15, or where x is positive; 0 elsewhere.
Operator branching(bool on_product, bool branches_decide) {
    OperatorDeclaration declared = declare_operator("branching");
    declared.parameter("n").input("x", {"n"}).input("w", {"n"}).output("y", {"n"});
    declared.forward([on_product]<class T>(const ForwardCall<T>& call) {
        const auto a = call.input("x"), b = call.input("w");
        for (std::int64_t i = 0; i < a.size(0); ++i) {
            const T product = a(i) * b(i);
            if (on_product ? product < 15.0 : a(i) > 0.0) call.output("y")(i) = product;
        }
    });
    if (branches_decide) declared.branches_decide();
    return declared;
}

/// The tangents of x and v in each run on dual numbers.
std::vector<std::vector<double>> moves;

/// s = v, saved beside y = v. The first and the last k are compared on the way, and the squares of
/// the first and the last x.
Operator comparing() {
    return declare_operator("comparing")
        .parameter("n")
        .input("k", {"n"}, whole_numbers(0, 9))
        .input("x", {"n"})
        .input("v", {"n"})
        .saved("s", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto whole = call.input("k"), a = call.input("x"), v = call.input("v");
            static_cast<void>(whole(0) < whole(whole.size(0) - 1));
            const T first = a(0), last = a(a.size(0) - 1);
            static_cast<void>(first * first < last * last);
            for (std::int64_t i = 0; i < v.size(0); ++i) call.output("s")(i) = v(i);
            for (std::int64_t i = 0; i < v.size(0); ++i) call.output("y")(i) = v(i);
            if constexpr (std::same_as<T, Dual>) {
                moves.emplace_back();
                for (std::int64_t i = 0; i < v.size(0); ++i)
                    for (const Dual& moved : {a(i), v(i)}) moves.back().push_back(moved.tangent());
            }
        });
}

/// Whether s and y still have a bound, where they are taken for `given`, and x is `at`.
std::vector<std::vector<bool>> are_bounded(const Array<double>& at, const Array<double>& v,
                                           const Array<Bounded>& given) {
    const Operator op = comparing();
    moves.clear();
    std::vector<Array<Bounded>> outputs{given, given};
    const Problem problem = Problem::parse(op.space, "n=" + std::to_string(v.data.size()));
    op.forward().admit_branches(problem, as_bounded(Arrays{filled(v.sizes, 2.0), at, v}), outputs);
    std::vector<std::vector<bool>> all(2);
    for (std::size_t i = 0; i < 2; ++i)
        for (const Bounded& element : outputs[i].data) all[i].push_back(element.error() < INFINITY);
    return all;
}

const char* const undecided =
    "a comparison or an index in the forward function of branching lies within rounding, or is a "
    "tie: either branch is right (max, min and abs have a bound there)";

}  // namespace

TEST_CASE("the forward pass takes all inputs and yields all outputs, with a bound") {
    const Operator op = mixed();
    REQUIRE(op.mistakes.empty());
    const PassSpec& forward = op.forward();
    CHECK(forward.inputs == std::vector<std::string>{"k", "x", "w"});
    CHECK(forward.outputs == std::vector<std::string>{"s", "y", "z"});
    const Arrays want = run(op, "forward", {k, x, w});
    CHECK(want[0].data == std::vector<double>{25, 49});
    CHECK(want[1].data == std::vector<double>{55, -91});
    CHECK(want[2].data == std::vector<double>{5, -32});
    const auto bounded = run_bounded(op, "forward", {k, x, w});
    check_values(bounded, want);
    CHECK(bounded[1].data[0].error() == (Bounded(5.0) * Bounded(11.0)).error());
}

TEST_CASE("a gradient is by the inputs that a pass names, in its order, of all cotangents") {
    const Operator op = mixed();
    CHECK(op.find_pass("backward")->reference_inputs ==
          std::vector<std::string>{"dy", "dz", "k", "x", "w"});
    const Arrays given{dy, dz, k, x, w};
    const Arrays want = run(op, "backward", given);
    CHECK(want[0].data == std::vector<double>{2 * 5 - 17, -3 * -7 - 0.5});
    CHECK(want[1].data == std::vector<double>{2 * 11 + 3 * 17, -3 * 13 + 3 * 0.5});
    const auto bounded = run_bounded(op, "backward", given);
    check_values(bounded, want);
    CHECK(bounded[0].data[0].error() > 10.0 * 0x1p-24);
    CHECK(bounded[0].data[0].error() < 60.0 * 0x1p-24);
    const Arrays by_w = run(op, "grad_w", given);
    REQUIRE(by_w.size() == 1);
    CHECK(by_w[0].data == want[0].data);
}

TEST_CASE("an output that a gradient takes saved is off by its errors, and what storing it loses") {
    const Operator op = declare_operator("shifted")
                            .parameter("n")
                            .input("x", {"n"})
                            .output("y", {"n"})
                            .gradient("from_x", {"dy", "x"}, {"dx"})
                            .gradient("from_y", {"dy", "x", "y"}, {"dx"})
                            .forward([]<class T>(const ForwardCall<T>& call) {
                                for (std::int64_t i = 0; i < call.parameter("n"); ++i)
                                    call.output("y")(i) =
                                        T(1.0) * (call.input("x")(i) + T(2.0)) + T(3.0);
                            });
    REQUIRE(op.mistakes.empty());
    for (const auto& [of_saved, of_formula] : {std::pair(0.25, 0.5), {0.0, 0.5}, {0.25, 0.0625}}) {
        const ScopedRounding rounding(Rounding{.unit_roundoff = 0.0,
                                               .smallest_normal = 0.0,
                                               .loss_of_formula = of_formula,
                                               .loss_of_saved = of_saved});
        const auto any = [&](const char* pass, const Arrays& given) {
            return bounded_outputs(op, *op.find_pass(pass), of_two(op), given, Formula::any)[0];
        };
        const auto y = any("forward", {x}), from_x = any("from_x", {dy, x}),
                   from_y = any("from_y", {dy, x});
        for (std::size_t i = 0; i < 2; ++i) {
            // Divided by the factor x + 2, where saved outputs are stored.
            const double off = y.data[i].error() + (of_saved + of_formula) * y.data[i].magnitude();
            const double lost = std::abs(dy.data[i] / (x.data[i] + 2.0)) * off;
            CHECK(from_y.data[i].error() - from_x.data[i].error() ==
                  doctest::Approx(of_saved > 0.0 ? lost : 0.0));
        }
    }
}

TEST_CASE("a derivative along a direction moves one input, and its cotangents weigh the outputs") {
    const Operator op = mixed();
    const Problem problem = of_two(op);
    const Arrays inputs{k, x, w}, cotangents{dy, dz};
    const Array<double> direction{{2}, {1, -2}};
    const double y = 2 * 55 - 3 * -91, z = 17 * 5 + 0.5 * -32;
    for (const std::size_t which : {std::size_t{1}, std::size_t{2}}) {
        const ValueAlong along = op.along(problem, inputs, which, direction, cotangents);
        CHECK(along.value == y + z);
        CHECK(along.magnitude == 110.0 + 273.0 + 85.0 + 16.0);
        CHECK_FALSE(along.is_kink);
        CHECK(along.branches == Decisions{}.trace);
        const double by_x = (2 * 11 + 3 * 17) * 1.0 + (-3 * 13 + 3 * 0.5) * -2.0;
        const double by_w = (2 * 5 - 17) * 1.0 + (-3 * -7 - 0.5) * -2.0;
        CHECK(along.derivative == (which == 1 ? by_x : by_w));
    }
}

TEST_CASE("a comparison that rounding could turn has no bound, and no gradient either way") {
    const Array<double> threes{{2}, {1, 3}}, fives{{2}, {1, 5}}, fours{{2}, {1, 4}};
    for (const bool branches_decide : {false, true}) {
        const Operator op = branching(true, branches_decide);
        // 3 * 5 may be rounded to less than 15, for all that is known.
        CHECK_THROWS_WITH_AS(run_bounded(op, "forward", {threes, fives}), undecided,
                             UndecidedComparison);
        CHECK_THROWS_WITH_AS(run(op, "backward", {dy, threes, fives}), undecided,
                             UndecidedComparison);
        CHECK(run(op, "forward", {threes, fives})[0].data == std::vector<double>{1, 0});
        check_values(run_bounded(op, "forward", {threes, fours}), {{{2}, {1, 12}}});
        CHECK(run(op, "backward", {dy, threes, fours})[0].data == std::vector<double>{2, -12});
    }
}

TEST_CASE("at a tie of exact values there is a gradient only where the branches define it") {
    const Array<double> at_kink{{2}, {0, 3}}, away{{2}, {-1, 3}}, ones{{2}, {1, 1}};
    const Operator open = branching(false, false), decided = branching(false, true);
    CHECK_THROWS_WITH_AS(run(open, "backward", {dy, at_kink, w}), undecided, UndecidedComparison);
    CHECK(run(decided, "backward", {dy, at_kink, w})[0].data == std::vector<double>{0, -39});
    CHECK(run(open, "backward", {dy, away, w})[0].data == std::vector<double>{0, -39});
    // The forward values are the same on both sides.
    check_values(run_bounded(open, "forward", {at_kink, w}), {{{2}, {0, 39}}});
    const auto along = [&](const Array<double>& at) {
        return open.along(of_two(open), Arrays{at, w}, 0, ones, Arrays{dy});
    };
    CHECK(along(at_kink).is_kink);
    CHECK(along(at_kink).derivative == 22 - 39);
    // One for each element of the outputs, and only there.
    CHECK(along(at_kink).terms == std::vector<double>{22, -39});
    CHECK(along(away).terms.empty());
    CHECK_FALSE(along(away).is_kink);
    CHECK(along(away).branches != along(ones).branches);
}

TEST_CASE("at a tie what is saved keeps its bound only where it is the same number in any order") {
    struct Row {
        double given, error, other;
        bool is_same;
    };
    const std::vector<Row> table{
        {5.0, 0.0, 5.0, true},
        {-1.0, 0.0, 1.0, false},
        // Within its error, or what the two scalars' own arithmetic loses.
        {0.24, 0.25, 0.0, true},
        {0.26, 0.25, 0.0, false},
        {1.0 + 0x1p-41, 0.0, 1.0, true},
        {1.0 + 0x1p-39, 0.0, 1.0, false},
        {INFINITY, 0.0, INFINITY, true},
        {INFINITY, 0.0, -INFINITY, false},
        {5.0, 0.0, INFINITY, false},
        {NAN, 0.0, NAN, true},
        {NAN, 0.0, 1.0, false},
        {1.0, 0.0, NAN, false},
    };
    const auto n = static_cast<std::int64_t>(table.size());
    Array<double> v{{n}, {}};
    Array<Bounded> given{{n}, {}};
    std::vector<bool> want;
    for (const Row& row : table) {
        v.data.push_back(row.other);
        given.data.push_back(Bounded::within(row.given, row.error));
        want.push_back(row.is_same);
    }
    const std::vector<bool> all(table.size(), true);
    // An output that has a gradient is compared all the same.
    CHECK(are_bounded(filled({n}, 1.0), v, given) == std::vector{want, all});
    // Without a tie nothing is open; whole numbers do not move, so equal ones are none.
    Array<double> different = filled({n}, 1.0);
    different.data.back() = 2.0;
    CHECK(are_bounded(different, v, given) == std::vector{all, all});
    CHECK(moves.size() == 1);
}

TEST_CASE("at a tie each of two equal numbers is the larger once, in pairs of runs at random") {
    const Array<double> ones = filled({8}, 1.0), zeros = filled({8}, 0.0);
    are_bounded(ones, ones, filled<Bounded>({8}));
    REQUIRE(moves.size() == 32);
    std::vector<double> all;
    for (std::size_t i = 0; i < moves.size(); i += 2) {
        for (std::size_t j = 0; j < moves[i].size(); ++j) CHECK(moves[i][j] == -moves[i + 1][j]);
        CHECK(std::ranges::count(moves, moves[i]) == 1);
        all.insert(all.end(), moves[i].begin(), moves[i].end());
    }
    // Whole numbers of 30 bits, whose sums in any order are alike.
    const auto [least, most] = std::ranges::minmax(all);
    CHECK(least < -0x1p29);
    CHECK(least >= -0x1p30);
    CHECK(most > 0x1p29);
    CHECK(most <= 0x1p30);
    CHECK(std::ranges::all_of(all, [](double move) { return move == std::round(move); }));
    // Squares of zeros do not move, in whatever direction: one run opens the whole numbers.
    Array<double> v = ones;
    v.data[7] = 0.5;
    std::vector<bool> only_last(8, false);
    only_last[7] = true;
    CHECK(are_bounded(zeros, v, as_bounded(Arrays{v}).front()).front() == only_last);
    CHECK(moves.size() == 1);
}

TEST_CASE("only a pass that saves something has branches to admit, and only where they are open") {
    const auto has_branches = [](const Operator& op) {
        return op.forward().admit_branches != nullptr;
    };
    CHECK(has_branches(comparing()));
    CHECK_FALSE(has_branches(branching(false, false)));
}

TEST_CASE("values that no gradient is asked for are constants: to compare two is no tie") {
    const Operator op = declare_operator("chosen")
                            .parameter("n")
                            .input("x", {"n"})
                            .input("c", {"n"}, constant())
                            .output("y", {"n"})
                            .forward([]<class T>(const ForwardCall<T>& call) {
                                const auto in = call.input("x"), by = call.input("c");
                                for (std::int64_t i = 0; i < in.size(0); ++i)
                                    call.output("y")(i) = by(i) > 2.0 ? in(i) : 3.0 * in(i);
                            });
    const Array<double> c{{2}, {2, 3}};
    CHECK(run(op, "grad_x", {dy, x, c})[0].data == std::vector<double>{6, -3});
}

TEST_CASE("an index is the row-major offset, and refused outside of the tensor") {
    const auto offset = [](const Sizes& sizes, const std::vector<std::int64_t>& index) {
        return detail::offset_in("x", sizes, index);
    };
    CHECK(offset({}, {}) == 0);
    CHECK(offset({2, 3, 4}, {0, 0, 0}) == 0);
    CHECK(offset({2, 3, 4}, {0, 0, 3}) == 3);
    CHECK(offset({2, 3, 4}, {0, 2, 0}) == 8);
    CHECK(offset({2, 3, 4}, {1, 2, 3}) == 23);
    for (const std::vector<std::int64_t>& index :
         {std::vector<std::int64_t>{2, 0}, {0, 3}, {-1, 0}, {0, -1}, {1}, {0, 0, 0}, {}})
        CHECK_THROWS_AS(offset({2, 3}, index), std::out_of_range);
    CHECK_THROWS_WITH(offset({2, 3}, {-1, 2}),
                      "the forward function asks for x(-1, 2), but x has the sizes (2, 3)");
}
