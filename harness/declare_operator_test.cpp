// SPDX-License-Identifier: Apache-2.0
#include "harness/declare_operator.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "harness/testing/made_operator.hpp"
#include "harness/testing/small_declarations.hpp"

namespace {

using namespace gradverify;

using testing::contains;
using testing::copying;
using testing::elementwise;
using testing::mistake_of;

/// y = slope x for each of n numbers.
OperatorDeclaration scaled() {
    return declare_operator("scaled")
        .parameter("n", {.minimum = 0})
        .attribute("slope", {0.5, -2.0})
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            const auto y = call.output("y");
            for (std::int64_t i = 0; i < x.size(0); ++i) y(i) = call.attribute("slope") * x(i);
        });
}

const auto ramp = []<class T>(const T& x) { return max(x, T(0.0)); };

/// y = max(w x, 0), and its product before, which is saved.
OperatorDeclaration layer() {
    return declare_operator("layer")
        .parameter("n")
        .input("x", {"n"})
        .input("w", {})
        .saved("product", {"n"})
        .output("y", {"n"})
        .piecewise_polynomial()
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.input("x").elements(); ++i) {
                call.output("product")(i) = call.input("w")() * call.input("x")(i);
                call.output("y")(i) = max(call.output("product")(i), T(0.0));
            }
        });
}

const auto by_hand = []<class T>(const ForwardCall<T>& call) {
    for (std::int64_t i = 0; i < call.input("x").elements(); ++i) {
        const bool passes = call.input("product")(i) > 0.0;
        call.output("dproduct")(i) = passes ? call.input("dy")(i) : T(0.0);
        call.output("dx")(i) = call.output("dproduct")(i) * call.input("w")();
    }
};

}  // namespace

TEST_CASE("without gradient passes there is one for all differentiable inputs") {
    const Operator op = scaled();
    CHECK(op.mistakes.empty());
    REQUIRE(op.passes.size() == 2);
    CHECK(op.forward().name == "forward");
    CHECK(op.passes[1].name == "grad_x");
    CHECK(op.passes[1].inputs == std::vector<std::string>{"dy", "x"});
    CHECK(op.passes[1].outputs == std::vector<std::string>{"dx"});
    const Operator two = copying().input("w", {});
    CHECK(two.passes[1].name == "backward");
    CHECK(two.passes[1].outputs == std::vector<std::string>{"dx", "dw"});
    const Problem problem = Problem::parse(op.space, "n=2,slope=-2");
    const std::vector<Array<double>> x{{{2}, {1, 3}}};
    CHECK(reference_outputs(op, op.forward(), problem, x)[0].data == std::vector<double>{-2, -6});
    CHECK(op.forward().multiply_adds(problem) > 0.0);
    CHECK(op.forward().reduction_length(problem) == 2);
}

TEST_CASE("exact_if says on which problems results are exact, if they are on any") {
    const auto is_even = [](const Problem& problem) { return problem.scalar("n") % 2 == 0; };
    const Operator op = elementwise(ramp).piecewise_linear().exact_if("n is even", is_even);
    CHECK(op.is_exact_at(Problem::parse(op.space, "n=2")));
    CHECK_FALSE(op.is_exact_at(Problem::parse(op.space, "n=3")));
    CHECK(op.exact_if_text == "n is even");
    CHECK_FALSE(op.is_linear_in("x"));
    CHECK_FALSE(Operator(elementwise(ramp)).is_exact_on_integers());
}

TEST_CASE("results can be defined for NaN of inputs that hold any number") {
    const Operator op = copying().defined_for_nan("x");
    const Problem problem = Problem::parse(op.space, "n=1");
    CHECK(op.inputs[0].admits(std::nan(""), problem));
    CHECK(op.inputs[0].admits(-INFINITY, problem));
    CHECK_FALSE(Operator(copying()).inputs[0].admits(std::nan(""), problem));
    CHECK_FALSE(Operator(copying()).inputs[0].admits(INFINITY, problem));
}

