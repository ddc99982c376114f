// SPDX-License-Identifier: Apache-2.0
// How far a right kernel may be from the reference, as what it declares has it: worked by hand on
// one or two products.
#include "properties/checking/oracle.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// y = x and z = 2 x.
Operator copies_operator() {
    return declare_operator("copies")
        .parameter("n")
        .input("x", {"n"})
        .defined_for_nan("x")
        .output("y", {"n"})
        .output("z", {"n"})
        .piecewise_linear()
        .branches_decide()
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.parameter("n"); ++i) {
                const T& x = call.input("x")(i);
                call.output("y")(i) = isnan(x) ? not_a_number<T>() : x;
                call.output("z")(i) = isnan(x) ? not_a_number<T>() : x + x;
            }
        });
}

/// y = x^2, whose gradient takes the slope 2 x that was saved.
Operator square_operator(const Holds& slope) {
    return declare_operator("square")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .saved("slope", {"n"}, slope)
        .forward(by_element([](const auto& in, const auto& out) {
            out("y") = in("x") * in("x");
            out("slope") = in("x") + in("x");
        }))
        .gradient("grad_x", {"dy", "slope"}, {"dx"},
                  by_element(
                      [](const auto& in, const auto& out) { out("dx") = in("dy") * in("slope"); }));
}

/// y = p c with p = a b. The gradient by hand has da = q b, and q = dp.
Operator named_product(bool is_by_hand) {
    OperatorDeclaration declared =
        declare_operator("named")
            .parameter("n")
            .input("a", {"n"})
            .input("b", {"n"})
            .input("c", {"n"})
            .output("y", {"n"})
            .forward([]<class T>(const ForwardCall<T>& call) {
                const auto a = call.input("a"), b = call.input("b"), c = call.input("c");
                for (std::int64_t i = 0; i < a.size(0); ++i)
                    call.output("y")(i) = call.rounds("p", a(i) * b(i)) * c(i);
            });
    if (!is_by_hand) return declared;
    return declared.gradient("backward", {"dy", "a", "b", "c"}, {"da", "db", "dc"},
                             []<class T>(const ForwardCall<T>& call) {
                                 const auto a = call.input("a"), b = call.input("b"),
                                            dy = call.input("dy");
                                 for (std::int64_t i = 0; i < a.size(0); ++i) {
                                     const T dp = call.rounds("dp", dy(i) * call.input("c")(i));
                                     call.output("da")(i) = call.rounds("q", dp) * b(i);
                                     call.output("db")(i) = dp * a(i);
                                     call.output("dc")(i) = dy(i) * (a(i) * b(i));
                                 }
                             });
}

/// y[j] = c (exp(x[j mod n] - v) - 1), of which another formula may lose c of its numbers' last
/// digits; w and g only lie beside it.
Operator grown_operator() {
    return declare_operator("grown")
        .parameter("n")
        .parameter("k")
        .parameter("m")
        .parameter("c")
        .input("g", {"m"}, whole_numbers(0, 1000))
        .input("w", {"m"})
        .defined_for_nan("w")
        .input("v", {"n"})
        .input("x", {"n"})
        .defined_for_nan("x")
        .output("y", {"k"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto c = static_cast<double>(call.parameter("c"));
            for (std::int64_t j = 0; j < call.parameter("k"); ++j) {
                const std::int64_t i = j % call.parameter("n");
                call.output("y")(j) = T(c) * expm1(call.input("x")(i) - call.input("v")(i));
            }
        });
}

/// y = max(x, 0).
Operator ramp_operator() {
    return declare_operator("ramp")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward(by_element([](const auto& in, const auto& out) {
            using T = std::remove_cvref_t<decltype(in("x"))>;
            out("y") = max(in("x"), T(0.0));
        }));
}

/// y = a / (b + c).
Operator ratio_of_sum() {
    return declare_operator("ratio")
        .parameter("n")
        .input("a", {"n"})
        .input("b", {"n"})
        .input("c", {"n"})
        .output("y", {"n"})
        .forward(by_element(
            [](const auto& in, const auto& out) { out("y") = in("a") / (in("b") + in("c")); }));
}

KernelDeclaration declared() { return {}; }

bool is_about(double number, double expected) {
    return std::abs(number - expected) <= 0.01 * std::abs(expected);
}

