// SPDX-License-Identifier: Apache-2.0
// What is said beside the verdict: how small an error is seen, and how a kernel may be right.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/declare_operator.hpp"
#include "harness/registry/not_supported.hpp"
#include "harness/testing/small_declarations.hpp"
#include "properties/properties.hpp"
#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

// What the kernel leaves in its last output.
std::vector<double> written;

void write(const PassCall& call) {
    const Elements y(call.tensors.back());
    for (std::size_t i = 0; i < written.size(); ++i)
        y.set(static_cast<std::int64_t>(i), written[i]);
}

Outcome outcome_of(const std::vector<Operator>& operators, KernelDeclaration kernel,
                   const std::string& rest, const std::vector<double>& results) {
    kernel.thunk = write;
    written = results;
    MadeCase made(operators, "forward", kernel, rest);
    return within_rounding_bound(made);
}

/// y = x w, and a whole number that is always 1.
Operator marked_operator() {
    return declare_operator("marked")
        .parameter("n")
        .input("x", {"n"})
        .input("w", {"n"})
        .saved("mark", {"n"}, whole_numbers(0, 1))
        .output("y", {"n"})
        .sum_of_products({{"x", "w"}})
        .forward(by_element([](const auto& in, const auto& out) {
            out("mark") = 1.0;
            out("y") = in("x") * in("w");
        }));
}

/// c = x w is a whole number, and y = x - w.
Operator count_operator() {
    return declare_operator("count")
        .parameter("n")
        .input("x", {"n"})
        .input("w", {"n"})
        .output("y", {"n"})
        .saved("c", {"n"}, whole_numbers(0, 1000))
        .forward(by_element([](const auto& in, const auto& out) {
            out("y") = in("x") - in("w");
            out("c") = in("x") * in("w");
        }));
}

}  // namespace

TEST_CASE("a bound is told in ulps of the output's type, or of the sums' where these are coarser") {
    struct Line {
        Operator op;
        KernelDeclaration kernel;
        std::string rest;
        double ulps;
    };
    const std::string one = "n=1:data=x[0]=24,w[0]=20";
    const std::vector<Line> lines{
        // 480 is 0.9375 times the next power of two.
        {dot_product(), {}, one, 0.9375},
        {dot_product(), KernelDeclaration().accumulates_in(DType::f16), one, 0.9375},
        // A product halfway between two floats.
        {dot_product(), KernelDeclaration().accumulates_in(DType::f64),
         "n=1:data=x[0]=1.000244140625,w[0]=1.000244140625", 0.5},
        // The ulp of a whole number is 1; the difference is zero, which has none.
        {count_operator(), {}, "n=1:data=x[0]=3,w[0]=3", 9 * 0x1p-24}};
    for (const Line& line : lines) {
        const Outcome outcome = outcome_of({line.op}, line.kernel, line.rest, {});
        CAPTURE(&line - lines.data());
        REQUIRE(outcome.sensitivity);
        CHECK(outcome.sensitivity->least_ulps / line.ulps == doctest::Approx(1.0).epsilon(0.001));
    }
}

TEST_CASE("a kernel that may transform its data is told how to declare that") {
    struct Line {
        std::vector<double> results;
        bool is_advised;
        KernelDeclaration kernel = {};
        std::string data = "w[0]=1,x[0]=1000,x[1]=1";
    };
    // These numbers of bounds away from 1000 and from 1.
    const auto off = [](double first, double second) {
        return std::vector{1000 * (1 + first * 0x1p-24), 1 + second * 0x1p-24};
    };
    const std::vector<Line> lines{
        {off(0, 0), false},
        {off(1e3, 0), true},
        {off(0, 1e3), true},
        {off(1e4, 4), true},
        // No transform rounds by so much, or gives NaN.
        {off(1e6, 0), false},
        {off(1e6, 4), false},
        {{1000, NAN}, false},
        {{1200, 1}, false, KernelDeclaration().storage(DType::f16)},
        {{0, 0x1p-10}, false, {}, "w[0]=0.0009765625,x[0]=1,x[1]=1"},
        // It may leave something where nothing is added up.
        {{0.001, 1}, true, {}, "w[0]=1,x[1]=1"},
        // A whole term is none that a transform left.
        {{1, 1}, false, {}, "w[0]=1,x[1]=1"},
        {{0, 1}, false, {}, "w[0]=1,x[0]=1,x[1]=1"},
        {{1, 0}, false, {}, "w[0]=1"},
        // These are held to other bounds, or are no sums of products.
        {off(1e4, 0), false, KernelDeclaration().norm_wise(2)},
        // One rounding of the terms to the inputs' type.
        {off(1e4, 0), false,
         KernelDeclaration().storage("x", DType::bf16).storage("w", DType::bf16)},
        // This is more than that.
        {{1005, 1}, true, KernelDeclaration().storage("x", DType::bf16).storage("w", DType::bf16)},
        {{448, 2},
         false,
         KernelDeclaration().storage("y", DType::f8e4m3).saturates().accumulates_in(DType::f16),
         "w[0]=1,x[0]=448,x[1]=1"}};
    const auto is_advised = [](const Outcome& outcome) {
        return outcome.message.find("declares .norm_wise(growth)") != std::string::npos;
    };
    for (const Line& line : lines) {
        const Outcome outcome =
            outcome_of({dot_product()}, line.kernel, "n=2:data=" + line.data, line.results);
        CAPTURE(&line - lines.data());
        CHECK(outcome.verdict == (line.results == off(0, 0) ? Verdict::passed : Verdict::failed));
        CHECK(is_advised(outcome) == line.is_advised);
    }
    const Outcome copied =
        outcome_of({copying().piecewise_linear()}, {}, "n=1:data=x[0]=1", {1 + 0x1p-14});
    CHECK(copied.verdict == Verdict::failed);
    CHECK_FALSE(is_advised(copied));
    // What it left unwritten is no rounding.
    const Outcome unwritten = outcome_of({marked_operator()}, {}, "n=1:data=x[0]=2,w[0]=3", {6});
    CHECK(unwritten.verdict == Verdict::failed);
    CHECK_FALSE(is_advised(unwritten));
}

