// SPDX-License-Identifier: Apache-2.0
// Values of layers behind each other: thinned integers, and numbers of their domains.
#include "properties/data/thinned.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/declare_operator.hpp"
#include "properties/tests/drawn_values.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// A layer behind a ReLU: y = w relu(x), plus the first element of each of `added`.
Operator layer(OperatorDeclaration declared, const std::vector<std::string>& added, bool is_chain) {
    Operator op = declared.output("y", {"k"})
                      .forward([=]<class T>(const ForwardCall<T>& call) {
                          const auto x = call.input("x"), w = call.input("w");
                          const auto y = call.output("y");
                          for (std::int64_t k = 0; k < y.size(0); ++k) {
                              for (const std::string& name : added) y(k) += call.input(name)(0);
                              for (std::int64_t i = 0; i < x.size(0); ++i)
                                  y(k) += w(k, i) * max(x(i), T(0.0));
                          }
                      })
                      .branches_decide()
                      .piecewise_polynomial();
    if (is_chain) op.passes[0].steps.emplace_back();
    return op;
}

Operator layer() {
    return layer(declare_operator("layer")
                     .parameter("n")
                     .parameter("k")
                     .input("x", {"n"})
                     .input("w", {"k", "n"})
                     .input("z", {"n"}),
                 {"z"}, true);
}

Holds in(double lowest, double highest) { return numbers_between(lowest, highest); }

/// The same with inputs of all domains.
Operator layer_of_domains(bool is_chain) {
    return layer(declare_operator("layer")
                     .parameter("n")
                     .parameter("k")
                     .input("x", {"n"})
                     .input("images", {"k", "n"})
                     .input("w", {"k", "n"}, numbers_below([](const Problem&) { return 2.0; }))
                     .input("above", {"n"}, in(-1.0, INFINITY))
                     .input("below", {"n"}, in(-INFINITY, 1.0))
                     .input("uneven", {"n"}, in(-1.0, 3.0))
                     .input("place", {"n"}, indices_below("k")),
                 {"above", "below", "uneven"}, is_chain);
}

Values thinned(const char* problem, const Data& data, int bits = 24) {
    const Operator op = layer();
    return draw_thinned(op, Problem::parse(op.space, problem), data, bits);
}

std::int64_t count(const Array<double>& array, double value) {
    return std::ranges::count(array.data, value);
}

/// What a dense draw holds on which y = factor x + constant.
Values of_a_constant(double factor, double constant, const char* problem, std::uint64_t seed = 1) {
    const Operator op = declare_operator("large")
                            .parameter("n")
                            .input("x", {"n"})
                            .output("y", {"n"})
                            .forward([=]<class T>(const ForwardCall<T>& call) {
                                for (std::int64_t i = 0; i < call.output("y").size(0); ++i)
                                    call.output("y")(i) =
                                        T(factor) * call.input("x")(i) + T(constant);
                            })
                            .piecewise_polynomial();
    return draw_thinned(op, Problem::parse(op.space, problem), dense(seed), 8);
}

/// Of the values of these seeds, of which one in so many is dense.
std::uint64_t digest_of_thinned(const std::vector<const char*>& problems,
                                const std::vector<int>& bits, std::uint64_t seeds,
                                std::uint64_t dense_one_in) {
    std::uint64_t sum = 0;
    for (const char* problem : problems)
        for (const int exact_bits : bits)
            for (std::uint64_t seed = 1; seed <= seeds; ++seed)
                for (const auto& [name, array] : thinned(
                         problem, {.seed = seed, .is_dense = seed % dense_one_in == 0}, exact_bits))
                    add(sum, array);
    return sum;
}

const std::string wide = "n=64,k=5";

OperatorDeclaration of_ones(const std::vector<std::string>& inputs) {
    OperatorDeclaration declared = declare_operator("ones");
    for (const std::string& name : inputs) declared.input(name, {1});
    return std::move(declared.output("y", {1}));
}

