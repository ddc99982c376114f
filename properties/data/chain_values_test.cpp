// SPDX-License-Identifier: Apache-2.0
// What the tensors of layers behind each other hold.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "harness/declare_operator.hpp"
#include "properties/data/dense.hpp"
#include "properties/data/thinned.hpp"
#include "properties/tests/drawn_values.hpp"
#include "properties/tests/shrinking.hpp"

namespace gradverify {

using namespace testing;

namespace {

Holds in(double lowest, double highest) { return {.domain = {lowest, highest}}; }

/// A layer with a ReLU in front of it, and inputs of all domains. `is_chain`: it says that it is
/// made of steps.
Operator layer(bool is_chain) {
    Operator op = declare_operator("layer")
                      .parameter("n")
                      .parameter("k")
                      .input("x", {"n"})
                      .input("images", {"k", "n"})
                      .input("w", {"k", "n"}, numbers_below([](const Problem&) { return 2.0; }))
                      .input("above", {"n"}, in(-1.0, INFINITY))
                      .input("below", {"n"}, in(-INFINITY, 1.0))
                      .input("uneven", {"n"}, in(-1.0, 3.0))
                      .input("place", {"n"}, indices_below("k"))
                      .output("y", {"k"})
                      .forward([]<class T>(const ForwardCall<T>& call) {
                          const auto x = call.input("x"), w = call.input("w");
                          const auto y = call.output("y");
                          for (std::int64_t k = 0; k < y.size(0); ++k) {
                              y(k) = call.input("above")(0) + call.input("below")(0) +
                                     call.input("uneven")(0);
                              for (std::int64_t i = 0; i < x.size(0); ++i)
                                  y(k) += w(k, i) * max(x(i), T(0.0));
                          }
                      })
                      .branches_decide()
                      .piecewise_polynomial();
    if (is_chain) op.passes[0].steps.emplace_back();
    return op;
}

const std::string wide = "n=64,k=5";

}  // namespace

TEST_CASE("every fourth dense draw of layers meets kinks, and of others all after four") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        CHECK(meets_kinks(layer(true), dense(seed), ValueKind::integers) == (seed % 4 == 0));
        CHECK(meets_kinks(layer(false), dense(seed), ValueKind::integers) == (seed > 4));
        CHECK_FALSE(meets_kinks(layer(true), dense(seed), ValueKind::mantissas));
    }
}

TEST_CASE("the inputs of layers are positive in every second draw") {
    const Operator layers = layer(true), plain = layer(false);
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
    const Operator op = layer(true), plain = layer(false);
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
    const Operator op = layer(true);
    constexpr auto integers = ValueKind::integers;
    const Values thinned = draw_thinned(op, Problem::parse(op.space, wide), dense(2), 24);
    const Values values = all_drawn(op, wide, dense(2), integers);
    CHECK(values.size() == 8);
    for (const auto& [name, array] : values) {
        CAPTURE(name);
        CHECK(array.data == thinned.at(name).data);
        CHECK(drawn(op, wide, name.c_str(), dense(2), integers) == array.data);
    }
    CHECK(all_drawn(op, wide, dense(2)).at("x").data == drawn(op, wide, "x", dense(2)));
    const Data listed = listing({{"x", 3, 5.0}});
    CHECK(all_drawn(op, wide, listed, integers).at("x").data[3] == 5.0);
    CHECK(std::ranges::count(drawn(op, wide, "x", listed, integers), 0.0) == 64);
}

TEST_CASE("layers have 24 dense draws") {
    TestKernel kernel(test_kernel());
    Operator op = *kernel.kernel.op;
    kernel.kernel.op = &op;
    CHECK(dense_draw_count(kernel.kernel, "repeatable") == 3);
    op.passes[0].steps.emplace_back();
    CHECK(dense_draw_count(kernel.kernel, "repeatable") == 24);
}

}  // namespace gradverify
