// SPDX-License-Identifier: Apache-2.0
// What the tensors of layers behind each other hold.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/declare_operator.hpp"
#include "properties/data/dense.hpp"
#include "properties/data/thinned.hpp"
#include "properties/data/values.hpp"
#include "properties/tests/shrinking.hpp"

namespace gradverify {

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

Problem wide(const Operator& op) { return Problem::parse(op.space, "n=64,k=5"); }

Array<double> drawn(const Operator& op, const Data& data, const char* tensor) {
    return draw_tensor(op, wide(op), data, ValueKind::mantissas, ElementTypes(24), tensor);
}

Data dense(std::uint64_t seed) { return {.seed = seed, .is_dense = true}; }

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
    int positive = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CHECK(inputs_are_positive(layer(true), dense(seed)) == (seed % 2 == 1));
        CHECK_FALSE(inputs_are_positive(layer(false), dense(seed)));
        CHECK_FALSE(inputs_are_positive(layer(false), {.seed = seed}));
        positive += inputs_are_positive(layer(true), {.seed = seed});
    }
    CHECK(std::abs(positive - 200) < 50);
}

TEST_CASE(
    "positive inputs are the same numbers without their signs, weights such that they average") {
    const Operator op = layer(true), plain = layer(false);
    for (const std::uint64_t seed : {1, 2, 5, 6}) {
        CAPTURE(seed);
        const bool is_positive = seed % 2 == 1;
        const auto x = drawn(op, dense(seed), "x").data, w = drawn(op, dense(seed), "w").data;
        const auto plain_x = drawn(plain, dense(seed), "x").data;
        const auto plain_w = drawn(plain, dense(seed), "w").data;
        for (std::size_t i = 0; i < x.size(); ++i)
            CHECK(x[i] == (is_positive ? std::abs(plain_x[i]) : plain_x[i]));
        for (std::size_t i = 0; i < w.size(); ++i)
            CHECK(w[i] == (is_positive ? std::abs(plain_w[i]) / 8.0 : plain_w[i]));
        const auto images = drawn(op, dense(seed), "images").data;
        const auto plain_images = drawn(plain, dense(seed), "images").data;
        for (std::size_t i = 0; i < images.size(); ++i)
            CHECK(images[i] == (is_positive ? std::abs(plain_images[i]) : plain_images[i]));
        for (const char* tensor : {"above", "below", "uneven", "dy"})
            CHECK(drawn(op, dense(seed), tensor).data == drawn(plain, dense(seed), tensor).data);
    }
}

TEST_CASE("integers of layers are thinned, all tensors together; other data is not") {
    const Operator op = layer(true);
    const ElementTypes types(24);
    const Values thinned = draw_thinned(op, wide(op), dense(2), types);
    const Values values = draw_values(op, wide(op), dense(2), ValueKind::integers, types);
    CHECK(values.size() == 8);
    for (const auto& [name, array] : values) {
        CAPTURE(name);
        CHECK(array.data == thinned.at(name).data);
        CHECK(draw_tensor(op, wide(op), dense(2), ValueKind::integers, types, name).data ==
              array.data);
    }
    CHECK(draw_values(op, wide(op), dense(2), ValueKind::mantissas, types).at("x").data ==
          drawn(op, dense(2), "x").data);
    const Data listed{.is_explicit = true, .elements = {{"x", 3, 5.0}}};
    CHECK(draw_values(op, wide(op), listed, ValueKind::integers, types).at("x").data[3] == 5.0);
    CHECK(std::ranges::count(
              draw_tensor(op, wide(op), listed, ValueKind::integers, types, "x").data, 0.0) == 64);
}

TEST_CASE("layers have 24 dense draws") {
    testing::TestKernel kernel(testing::test_kernel());
    Operator op = *kernel.kernel.op;
    kernel.kernel.op = &op;
    CHECK(dense_draw_count(kernel.kernel, "repeatable") == 3);
    op.passes[0].steps.emplace_back();
    CHECK(dense_draw_count(kernel.kernel, "repeatable") == 24);
}

}  // namespace gradverify