TEST_CASE("a parameter that is read for some indices only is read") {
    const Operator masked = declare_operator("masked")
                                .parameter("n")
                                .attribute("p", {0.5, 0.25})
                                .input("x", {"n"})
                                .input("mask", {"n"}, whole_numbers(0, 1))
                                .output("y", {"n"})
                                .forward([]<class T>(const ForwardCall<T>& call) {
                                    for (std::int64_t i = 0; i < call.parameter("n"); ++i)
                                        if (call.indices("mask")(i) != 0)
                                            call.output("y")(i) =
                                                call.attribute("p") * call.input("x")(i);
                                });
    CHECK(masked.mistakes.empty());
}

TEST_CASE("isnan is told of every scalar, and is no comparison") {
    const ScopedDecisions decisions;
    for (const double value : {std::nan(""), 1.0}) {
        CHECK(isnan(value) == std::isnan(value));
        CHECK(isnan(Bounded(value)) == std::isnan(value));
        CHECK(isnan(Dual(value, 1.0)) == std::isnan(value));
        CHECK(isnan(Traced(value)) == std::isnan(value));
    }
    CHECK(decisions.made().trace == Decisions{}.trace);
    CHECK(decisions.made().ties == 0);
}

TEST_CASE("the registry says what is wrong with an operator, and no more of its kernels") {
    KernelDeclaration kernel = testing::toy_kernel("some");
    kernel.operator_name = "o";
    const std::string refusal = testing::complaint_of({kernel}, copying().parameter("k"));
    CHECK(refusal.starts_with("operator o: nothing reads the parameter k"));
    CHECK_FALSE(contains(refusal, "has no pass"));
}

TEST_CASE("values outside of a tensor's domain are not admitted, and the simplest one is inside") {
    const Operator op = copying()
                            .input("p", {"n"}, constant(probabilities()))
                            .input("s", {"n"}, constant(positive_numbers()))
                            .input("c", {"n"}, constant(numbers_between(2.0, 4.0)))
                            .input("i", {"n"}, whole_numbers(3, 5))
                            .input("w", {"n"}, numbers_below([](const Problem& of) {
                                       return 1.0 / static_cast<double>(of.scalar("n"));
                                   }));
    const Problem problem = Problem::parse(op.space, "n=4");
    struct Tensor {
        const char* name;
        double simplest;
        std::vector<double> inside, outside;
    };
    for (const Tensor& tensor :
         {Tensor{"x", 0.0, {}, {INFINITY}}, Tensor{"p", 0.5, {0.25}, {1.0}},
          Tensor{"s", 1.0, {}, {0.0}}, Tensor{"c", 3.0, {}, {}},
          Tensor{"i", 3.0, {5.0}, {6.0, 3.5}}, Tensor{"w", 0.0, {-0.249, 0.249}, {-0.25, 0.25}}}) {
        CAPTURE(tensor.name);
        const TensorSpec& spec = op.tensor_named(tensor.name);
        CHECK(spec.simplest_value(problem) == tensor.simplest);
        for (const double value : tensor.inside) CHECK(spec.admits(value, problem));
        for (const double value : tensor.outside) CHECK_FALSE(spec.admits(value, problem));
    }
}

TEST_CASE("a pass with a reference of its own may yield gradients by what was saved, and outputs") {
    const std::vector<std::string> taken{"dy", "x", "w", "product"};
    const Operator op = layer().gradient("backward", taken, {"dproduct", "dx"}, by_hand);
    REQUIRE(op.mistakes.empty());
    CHECK(op.is_exact_on_integers());
    const PassSpec& pass = *op.find_pass("backward");
    CHECK(pass.outputs == std::vector<std::string>{"dproduct", "dx"});
    CHECK(pass.derived->outputs == std::vector<std::string>{"dx"});
    CHECK(op.is_gradient("dx"));
    CHECK_FALSE(op.is_gradient("dproduct"));
    CHECK_FALSE(op.is_gradient("dy"));
    const std::vector<Array<double>> given{
        {{2}, {5, 7}}, {{2}, {1, -1}}, {{}, {3}}, {{2}, {3, -3}}};
    const auto results = reference_outputs(op, pass, Problem::parse(op.space, "n=2"), given);
    CHECK(results[0].data == std::vector<double>{5, 0});
    CHECK(results[1].data == std::vector<double>{15, 0});
    const Operator derived = layer().gradient("backward", taken, {"dproduct", "dx"});
    CHECK(contains(mistake_of(derived), "a saved output's gradient needs a reference of the pass"));
    const Operator cotangent = layer().gradient("backward", taken, {"dy", "dx"}, by_hand);
    CHECK(contains(mistake_of(cotangent), "yields 'dy', which is no gradient"));
    const Operator none = layer().gradient("backward", taken, {"dproduct"}, by_hand);
    CHECK(contains(mistake_of(none), "needs a name other than `forward`, and an output"));
}