constexpr double bf16 = 0x1p-8, f16 = 0x1p-11, f32 = 0x1p-24, f64 = 0x1p-53;

}  // namespace

TEST_CASE(
    "any formula may lose eight roundings more, and store once more; not that of a sum of "
    "products") {
    const auto bounds_of = [](const Operator& op, const std::string& rest, const char* pass,
                              const KernelDeclaration& kernel = declared()) {
        MadeCase made({op}, pass, kernel, rest);
        const Bounded any = made.oracle.bounded()[0].data[0];
        const double own = made.oracle.within_rounding()[0].bound_at(0).most();
        return (any.error() - own) / any.value();
    };
    const std::string slope = "n=1:data=dy[0]=1,x[0]=240";
    Operator square = square_operator({});
    CHECK(is_about(bounds_of(square, slope, "grad_x"), 9 * f32));
    CHECK(bounds_of(square, slope, "grad_x", declared().norm_wise(2.0)) == 0.0);
    square.passes[1].derived = nullptr;
    CHECK(bounds_of(square, slope, "grad_x") == 0.0);
    CHECK(bounds_of(dot_product(), "n=1,c=1:data=x[0]=24,w[0]=20", "forward") == 0.0);
}

TEST_CASE("a bound counts the roundings of the arithmetic that the kernel declares") {
    struct Line {
        Operator op;
        KernelDeclaration kernel;
        std::string rest;
        double relative;
        const char* pass = "forward";
    };
    const std::string one = "n=1:data=x[0]=24,w[0]=20",
                      two = "n=1,c=2:data=x[0]=24,w[0]=20,x[1]=24,w[1]=20",
                      saved = "n=1:data=dy[0]=1,x[0]=240", parts = "n=1:data=a[0]=480,b[0]=1";
    const Operator dot = dot_product(), ratio = quotient(), square = square_operator({}),
                   counted = square_operator(whole_numbers(0, 1000));
    // x is a factor twice: two products, and their sum.
    Operator derived = square, derived_counted = counted;
    derived.passes[1] = PassSpec(*square.passes[1].derived);
    derived_counted.passes[1] = PassSpec(*counted.passes[1].derived);
    const std::vector<Line> lines{
        {dot, declared(), one, f32},
        {dot, declared().storage(DType::f16).accumulates_in(DType::f16), one, f16},
        // The reference computes in double as well.
        {dot, declared().storage(DType::f64), one, 2 * f64},
        {dot, declared(), two, 2 * f32},
        {dot, declared().storage(DType::f64), two, 4 * f64},
        // Tensor cores may cut off an addition, by two roundings; not in double.
        {dot, declared().on_tensor_cores(), two, 3 * f32},
        {dot, declared().storage(DType::f64).on_tensor_cores(), two, 4 * f64},
        {dot, declared().on_tensor_cores(), "n=1:data=x[0]=24.0009765625,w[0]=20", 0x1p-10},
        {dot, declared().splits_factors({.products = 3, .digits = 21}),
         "n=1:data=x[0]=24.0009765625,w[0]=20", 0x1p-21 + 4 * f32},
        {ratio, declared(), parts, 3 * f32},
        {ratio, declared().fast_math(), parts, 5 * f32},
        // A saved tensor is as coarse as its type, and whole numbers are exact. A reference that
        // takes it has it as it is stored.
        {square, declared().storage(DType::f64), saved, 2 * f64, "grad_x"},
        {square, declared().storage(DType::f64).storage("slope", DType::f32), saved, 2 * f64,
         "grad_x"},
        {derived, declared().storage(DType::f64), saved, 4 * f64, "grad_x"},
        {derived, declared().storage(DType::f64).storage("slope", DType::f32), saved, 2 * f32,
         "grad_x"},
        {derived_counted, declared().storage(DType::f64), saved, 4 * f64, "grad_x"},
        {derived, declared().storage("slope", DType::f64), saved, 2 * f32, "grad_x"},
        {square, declared().storage(DType::f16).accumulates_in(DType::f16), saved, f16, "grad_x"},
        {counted, declared(), saved, f32, "grad_x"}};
    for (const Line& line : lines) {
        MadeCase made({line.op}, line.pass, line.kernel, line.rest);
        Oracle& oracle = made.oracle;
        const double stored = oracle.within_rounding()[0].bound_at(0).most();
        const Bounded computed = oracle.bounded(made.pass())[0].data[0];
        CAPTURE(&line - lines.data());
        CHECK(is_about(stored, line.relative * computed.value()));
        CHECK(is_about(computed.error(), line.relative * computed.value()));
    }
}