/// Whether a pass on these numbers, by the name of their tensor, is exact; a cotangent is one.
bool stays_exact(const Operator& op, const char* pass_name,
                 const std::map<std::string, double>& numbers, int bits = 8) {
    const PassSpec& pass = *op.find_pass(pass_name);
    std::vector<Array<double>> taken;
    for (const std::string& name : pass.taken_by_reference())
        taken.push_back({{1}, {numbers.contains(name) ? numbers.at(name) : 1.0}});
    return sums_stay_exact(op, pass, Problem(op.space, 0), taken, bits);
}

}  // namespace

TEST_CASE("thinned integers stay exact in every order of summation") {
    for (const int bits : {8, 11, 24})
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            CAPTURE(bits);
            CAPTURE(seed);
            const Values values =
                thinned("n=64,k=5", {.seed = seed, .is_dense = seed % 2 == 0}, bits);
            const auto &x = values.at("x").data, &w = values.at("w").data;
            for (std::size_t k = 0; k < 5; ++k) {
                double sum = std::abs(values.at("z").data[0]);
                for (std::size_t i = 0; i < 64; ++i)
                    sum += std::abs(w[64 * k + i]) * std::max(x[i], 0.0);
                CHECK(sum <= std::ldexp(1.0, bits));
            }
        }
}

TEST_CASE("while there is room, dense integers of all tensors differ") {
    std::multiset<double> all;
    for (const auto& [name, array] : thinned("n=8,k=3", dense(2)))
        all.insert(array.data.begin(), array.data.end());
    CHECK(all.size() == 43);
    CHECK(std::set(all.begin(), all.end()).size() == 43);
    CHECK(all.count(0.0) == 0);
}

TEST_CASE("random integers are of six sizes, without zeros and of both signs") {
    std::set<double> largest;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        if (meets_kinks(layer(), {.seed = seed}, ValueKind::integers)) continue;
        const Values values = thinned("n=8,k=16", {.seed = seed});
        const Array<double>&w = values.at("w"), &dy = values.at("dy");
        CHECK(count(w, 0.0) == 0);
        CHECK(count(dy, 0.0) == 0);
        CHECK(std::ranges::any_of(dy.data, [](double v) { return v < 0.0; }));
        double most = 0.0;
        for (const double value : w.data) most = std::max(most, std::abs(value));
        largest.insert(std::exp2(std::ceil(std::log2(most))));
    }
    CHECK(largest == std::set{1.0, 2.0, 4.0, 8.0, 16.0, 64.0});
}

TEST_CASE("positive draws of layers have positive inputs, and cotangents of both signs") {
    for (const std::uint64_t seed : {1, 3, 5, 7}) {
        const Values values = thinned("n=8,k=16", dense(seed));
        for (const char* input : {"x", "w", "z"})
            CHECK(std::ranges::all_of(values.at(input).data, [](double v) { return v > 0.0; }));
        CHECK(std::ranges::any_of(values.at("dy").data, [](double v) { return v < 0.0; }));
        CHECK(std::ranges::any_of(values.at("dy").data, [](double v) { return v > 0.0; }));
    }
}

TEST_CASE("where kinks are met inputs are zeros and ones, factors ones of both signs") {
    const Values values = thinned("n=1000,k=5", dense(4));
    // A third of 1000, give or take 15; half of 5000, give or take 35.
    for (const double value : {-1.0, 0.0, 1.0})
        CHECK(std::abs(count(values.at("x"), value) - 333) < 75);
    CHECK(count(values.at("x"), -1.0) + count(values.at("x"), 0.0) + count(values.at("x"), 1.0) ==
          1000);
    CHECK(std::abs(count(values.at("w"), 1.0) - 2500) < 180);
    CHECK(count(values.at("w"), 1.0) + count(values.at("w"), -1.0) == 5000);
    CHECK(count(values.at("dy"), 0.0) + count(values.at("dy"), 1.0) < 3);
}