TEST_CASE("the step that departs is named where a kernel fails") {
    Operator chain = dot_product();
    chain.name = "chain";
    chain.passes[0].steps = {{"dot.forward",
                              [](const Problem& problem) { return problem.print(); },
                              {{"x", "x"}, {"w", "w"}, {"y", "y"}}}};
    const auto message_of = [&](double result) {
        return outcome_of({chain, dot_product()}, {}, "n=1:data=x[0]=2,w[0]=3", {result}).message;
    };
    CHECK(message_of(6) == "");
    CHECK(message_of(7).find("departs is y, of step 1 of 1, dot.forward") != std::string::npos);
}

TEST_CASE("what has no bound, or one wider than all values, is counted, and where that begins") {
    // With s = a within 3 by cancelling, 1 / s may be anything from a = 3 to -3.
    const Operator inverses = declare_operator("inverses")
                                  .parameter("n")
                                  .input("k", {"n"}, whole_numbers(0, 9))
                                  .input("one", {1})
                                  .input("a", {"n"})
                                  .output("y", {"n"})
                                  .output("small", {"n"})
                                  .output("mirrored", {"n"})
                                  .forward([]<class T>(const ForwardCall<T>& call) {
                                      const auto a = call.input("a"), one = call.input("one");
                                      const std::int64_t n = call.parameter("n");
                                      for (std::int64_t i = 0; i < n; ++i) {
                                          const T sum = (a(i) + T(0x1p24)) - T(0x1p24);
                                          call.output("y")(i) = one(0) / sum;
                                          call.output("small")(i) = sum * T(0x1p-10);
                                          call.output("mirrored")(n - 1 - i) = one(0) / sum;
                                      }
                                  });
    struct Line {
        std::vector<double> a;
        std::int64_t elements, without_bound;
        std::string place{};
        double border = 0.0;
        bool is_upwards = true;
    };
    for (const Line& line :
         {Line{{100, 200, 1, 2}, 4, 4, "a[3]", 2, false},
          Line{{-100, -200, -1, -2}, 4, 4, "a[3]", -2, true}, Line{{100, -100, 1, -1}, 4, 4},
          Line{{100, 50, 1, 1}, 4, 4, "a[2]", 1, false},
          Line{{-100, -50, -1, -1}, 4, 4, "a[2]", -1, true}, Line{{100, 200, 80, 90}, 0, 0},
          Line{{1, 1, 1, 1}, 12, 8, "a[0]", 1, true}, Line{{0, 0, 0, 0}, 8, 8, "a[0]", 0, true},
          Line{{0, 5, 5, 5}, 11, 2, "a[0]", 0, false}}) {
        std::string data = "k[2]=5,k[3]=5,one[0]=1";
        for (std::size_t i = 0; i < 4; ++i) data += fmt::format(",a[{}]={}", i, line.a[i]);
        const auto found = outcome_of({inverses}, {}, "n=4:data=" + data, {}).uncompared;
        CAPTURE(data);
        REQUIRE(found);
        CHECK(found->elements == line.elements);
        CHECK(found->total == 12);
        CHECK(found->without_bound == line.without_bound);
        CHECK(found->place == line.place);
        CHECK(found->border == line.border);
        CHECK(found->is_upwards == line.is_upwards);
    }
}

TEST_CASE("a cotangent with gaps is taken by its strides, for contiguous, or refused") {
    const Operator doubled = declare_operator("doubled")
                                 .parameter("n")
                                 .input("x", {"n", 2})
                                 .output("y", {"n", 2})
                                 .forward([]<class T>(const ForwardCall<T>& call) {
                                     for (std::int64_t i = 0; i < 2 * call.parameter("n"); ++i)
                                         call.output("y").flat(i) = 2.0 * call.input("x").flat(i);
                                 });
    enum class Way { strides, contiguous, refuses, throws };
    static Way way;
    const auto launch = [](const PassCall& call) {
        const TensorView &dy = call.tensors.front(), &dx = call.tensors.back();
        if (way == Way::refuses && dy.stride(0) != 2) throw NotSupported("dy has gaps");
        if (way == Way::throws && dy.stride(0) != 2) throw std::runtime_error("gaps");
        const std::int64_t row = way == Way::strides ? dy.stride(0) : 2;
        for (std::int64_t i = 0; i < dx.elements(); ++i)
            dx.as<float>()[i] = 2.0f * dy.as<const float>()[i / 2 * row + i % 2];
    };
    const auto told = [&](Way how, KernelDeclaration kernel) {
        way = how;
        kernel.thunk = launch;
        int count = 0;
        for (int seed = 0; seed < 40; ++seed) {
            MadeCase made({doubled}, "grad_x", kernel, "n=3:seed=" + std::to_string(seed));
            const Outcome outcome = within_rounding_bound(made);
            CHECK((outcome.verdict == Verdict::passed || outcome.verdict == Verdict::vacuous));
            count += outcome.contiguous_alone == "dy";
        }
        return count;
    };
    CHECK(told(Way::strides, {}) == 0);
    CHECK(told(Way::contiguous, {}) > 0);
    CHECK(told(Way::contiguous, KernelDeclaration().contiguous("dy")) == 0);
    CHECK(told(Way::throws, {}) == 0);
    CHECK(told(Way::refuses, KernelDeclaration().may_refuse()) == 0);
}

}  // namespace gradverify
