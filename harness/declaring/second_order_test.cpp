// SPDX-License-Identifier: Apache-2.0
// The gradient of an operator as an operator, and its derivative along tangents, beside formulas
// that were worked by hand.
#include "harness/second_order.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <valarray>
#include <vector>

namespace {

using namespace gradverify;

using Arrays = std::vector<Array<double>>;
using Names = std::vector<std::string>;

/// y = x^2 w + 3 x, with s = x w saved; an exponent that is no input of a gradient.
constexpr auto polynomial = []<class T>(const ForwardCall<T>& call) {
    for (std::int64_t i = 0; i < call.parameter("n"); ++i) {
        const T a = call.input("x")(i), b = call.input("w")(i);
        call.output("s")(i) = a * b;
        call.output("y")(i) = a * a * b + 3.0 * a;
    }
};
OperatorDeclaration declared() {
    return declare_operator("polynomial")
        .parameter("n")
        .input("x", {"n"})
        .input("w", {"n"})
        .saved("s", {"n"})
        .output("y", {"n"})
        .forward(polynomial);
}

/// The results of a pass whose tensors have two elements, by what its reference takes.
Arrays run(const Operator& op, const char* pass, const Arrays& taken) {
    return reference_outputs(op, *op.find_pass(pass), Problem::parse(op.space, "n=2"), taken);
}

// Formulas compute with these, of x, w, dy, ddx and ddw.
const std::valarray<double> a{5, -7}, b{11, 13}, d{2, -3}, u{0.5, 4}, v{-1, 8};

std::vector<double> listed(const std::valarray<double>& numbers) {
    return {std::begin(numbers), std::end(numbers)};
}

const Array<double> x{{2}, listed(a)}, w{{2}, listed(b)}, dy{{2}, listed(d)};
const Array<double> ddx{{2}, listed(u)}, ddw{{2}, listed(v)};

/// y = max(x, 0) by a branch.
constexpr auto branching = []<class T>(const ForwardCall<T>& call) {
    const auto given = call.input("x");
    for (std::int64_t i = 0; i < given.size(0); ++i)
        if (given(i) > 0.0) call.output("y")(i) = given(i);
};
Operator branching_operator() {
    return declare_operator("branching")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .branches_decide()
        .forward(branching);
}

/// The logarithm of a sum of exponentials; a shift cancels out of it, and of all its derivatives.
template <bool is_detached>
struct LogSumExp {
    template <class T>
    void operator()(const ForwardCall<T>& call) const {
        const auto terms = call.input("x");
        T largest = terms(0);
        for (std::int64_t i = 1; i < terms.size(0); ++i) largest = max(largest, terms(i));
        const T shift = is_detached ? T(detached(largest)) : largest;
        T sum = 0.0;
        for (std::int64_t i = 0; i < terms.size(0); ++i) sum += exp(terms(i) - shift);
        call.output("y")() = shift + log(sum);
    }
};
template <bool is_detached>
Operator backward_of_log_sum_exp() {
    constexpr LogSumExp<is_detached> forward;
    return declare_backward(
        declare_operator("lse").parameter("n").input("x", {"n"}).output("y", {}).forward(forward),
        forward);
}

/// Whether any mistake of the operator has this text.
bool says(const Operator& op, const std::string& text) {
    return std::ranges::any_of(op.mistakes, [&](const std::string& mistake) {
        return mistake.find(text) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("gradients of a gradient are those of formulas worked by hand") {
    const Operator op = declare_backward(declared(), polynomial);
    REQUIRE(op.mistakes.empty());
    CHECK(op.name == "polynomial.backward");
    CHECK(names_of(op.passes) == Names{"forward", "grad_dy", "grad_x", "grad_w"});
    CHECK(names_of(op.inputs) == Names{"dy", "x", "w"});
    CHECK(names_of(op.outputs) == Names{"dx", "dw", "s", "y"});
    CHECK(op.find_pass("grad_x")->inputs == Names{"ddx", "ddw", "dy", "x", "w"});
    const Arrays first = run(op, "forward", {dy, x, w});
    CHECK(first[0].data == listed(d * (2.0 * a * b + 3.0)));
    CHECK(first[1].data == listed(d * a * a));
    CHECK(first[2].data == listed(a * b));
    const Arrays taken{ddx, ddw, dy, x, w};
    CHECK(run(op, "grad_dy", taken)[0].data == listed(u * (2.0 * a * b + 3.0) + v * a * a));
    CHECK(run(op, "grad_x", taken)[0].data == listed(d * (u * 2.0 * b + v * 2.0 * a)));
    CHECK(run(op, "grad_w", taken)[0].data == listed(d * u * 2.0 * a));
}

TEST_CASE("the derivative along directions is that of the gradient") {
    const Operator op = declare_backward(declared(), polynomial);
    const Problem problem = Problem::parse(op.space, "n=2");
    const Arrays inputs{dy, x, w}, cotangents{ddx, ddw}, taken{ddx, ddw, dy, x, w};
    const Array<double> direction{{2}, {0.25, -2}};
    const char* const passes[] = {"grad_dy", "grad_x", "grad_w"};
    for (std::size_t which = 0; which < 3; ++which) {
        const ValueAlong at = op.along(problem, inputs, which, direction, cotangents);
        const Array<double> gradient = run(op, passes[which], taken)[0];
        CHECK(at.derivative ==
              gradient.data[0] * direction.data[0] + gradient.data[1] * direction.data[1]);
        const Arrays first = run(op, "forward", inputs);
        double value = 0.0;
        for (std::size_t i = 0; i < 2; ++i)
            value += ddx.data[i] * first[0].data[i] + ddw.data[i] * first[1].data[i];
        CHECK(at.value == value);
        CHECK_FALSE(at.is_kink);
    }
}

TEST_CASE("tangents are those of formulas worked by hand, also where an input does not move") {
    const Operator op = declare_jvp(declared(), polynomial);
    REQUIRE(op.mistakes.empty());
    CHECK(op.name == "polynomial.forward");
    CHECK(op.find_pass("jvp")->inputs == Names{"x", "w", "tx", "tw"});
    CHECK(op.find_pass("jvp")->outputs == Names{"ty"});
    CHECK(run(op, "jvp", {x, w, ddx, ddw})[0].data == listed(u * (2.0 * a * b + 3.0) + v * a * a));
    const Operator some = declare_jvp(declared(), polynomial).jvp({"x", "w", "tw"}, {"ty", "y"});
    const Arrays results = run(some, "jvp", {x, w, ddw});
    CHECK(results[0].data == listed(v * a * a));
    CHECK(results[1].data == listed(a * a * b + 3.0 * a));
}

TEST_CASE("bounds hold what a float may lose in the formulas, and no digit more than a few") {
    const Operator op = declare_backward(declared(), polynomial);
    const auto bounded = bounded_outputs(
        op, *op.find_pass("grad_x"), Problem::parse(op.space, "n=2"), Arrays{ddx, ddw, dy, x, w});
    // The terms cancel in part.
    const auto magnitudes = listed(std::abs(d) * (std::abs(u * 2.0 * b) + std::abs(v * 2.0 * a)));
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(bounded[0].data[i].error() > 0x1p-23 * magnitudes[i]);
        CHECK(bounded[0].data[i].error() < 0x1p-21 * magnitudes[i]);
    }
}

TEST_CASE("sums of products stay sums of products") {
    const auto declared_product = [] {
        return declare_operator("product")
            .parameter("n")
            .input("x", {"n"})
            .input("w", {"n"})
            .input("b", {"n"})
            .output("y", {"n"})
            .sum_of_products({{"x", "w"}, {"b"}});
    };
    const auto forward = []<class T>(const ForwardCall<T>& call) {
        for (std::int64_t i = 0; i < call.parameter("n"); ++i)
            call.output("y")(i) = call.input("x")(i) * call.input("w")(i) + call.input("b")(i);
    };
    using Products = std::vector<Names>;
    const Operator op = declared_product().forward(forward);
    const Operator backward = declare_backward(op, forward), jvp = declare_jvp(op, forward);
    CHECK(backward.products == Products{{"dy", "w"}, {"x", "dy"}, {"dy"}});
    CHECK(jvp.products == Products{{"tx", "w"}, {"x", "tw"}, {"tb"}});
    CHECK(backward.algebra == Algebra::products);
}

TEST_CASE("at a tie a branch is open, unless branches decide") {
    const Operator open = declare_backward(branching_operator(), branching),
                   decided = declare_backward(branching_operator(), branching).branches_decide();
    const Array<double> at{{2}, {0, 3}};
    CHECK_THROWS_AS(run(open, "grad_dy", {ddx, dy, at}), OpenTie);
    CHECK(run(decided, "grad_dy", {ddx, dy, at})[0].data == std::vector<double>{0, 4});
    CHECK(run(open, "grad_dy", {ddx, dy, x})[0].data == std::vector<double>{0.5, 0});
}

TEST_CASE("a detached shift cancels out of second derivatives, too") {
    const Array<double> one{{}, {1.5}}, at{{2}, {0.25, -1}};
    const Operator with = backward_of_log_sum_exp<false>(),
                   without = backward_of_log_sum_exp<true>();
    const double p = 1.0 / (1.0 + std::exp(-1.25));
    const double curvature = 1.5 * p * (1 - p) * (ddx.data[0] - ddx.data[1]);
    for (const Operator* op : {&with, &without}) {
        const auto dx = run(*op, "grad_x", {ddx, one, at})[0].data;
        CHECK(dx[0] == doctest::Approx(curvature));
        CHECK(dx[1] == doctest::Approx(-curvature));
    }
}

TEST_CASE("mistakes in what passes take and yield are said, with what there is") {
    const auto with = [](Names inputs, Names outputs, const char* name = "both") -> Operator {
        return declare_backward(declared(), polynomial)
            .gradient(name, std::move(inputs), std::move(outputs));
    };
    CHECK(with({"ddx", "dy", "x", "w", "s"}, {"ddy", "dx"}).mistakes.empty());
    CHECK(says(with({"ddx", "tx"}, {"dx"}), "the pass both takes 'tx'"));
    CHECK(says(with({"ddx", "tx"}, {"dx"}), "it may be ddx, ddw, dy, x, w, s, y"));
    CHECK(says(with({"ddx"}, {"dy"}), "the pass both yields 'dy'"));
    CHECK(says(with({"ddx"}, {"dy"}), "it may be ddy, dx, dw"));
    CHECK(says(with({"ddx"}, {}), "the pass both needs a name other than `forward`"));
    CHECK(says(with({"ddx"}, {"dx"}, "forward"), "needs a name other than `forward`"));
    const auto along = [](Names inputs, Names outputs) -> Operator {
        return declare_jvp(declared(), polynomial).jvp(std::move(inputs), std::move(outputs));
    };
    CHECK(says(along({"x", "ddx"}, {"ty"}), "the pass jvp takes 'ddx'"));
    CHECK(says(along({"x", "tx"}, {"ts"}), "the pass jvp yields 'ts'"));
    CHECK(says(along({"x", "w"}, {"ty"}), "jvp() needs a tangent that it takes, of tx, tw"));
    CHECK(says(along({"x", "tx"}, {"y"}), "one that it yields, of ty"));
}