TEST_CASE("the thinned integers of a seed are the same everywhere") {
    CHECK(digest_of_thinned({"n=8,k=3", "n=64,k=5", "n=2048,k=4"}, {8, 24}, 40, 3) ==
          5563915870369170083u);
    CHECK(digest_of_thinned({"n=8,k=3", "n=64,k=1"}, {4, 8, 24}, 40, 2) == 17666537773104376761u);
}

TEST_CASE("those of small layers are, in a few draws") {
    CHECK(digest_of_thinned({"n=8,k=3", "n=32,k=1"}, {4, 8}, 8, 2) == 11385384561262311457u);
}

TEST_CASE("thinned integers are small in a short type, and go down to none") {
    const Operator op = layer();
    const KernelDeclaration kernel =
        KernelDeclaration().storage(DType::f8e4m3).storage("y", DType::f32);
    double most = 0.0;
    for (const std::uint64_t seed : {2, 3, 6})
        for (const bool is_dense : {false, true})
            for (const auto& [name, array] :
                 draw_thinned(op, Problem::parse(op.space, "n=2,k=2"),
                              {.seed = seed, .is_dense = is_dense}, ElementTypes(kernel, op)))
                if (name != "dy")
                    for (const double value : array.data) most = std::max(most, std::abs(value));
    CHECK(most == 8.0);
    // In these draws an element is left until there are none.
    for (const std::uint64_t seed : {230, 251, 587})
        CHECK(count(of_a_constant(300.0, 0.0, "n=64", seed).at("x"), 0.0) == 64);
}

TEST_CASE("where nothing else is exact there are zeros, and where not even they are, an error") {
    const auto of = [](double factor, double constant) {
        return of_a_constant(factor, constant, "n=65536");
    };
    CHECK(count(of(300.0, 0.0).at("x"), 0.0) == 65536);
    CHECK(count(of(1.0, 0.0).at("x"), 0.0) == 0);
    CHECK(count(of(1.0, 256.0).at("x"), 0.0) == 65536);
    CHECK_THROWS_AS(of(1.0, 257.0), std::logic_error);
    CHECK_THROWS_AS(of(1.0, -257.0), std::logic_error);
}

TEST_CASE(
    "every fourth dense draw of layers meets kinks, and of others all after four but "
    "those of simple indices") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        CHECK(meets_kinks(layer_of_domains(true), dense(seed), ValueKind::integers) ==
              (seed % 4 == 0));
        CHECK(meets_kinks(layer_of_domains(false), dense(seed), ValueKind::integers) ==
              (seed > 4 && seed < 10));
        CHECK_FALSE(meets_kinks(layer_of_domains(true), dense(seed), ValueKind::mantissas));
    }
}

TEST_CASE("the inputs of layers are positive in every second draw") {
    const Operator layers = layer_of_domains(true), plain = layer_of_domains(false);
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CHECK(inputs_are_positive(layers, dense(seed)) == (seed % 2 == 1));
        CHECK_FALSE(inputs_are_positive(plain, dense(seed)));
    }
    const auto positive = [](const Operator& op) {
        return count_draws(400, [&](const Data& data) { return inputs_are_positive(op, data); });
    };
    CHECK(positive(plain) == 0);
    CHECK(std::abs(positive(layers) - 200) < 50);
}

TEST_CASE(
    "positive inputs are the same numbers without their signs, weights such that they average") {
    const Operator op = layer_of_domains(true), plain = layer_of_domains(false);
    for (const std::uint64_t seed : {1, 2, 5, 6}) {
        CAPTURE(seed);
        const bool is_positive = seed % 2 == 1;
        for (const auto& [tensor, divisor] :
             {std::pair("x", 1.0), std::pair("images", 1.0), std::pair("w", 8.0)}) {
            CAPTURE(tensor);
            auto expected = drawn(plain, wide, tensor, dense(seed));
            for (double& value : expected)
                if (is_positive) value = std::abs(value) / divisor;
            CHECK(drawn(op, wide, tensor, dense(seed)) == expected);
        }
        for (const char* tensor : {"above", "below", "uneven", "dy"})
            CHECK(drawn(op, wide, tensor, dense(seed)) == drawn(plain, wide, tensor, dense(seed)));
    }
}