TEST_CASE("a pass has the names that its reference gives to numbers, or the derived ones") {
    const auto names_of_pass = [](const Operator& op, const char* pass) {
        REQUIRE(op.mistakes.empty());
        return op.find_pass(pass)->roundings;
    };
    const auto named = [] {
        return declare_operator("named")
            .parameter("n")
            .input("x", {"n"})
            .output("y", {"n"})
            .forward([]<class T>(const ForwardCall<T>& call) {
                for (std::int64_t i = 0; i < call.parameter("n"); ++i) {
                    const T p = call.rounds("p", exp(call.input("x")(i)));
                    // Read in some problems alone.
                    call.output("y")(i) = i == 2 ? call.rounds("third", p) : p;
                }
            });
    };
    using Names = std::vector<std::string>;
    const Operator derived = named();
    CHECK(names_of_pass(derived, "forward") == Names{"p", "third"});
    CHECK(names_of_pass(derived, "grad_x") == Names{"dp", "dthird", "p", "third"});
    const auto naming_q = []<class T>(const ForwardCall<T>& call) {
        for (std::int64_t i = 0; i < call.parameter("n"); ++i)
            call.output("dx")(i) = call.rounds("q", call.input("dy")(i) * call.input("y")(i));
    };
    CHECK(names_of_pass(named().gradient("grad_x", {"dy", "y"}, {"dx"}, naming_q), "grad_x") ==
          Names{"q"});
    // A reference that can't run is a mistake.
    const auto wrong = []<class T>(const ForwardCall<T>& call) {
        call.output("dx")(0) = call.input("z")(0);
    };
    const std::string mistake = mistake_of(named().gradient("grad_x", {"dy", "y"}, {"dx"}, wrong));
    CHECK(contains(mistake, "asks for the input 'z', but there is no such input"));
    CHECK(contains(mistake, "there are dy, y (in the reference of grad_x, at n=1)"));
    CHECK(names_of_pass(layer(), "forward").empty());
}

TEST_CASE("steps name a pass and tensors that are there") {
    const Step step{"relu.forward",
                    [](const Problem&) { return std::string("n=1"); },
                    {{"x", "product"}, {"y", "y"}}};
    const Operator op = layer().steps("forward", {step});
    CHECK(op.mistakes.empty());
    CHECK(op.is_chain());
    CHECK(op.forward().steps.front().tensor("x") == "product");
    CHECK_THROWS_WITH(op.forward().steps.front().tensor("z"),
                      "the step relu.forward does not say what its tensor z is");
    CHECK_FALSE(Operator(layer()).is_chain());
}

TEST_CASE("the largest of some values is the first of equal ones; within rounding any may be it") {
    LargestOf<double> plain;
    for (const double value : {1.0, 4.0, 4.0, 2.0}) plain.see(value, static_cast<int>(value * 10));
    CHECK(plain.value() == 4.0);
    CHECK(plain.position() == 40.0);
    const auto bounded = [](std::initializer_list<double> values, double error) {
        LargestOf<Bounded> largest;
        std::int64_t position = 0;
        for (const double value : values) largest.see(Bounded::within(value, error), position++);
        return largest.position();
    };
    CHECK(bounded({1.0, 4.0, 4.0, 2.0}, 0.0).value() == 1.0);
    CHECK(bounded({1.0, 4.0, 4.0, 2.0}, 0.0).error() == 0.0);
    CHECK(bounded({3.9, 1.0, 4.0}, 0.01).error() == 0.0);
    CHECK(bounded({3.9, 1.0, 4.0}, 0.06).value() == 2.0);
    CHECK(bounded({3.9, 1.0, 4.0}, 0.06).error() == 2.0);
    CHECK(bounded({1.0, 3.9, 4.0}, 0.06).error() == 1.0);
}

