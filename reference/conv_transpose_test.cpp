// SPDX-License-Identifier: Apache-2.0
// The reference of conv_transpose against values worked by hand and against conv's reference, with
// which it shares nothing: each is the other's gradient by the input.
#include "reference/conv_transpose.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "harness/base/random.hpp"
#include "harness/registry/registry.hpp"
#include "reference/tests/conv_twin.hpp"
#include "reference/tests/run_pass.hpp"

namespace gradverify {

namespace {

const Operator& named(const char* name) { return *Registry::instance().find_operator(name); }
const Operator& transposed() { return named("conv_transpose"); }

std::vector<double> run(const Operator& op, const std::string& pass_name, const Problem& problem,
                        const std::vector<Array<double>>& inputs) {
    const PassSpec& pass = *op.find_pass(pass_name);
    std::vector<Array<double>> outputs{{op.sizes_of(pass.outputs[0], problem), {}}};
    outputs[0].data.resize(static_cast<std::size_t>(element_count(outputs[0].sizes)));
    pass.reference(problem, inputs, outputs);
    return outputs[0].data;
}

Array<double> random_array(const Sizes& sizes, std::uint64_t seed) {
    Array<double> array{sizes, {}};
    SplitMix64 random(seed);
    for (std::int64_t i = 0; i < element_count(sizes); ++i)
        array.data.push_back(static_cast<double>(random.between(-9, 9)));
    return array;
}

Array<double> zeros(const Sizes& sizes) {
    return {sizes, std::vector<double>(static_cast<std::size_t>(element_count(sizes)))};
}

}  // namespace

TEST_CASE("conv_transpose.forward gives the values worked by hand") {
    // Two pixels a stride of three apart, each with its copy of the filter, and a bias of one.
    const Array<double> x{{1, 1, 2}, {2, 5}}, w{{1, 1, 2}, {1, 10}}, b{{1}, {1}};
    const auto y = [&](const char* problem) {
        return run(transposed(), "forward", Problem::parse(transposed().space, problem), {x, w, b});
    };
    CHECK(y("in=2,filter=2,stride=3") == std::vector<double>{3, 21, 1, 6, 51});
    CHECK(y("in=2,filter=2,stride=3,output_padding=2") ==
          std::vector<double>{3, 21, 1, 6, 51, 1, 1});
    CHECK(y("in=2,filter=2,stride=3,padding=1+0") == std::vector<double>{21, 1, 6, 51});
    CHECK(y("in=2,filter=2,stride=3,padding=0+2") == std::vector<double>{3, 21, 1});
    CHECK(y("in=2,filter=2,dilation=2") == std::vector<double>{3, 6, 21, 51});
    CHECK(y("in=2,filter=2") == std::vector<double>{3, 26, 51});
}

TEST_CASE("the two references are each other's gradients, in one, two and three dimensions") {
    const char* problems[] = {
        "in=1",
        "n=3,c=4,k=2,groups=2,in=5,filter=3,stride=2,dilation=2,padding=1+3,output_padding=1",
        "n=2,c=3,k=2,in=4x3,filter=3x2,stride=2x3,padding=1x0,output_padding=1x2",
        "c=4,k=6,groups=2,in=3x5,filter=2x3,dilation=3x1,padding=0+2x1+1",
        "n=2,c=2,k=2,groups=2,in=2x3x2,filter=2x1x3,stride=1x2x2,dilation=2x1x1,output_padding="
        "0x1x1",
        "n=0,c=2,k=2,in=3x3",
    };
    for (const char* text : problems) {
        CAPTURE(std::string(text));
        const Problem problem = Problem::parse(transposed().space, text);
        REQUIRE_FALSE(transposed().validate(problem));
        const Problem twin = testing::conv_twin_of(transposed(), problem, named("conv"));
        const Operator& conv = named("conv");
        const Sizes of_x = transposed().sizes_of("x", problem);
        const Sizes of_y = transposed().sizes_of("y", problem);
        REQUIRE(conv.sizes_of("y", twin) == of_x);
        REQUIRE(conv.sizes_of("x", twin) == of_y);
        const auto x = random_array(of_x, 1), dy = random_array(of_y, 2);
        const auto w = random_array(transposed().sizes_of("w", problem), 3);
        const auto b = random_array(transposed().sizes_of("b", problem), 4);
        const auto no_bias = zeros(b.sizes), none_of_conv = zeros(conv.sizes_of("b", twin));
        CHECK(run(transposed(), "forward", problem, {x, w, no_bias}) ==
              run(conv, "grad_input", twin, {x, w}));
        CHECK(run(transposed(), "grad_input", problem, {dy, w}) ==
              run(conv, "forward", twin, {dy, w, none_of_conv}));
        CHECK(run(transposed(), "grad_weight", problem, {dy, x}) ==
              run(conv, "grad_weight", twin, {x, dy}));
        // The bias is added once to each element of its channel.
        const auto with = run(transposed(), "forward", problem, {x, w, b});
        const auto without = run(transposed(), "forward", problem, {x, w, no_bias});
        double sum = 0.0, expected = 0.0;
        for (std::size_t i = 0; i < with.size(); ++i) sum += dy.data[i] * (with[i] - without[i]);
        const auto db = run(transposed(), "grad_bias", problem, {dy});
        for (std::size_t k = 0; k < db.size(); ++k) expected += db[k] * b.data[k];
        CHECK(sum == expected);
    }
}

TEST_CASE("conv_transpose.backward is its three gradients") {
    const char* problems[] = {
        "n=2,c=4,k=6,groups=2,in=3x2,filter=2x3,stride=2x1,padding=1x0,output_padding=1x0",
        "n=0,c=2,k=2,in=3"};
    for (const char* text : problems) {
        CAPTURE(std::string(text));
        const Problem problem = Problem::parse(transposed().space, text);
        const auto drawn = [&](const char* tensor, std::uint64_t seed) {
            return random_array(transposed().sizes_of(tensor, problem), seed).data;
        };
        const std::vector<std::pair<std::string, testing::Numbers>> inputs{
            {"dy", drawn("y", 1)}, {"x", drawn("x", 2)}, {"w", drawn("w", 3)}};
        const auto all = testing::run("conv_transpose", "backward", text, inputs);
        const char* passes[] = {"grad_input", "grad_weight", "grad_bias"};
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(all[i].data == testing::run("conv_transpose", passes[i], text, inputs)[0].data);
        const PassSpec& backward = *transposed().find_pass("backward");
        for (const char* pass : passes)
            CHECK(backward.reduction_length(problem) >=
                  transposed().find_pass(pass)->reduction_length(problem));
    }
}

TEST_CASE("conv_transpose refuses an output padding that no problem of conv has") {
    const auto why = [](const char* text) {
        return transposed().validate(Problem::parse(transposed().space, text)).value_or("");
    };
    CHECK(why("in=3,output_padding=1") ==
          "conv_transpose needs output_padding below the stride or the dilation of its axis");
    CHECK(why("in=3x3,stride=2x1,output_padding=0x1") != "");
    CHECK(why("in=3x3,stride=1x2,output_padding=0x1") == "");
    CHECK(why("in=3,dilation=2,output_padding=1") == "");
    CHECK(why("c=3,groups=2,in=1") == "conv_transpose needs c multiple of groups");
}

TEST_CASE("where the padding cuts all of it off there is no output") {
    const Problem problem = Problem::parse(transposed().space, "in=2,padding=3");
    CHECK(transposed().sizes_of("y", problem) == Sizes{1, 1, 0});
    CHECK(transposed().is_empty(problem));
}

}  // namespace gradverify