TEST_CASE("integers of layers are thinned, all tensors together; other data is not") {
    const Operator op = layer_of_domains(true);
    constexpr auto integers = ValueKind::integers;
    const Values together = draw_thinned(op, Problem::parse(op.space, wide), dense(2), 24);
    const Values values = all_drawn(op, wide, dense(2), integers);
    CHECK(values.size() == 8);
    for (const auto& [name, array] : values) {
        CAPTURE(name);
        CHECK(array.data == together.at(name).data);
        CHECK(drawn(op, wide, name.c_str(), dense(2), integers) == array.data);
    }
    CHECK(all_drawn(op, wide, dense(2)).at("x").data == drawn(op, wide, "x", dense(2)));
    const Data listed = listing({{"x", 3, 5.0}});
    CHECK(all_drawn(op, wide, listed, integers).at("x").data[3] == 5.0);
    CHECK(std::ranges::count(drawn(op, wide, "x", listed, integers), 0.0) == 64);
}

TEST_CASE("a sum counts with the magnitudes of its terms and products, whatever their signs") {
    // What is summed is larger than what comes out.
    const Operator op = of_ones({"x", "a", "b"})
                            .forward([]<class T>(const ForwardCall<T>& call) {
                                const auto x = call.input("x"), a = call.input("a");
                                call.output("y")(0) += x(0) * a(0) - x(0) * call.input("b")(0);
                            })
                            .piecewise_polynomial();
    const auto is_exact = [&](double x, double a, double b, int bits = 8) {
        return stays_exact(op, "forward", {{"x", x}, {"a", a}, {"b", b}}, bits);
    };
    CHECK(is_exact(16, 8, 8));
    CHECK(is_exact(-16, 8, 7));
    CHECK_FALSE(is_exact(16, 9, 8));
    CHECK_FALSE(is_exact(16, -9, -8));
    CHECK(is_exact(16, 9, 8, 9));
    // A product beyond the type's integers, which another cancels.
    CHECK_FALSE(is_exact(16, 17, 17));
    CHECK_FALSE(is_exact(16, -17, -17));
}

TEST_CASE("a comparison of what is too large is not exact, and a tie that is left open is") {
    const Operator op = of_ones({"x", "a"})
                            .forward([]<class T>(const ForwardCall<T>& call) {
                                const auto x = call.input("x"), a = call.input("a");
                                call.output("y")(0) = x(0) * x(0) > a(0) ? x(0) * a(0) : x(0);
                            })
                            .piecewise_polynomial();
    for (const char* pass : {"forward", "backward"}) {
        CHECK(stays_exact(op, pass, {{"x", 4}, {"a", 15}}));
        CHECK_FALSE(stays_exact(op, pass, {{"x", 17}, {"a", 2}}));
        CHECK(stays_exact(op, pass, {{"x", 4}, {"a", 16}}));
    }
}

TEST_CASE("indices need not be exact in the type of the numbers") {
    const Operator op = of_ones({"x"})
                            .saved("index", {1}, whole_numbers(0, 1000))
                            .forward([]<class T>(const ForwardCall<T>& call) {
                                call.output("y")(0) = call.input("x")(0);
                                call.output("index")(0) = T(300.0);
                            })
                            .piecewise_polynomial();
    for (const double x : {256.0, -256.0, 257.0, -257.0})
        CHECK(stays_exact(op, "forward", {{"x", x}}) == (std::abs(x) == 256.0));
}

}  // namespace gradverify