TEST_CASE("a bound has the roundings of numbers that the kernel names, and of their cotangents") {
    struct Line {
        bool is_by_hand;
        std::vector<std::pair<std::string, DType>> roundings;
        const char* pass;
        std::vector<double> relative;  ///< of each output
    };
    // y = p c with p = a b, of which each factor is exact in 8 bits, but not p.
    const std::vector<Line> lines{
        {false, {}, "forward", {2 * f32}},
        {false, {{"p", DType::bf16}}, "forward", {bf16}},
        {false, {{"p", DType::f16}}, "forward", {f16}},
        {false, {}, "backward", {2 * f32, 2 * f32, 2 * f32}},
        {false, {{"p", DType::bf16}}, "backward", {2 * f32, 2 * f32, bf16}},
        {false, {{"dp", DType::bf16}}, "backward", {bf16, bf16, 2 * f32}},
        {false, {{"p", DType::f16}, {"dp", DType::bf16}}, "backward", {bf16, bf16, f16}},
        {true, {}, "backward", {2 * f32, 2 * f32, 2 * f32}},
        {true, {{"q", DType::bf16}}, "backward", {bf16, 2 * f32, 2 * f32}},
        {true, {{"dp", DType::bf16}}, "backward", {bf16, bf16, 2 * f32}}};
    for (const Line& line : lines) {
        KernelDeclaration kernel;
        kernel.roundings = line.roundings;
        MadeCase made({named_product(line.is_by_hand)}, line.pass, kernel,
                      std::string("n=1:data=") + (*line.pass == 'b' ? "dy[0]=13.75," : "") +
                          "a[0]=13.25,b[0]=11.125,c[0]=7.375");
        CAPTURE(&line - lines.data());
        const auto by_formula = made.oracle.within_rounding();
        const auto by_any = made.oracle.bounded();
        REQUIRE(by_formula.size() == line.relative.size());
        for (std::size_t i = 0; i < by_formula.size(); ++i) {
            CAPTURE(i);
            CHECK(is_about(by_formula[i].bound_at(0).most(),
                           line.relative[i] * by_formula[i].values[0]));
            // Any formula may round what this one does.
            CHECK(by_any[i].data[0].error() >= by_formula[i].bound_at(0).most() * 0.99);
        }
    }
}

TEST_CASE("where all that may be computed is stored as one number, that number is the bound") {
    // What is left is the reference's own error, in double.
    MadeCase made({dot_product()}, "forward", declared().storage("y", DType::f16),
                  "n=1:data=x[0]=24,w[0]=20");
    CHECK(is_about(made.oracle.bounded()[0].data[0].error(), 480 * 0x1p-52));
}

TEST_CASE("a kernel that transforms its data has one bound for all elements of a tensor") {
    struct Line {
        Operator op;
        KernelDeclaration kernel;
        std::string rest;
        double bound;
    };
    // As if all of x were 4 and all of w 0.5: two products of 2, one addition.
    const std::string products = "n=2,c=2:data=x[0]=1,x[1]=-4,x[2]=0.5,x[3]=2,w[0]=-0.5,w[1]=0.25";
    const std::vector<Line> lines{
        {dot_product(), declared().norm_wise(4), products, 4 * 2 * 4 * f32},
        {dot_product(), declared().storage(DType::f64).norm_wise(1), products, 2 * 2 * 4 * f64},
        {quotient(), declared().norm_wise(4), "n=2:data=a[0]=8,b[0]=1,a[1]=1,b[1]=1",
         4 * 3 * 8 * f32}};
    for (const Line& line : lines) {
        MadeCase made({line.op}, "forward", line.kernel, line.rest);
        CAPTURE(&line - lines.data());
        const auto bounded = made.oracle.bounded();
        REQUIRE(bounded[0].data.size() == 2);
        for (const Bounded& element : bounded[0].data) CHECK(is_about(element.error(), line.bound));
    }
    // What was in the output before counts as well.
    MadeCase made({dot_product()}, "forward", declared().norm_wise(2).adds_to_outputs(),
                  "n=1:data=x[0]=0.001,w[0]=0.001");
    const double initial = made.inputs.initial_outputs()[0].data[0];
    CHECK(initial != 0.0);
    CHECK(is_about(made.oracle.bounded()[0].data[0].error(), 2 * std::abs(initial) * f32));
}