TEST_CASE("a whole number is an index, unless rounding may make it another; any other is not") {
    const ScopedDecisions decisions;
    CHECK(detached(Dual(-1.5, 1.0)) == -1.5);
    CHECK(index_of(3.0) == 3);
    CHECK(index_of(floor(Dual(-1.5, 1.0))) == -2);
    CHECK_THROWS_WITH(index_of(1.5),
                      "the forward function takes 1.5 for an index; index_of() needs a whole "
                      "number, as floor(), ceil(), trunc(), round() and rint() give");
    CHECK_THROWS_WITH(index_of(Bounded(NAN)),
                      "the forward function takes nan for an index; index_of() needs a whole "
                      "number, as floor(), ceil(), trunc(), round() and rint() give: let it ask "
                      "isnan() first");
    CHECK_THROWS(index_of(0x1p+62));
    CHECK(index_of(floor(Bounded::within(2.5, 0.25))) == 2);
    CHECK(decisions.made().undecided == 0);
    CHECK(index_of(floor(Bounded::within(2.25, 0.5))) == 2);
    CHECK(decisions.made().undecided == 1);
}

TEST_CASE("a number on a jump is a tie if numbers become indices") {
    const auto ties = [](double at, bool is_input, bool takes_index) {
        const ScopedDecisions decisions;
        Tape tape;
        const Traced x = is_input ? tape.input(at) : Traced(at), whole = floor(x);
        if (takes_index) CHECK(index_of(whole) == 2);
        CHECK(decisions.made().undecided == 0);
        return decisions.made().ties_and_jumps();
    };
    CHECK(ties(2.0, true, true) == 1);
    CHECK(ties(2.0, true, false) == 0);
    CHECK(ties(2.5, true, true) == 0);
    CHECK(ties(2.0, false, true) == 0);
}

TEST_CASE("random words are those that Philox's authors give, from any word on") {
    constexpr std::uint32_t most = 0xffffffff;
    CHECK(philox_block({0, 0, 0, 0}, 0) ==
          RandomWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox_block({most, most, most, most}, ~std::uint64_t{0}) ==
          RandomWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
          RandomWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    const std::uint64_t seed = 0x123456789abcdef0, index = 0x200000003, offset = 0x400000001 * 4;
    const RandomWords first = philox(seed, offset, index), next = philox(seed, offset + 4, index);
    CHECK(first == philox_block({1, 4, 3, 2}, seed));
    CHECK(philox(seed, offset + 3, index) == RandomWords{first[3], next[0], next[1], next[2]});
    CHECK(uniform_float(0) == 0x1p-33);
    CHECK(uniform_float(most) == 1.0);
    CHECK(uniform_float(0x80000001) == 0.5);
}

TEST_CASE("a ReLU's gradient is the cotangent or zero, and near zero either") {
    CHECK(where_positive(2.0, 5.0) == 5.0);
    CHECK(where_positive(0.0, 5.0) == 0.0);
    CHECK(where_positive(-1.0, 5.0) == 0.0);
    const auto check = [](double x, double x_error, double value, double error) {
        const Bounded cotangent = Bounded::within(-5.0, 0.5);
        const Bounded gradient = where_positive(Bounded::within(x, x_error), cotangent);
        CHECK(gradient.value() == value);
        CHECK(gradient.error() == error);
    };
    check(2.0, 1.0, -5.0, 0.5);
    check(-2.0, 1.0, 0.0, 0.0);
    check(0.0, 0.0, 0.0, 0.0);
    check(0.5, 0.5, -5.0, 5.5);
    check(-0.5, 0.75, 0.0, 5.5);
}