TEST_CASE("integers are compared exactly, unless they are no numbers of the type or transformed") {
    struct Line {
        KernelDeclaration kernel;
        std::string data;
        Exactness exactness;
    };
    const auto of_8_bits = [](DType dtype) {
        return declared().storage("y", dtype).storage("z", dtype);
    };
    const std::vector<Line> lines{
        {declared(), "x[0]=3", Exactness::exact},
        {declared(), "x[0]=inf", Exactness::exact},
        {declared().norm_wise(2), "x[0]=3", Exactness::norm_wise},
        {of_8_bits(DType::f8e4m3), "x[0]=8", Exactness::exact},
        {of_8_bits(DType::f8e4m3), "x[0]=nan", Exactness::exact},
        {declared().storage("y", DType::f8e5m2), "x[0]=inf", Exactness::stored},
        {declared().storage("z", DType::f8e5m2), "x[0]=inf", Exactness::stored},
        // With what was there before, some of them.
        {of_8_bits(DType::f8e4m3).adds_to_outputs(),
         "x[0]=8,x[1]=8,x[2]=8,x[3]=8,x[4]=8,x[5]=8,x[6]=8,x[7]=8", Exactness::stored}};
    for (const Line& line : lines) {
        MadeCase made({copies_operator()}, "forward", line.kernel, "n=8:data=" + line.data,
                      ValueKind::integers);
        CAPTURE(line.data);
        CHECK(made.oracle.exactness() == line.exactness);
    }
    MadeCase smooth({quotient()}, "forward", declared(), "n=1:data=a[0]=1,b[0]=1");
    CHECK(smooth.oracle.exactness() == Exactness::bounded);
}

TEST_CASE("a kernel that adds to its outputs must leave the sum, in each element") {
    for (const bool is_exact : {true, false}) {
        MadeCase made({copies_operator()}, "forward", declared().adds_to_outputs(),
                      "n=3:data=x[0]=1,x[1]=20,x[2]=-3", ValueKind::integers);
        const auto& initial = made.inputs.initial_outputs();
        const auto expected = is_exact ? made.oracle.expected() : made.oracle.within_rounding();
        const double alone[2][3] = {{1, 20, -3}, {2, 40, -6}};
        for (std::size_t i = 0; i < 2; ++i) {
            CHECK(expected[i].bounds.empty() == is_exact);
            for (std::size_t j = 0; j < 3; ++j) {
                CHECK(initial[i].data[j] != 0.0);
                CHECK(expected[i].values[j] == alone[i][j] + initial[i].data[j]);
            }
        }
    }
}

TEST_CASE("a result of 8 bits that saturates is cut off, and rounded with all its error") {
    struct Line {
        DType sums;
        std::string x;
        double want, bound;
    };
    constexpr double off = 0x1p-8;  // less than the error of sums in f16
    const std::vector<Line> lines{
        // Between 16 and 18, on either side of the middle: it may be stored as both.
        {DType::f16, "17.00390625", 17 + off, 1 + off},
        {DType::f16, "16.99609375", 17 - off, 1 + off},
        // All is cut to one number; what is left is the reference's own error.
        {DType::f32, "600", 448, 600 * 0x1p-52},
        {DType::f32, "-600", -448, 600 * 0x1p-52}};
    const auto expected_of = [](DType sums, const std::string& x) {
        MadeCase made({dot_product()}, "forward",
                      declared().storage("y", DType::f8e4m3).saturates().accumulates_in(sums),
                      "n=1:data=w[0]=1,x[0]=" + x);
        return made.oracle.within_rounding()[0];
    };
    for (const Line& line : lines) {
        const Expected expected = expected_of(line.sums, line.x);
        CAPTURE(line.x);
        CHECK(expected.values[0] == line.want);
        CHECK(expected.bounds[0].is_limited());
        CHECK(std::abs(expected.bounds[0].most() - line.bound) <= 1e-5 * line.bound);
    }
    // A sum beyond its own type may be anything, NaN too.
    CHECK_FALSE(expected_of(DType::f16, "70000").bounds[0].is_limited());
}

TEST_CASE("a result that is rounded stochastically may be either neighbour") {
    const auto bound_of_result = [](const std::string& x) {
        MadeCase made({dot_product()}, "forward",
                      declared().storage("y", DType::bf16).rounds_stochastically("y"),
                      "n=1:data=w[0]=1,x[0]=" + x);
        return made.oracle.within_rounding()[0].bounds[0];
    };
    // Neighbours of 1 are 1 - 2^-8 and 1 + 2^-7.
    CHECK(bound_of_result("1.001953125").most() == doctest::Approx(0x1p-7 - 0x1p-9));
    CHECK(bound_of_result("-1.005859375").most() == doctest::Approx(0x1p-7 - 0x1p-9));
    // A sum that rounds may be just below 1.5.
    CHECK(bound_of_result("1.5").most() == doctest::Approx(0x1p-7));
    CHECK_FALSE(bound_of_result("3.4e38").is_limited());
}

TEST_CASE("a result of 16 bits does not saturate beside one of 8") {
    MadeCase made({copies_operator()}, "forward",
                  declared().storage("y", DType::f8e4m3).storage("z", DType::f16).saturates(),
                  "n=1:data=x[0]=40000");
    const auto expected = made.oracle.within_rounding();
    CHECK(expected[0].bounds[0].is_limited());
    CHECK_FALSE(expected[1].bounds[0].is_limited());
}

TEST_CASE("identities between gradients take no saturated result as bounded") {
    MadeCase made({dot_product()}, "forward", declared().storage("y", DType::f8e4m3).saturates(),
                  "n=1:data=x[0]=600,w[0]=1");
    CHECK(std::isinf(made.oracle.bounded()[0].data[0].error()));
}

TEST_CASE("an element that another branch gives as well has no bound, the others keep theirs") {
    Operator op = copies_operator();
    op.passes[0].admit_branches = [](const Problem&, Inputs<Bounded>, Outputs<Bounded> outputs) {
        outputs[1].data[2] = Bounded::within(0.0, INFINITY);
    };
    MadeCase made({op}, "forward", declared(), "n=3:data=x[0]=1,x[1]=2,x[2]=3",
                  ValueKind::integers);
    for (const bool is_exact : {true, false}) {
        const auto expected = is_exact ? made.oracle.expected() : made.oracle.within_rounding();
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t j = 0; j < 3; ++j)
                if (i == 1 && j == 2)
                    CHECK_FALSE(expected[i].bound_at(j).is_limited());
                else
                    CHECK((is_exact ? expected[i].bound_at(j) == Bound()
                                    : expected[i].bound_at(j).is_limited()));
    }
}

TEST_CASE("a result that may be anything may be infinite from half of the largest number on") {
    // b + c is 1 within 2; the type that y is stored in has room.
    const auto bound_of_ratio = [](const std::string& a) {
        MadeCase made({ratio_of_sum()}, "forward",
                      declared().storage("y", DType::f64).accumulates_in(DType::f32),
                      "n=1:data=b[0]=16777216,c[0]=-16777215,a[0]=" + a);
        return made.oracle.within_rounding()[0].bound_at(0);
    };
    for (const char* const a : {"1", "1e38", "1.7014117331926443e+38", "-1e38"})
        CHECK(bound_of_ratio(a) == Bound::finite());
    for (const char* const a : {"2e38", "-2e38"}) CHECK(bound_of_ratio(a) == Bound::none());
}

TEST_CASE("at a kink a bound has both slopes, unless one branch is asked for") {
    for (const KernelDeclaration& kernel : {declared(), declared().norm_wise(2.0)}) {
        MadeCase made({ramp_operator()}, "grad_x", kernel, "n=1:data=dy[0]=4");
        const auto error = [&] { return made.oracle.bounded()[0].data[0].error(); };
        CHECK(error() >= 2.0);
        CHECK(made.oracle.within_rounding()[0].bound_at(0).most() >= 2.0);
        CHECK(made.oracle.bounded_on_one_branch()[0].data[0].error() < 1.0);
        CHECK(error() >= 2.0);
    }
}

TEST_CASE("a formula keeps half of the digits that the inputs give, where others lose far more") {
    const auto bounds_of = [](const std::string& rest, const KernelDeclaration& kernel) {
        MadeCase made({grown_operator()}, "forward", kernel, rest);
        const Expected expected = made.oracle.within_rounding()[0];
        return std::array{expected.by_any_formula()[0].most(), expected.bound_at(0).most(),
                          std::abs(expected.values[0])};
    };
    const auto keeps_half = [&](const std::string& rest) {
        const auto [any, own, value] = bounds_of(rest, declared());
        CHECK((is_about(any, 0x1p-12 * value) || any > 0x1p-6 * value));
        return is_about(any, 0x1p-12 * value);
    };
    const std::string tiny = "x[0]=9.5367431640625e-07";  // 2^-20
    struct Line {
        std::string sizes, data;
        int size;  ///< of the terms: inputs, their number for each result, and results
    };
    // More than 16 times as much is no sum of products with slopes about one.
    for (const Line& line : {Line{"n=1,k=1,m=1", tiny, 1},
                             {"n=1,k=1,m=1", tiny + ",w[0]=-3", 3},
                             {"n=1,k=1,m=2", tiny + ",w[0]=3,w[1]=1", 6},
                             {"n=1,k=1,m=2", tiny + ",w[0]=3,w[1]=inf", 6},
                             {"n=1,k=1,m=1", tiny + ",g[0]=100", 1},
                             {"n=1,k=2,m=1", tiny, 1},
                             {"n=2,k=2,m=1", tiny + ",x[1]=inf", 1}}) {
        CAPTURE(line.data);
        for (const int off : {-1, 1})
            CHECK(keeps_half(line.sizes + ",c=" + std::to_string(16 * line.size + off) +
                             ":data=" + line.data) == (off > 0));
    }
    CHECK_FALSE(keeps_half("n=2,k=2,m=1,c=17:data=" + tiny + ",x[1]=0.25"));
    // The inputs' own digits give less.
    const auto cancelled =
        bounds_of("n=1,k=1,m=1,c=17:data=x[0]=1,v[0]=0.99999904632568359375", declared());
    CHECK(cancelled[0] > 2.0 * cancelled[1]);
    // Half of the digits of the coarser of the arithmetic and the result, and no less than its own.
    const std::string sizes = "n=1,k=1,m=1,c=17:data=x[0]=";
    const KernelDeclaration in_f16 = declared().storage(DType::f16).accumulates_in(DType::f16);
    const auto of_results =
        bounds_of(sizes + "0.000244140625", declared().storage("y", DType::f16));
    CHECK(of_results[0] > 2.0 * of_results[1]);
    const auto of_sums =
        bounds_of(sizes + "0.015625", KernelDeclaration(in_f16).storage("y", DType::f32));
    CHECK(is_about(of_sums[0], std::exp2(-5.5) * of_sums[2]));
    const auto of_both = bounds_of(sizes + "0.00390625", in_f16);
    CHECK(of_both[1] > std::exp2(-5.5) * of_both[2]);
    CHECK(of_both[0] == of_both[1]);
}

TEST_CASE("the bound of a whole is computed for its parts where that is norm-wise, alone") {
    for (const bool is_norm_wise : {false, true}) {
        const KernelDeclaration kernel = is_norm_wise ? declared().norm_wise(2.0) : declared();
        MadeCase whole({dot_product()}, "forward", kernel, "n=2:data=x[0]=9,w[0]=1");
        MadeCase part({dot_product()}, "forward", kernel, "n=1:data=w[0]=1");
        part.oracle.is_part_of(whole.oracle);
        CHECK((whole.oracle.seconds() > 0.0) == is_norm_wise);
        CHECK((part.oracle.bounded()[0].data[0].error() > 0.0) == is_norm_wise);
    }
}

TEST_CASE("the seconds in the reference are counted") {
    MadeCase made({dot_product()}, "forward", declared(), "n=100,c=100:seed=1");
    CHECK(made.oracle.seconds() == 0.0);
    made.oracle.reference(made.pass());
    CHECK(made.oracle.seconds() > 0.0);
}

}  // namespace gradverify
