// SPDX-License-Identifier: Apache-2.0
// The reference of conv_transpose against values worked by hand and conv's reference.
#include "reference/conv_transpose.hpp"

#include <numeric>

#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

namespace {

const Operator& transposed() { return operator_of("conv_transpose"); }

/// The problem of conv whose gradient by the input is the forward pass of this one.
Problem conv_twin_of(const Problem& problem) {
    const conv_transpose::Parameters p(problem);
    const Sizes y = transposed().sizes_of("y", problem);
    Problem twin(operator_of("conv").space, p.rank);
    const auto set = [&](std::string_view name, std::span<const std::int64_t> values) {
        const std::vector<int> slots = twin.space().find(name, p.rank);
        for (std::size_t i = 0; i < slots.size(); ++i) twin[slots[i]] = values[i];
    };
    for (const auto& [of_twin, name] :
         {std::pair{"n", "n"}, {"c", "k"}, {"k", "c"}, {"groups", "groups"}})
        set(of_twin, problem.all_of(name));
    set("in", std::span(y).subspan(2));
    for (const char* name : {"filter", "stride", "dilation", "padding"})
        set(name, problem.all_of(name));
    return twin;
}

}  // namespace

TEST_CASE("conv_transpose.forward gives the values worked by hand") {
    // Two pixels a stride of three apart, each with its copy of the filter, and a bias of one.
    const auto y = [&](const char* problem) {
        return run("conv_transpose", "forward", problem,
                   {{"x", {2, 5}}, {"w", {1, 10}}, {"b", {1}}})[0];
    };
    CHECK(y("in=2,filter=2,stride=3") == Numbers{3, 21, 1, 6, 51});
    CHECK(y("in=2,filter=2,stride=3,output_padding=2") == Numbers{3, 21, 1, 6, 51, 1, 1});
    CHECK(y("in=2,filter=2,stride=3,padding=1+0") == Numbers{21, 1, 6, 51});
    CHECK(y("in=2,filter=2,stride=3,padding=0+2") == Numbers{3, 21, 1});
    CHECK(y("in=2,filter=2,dilation=2") == Numbers{3, 6, 21, 51});
    CHECK(y("in=2,filter=2") == Numbers{3, 26, 51});
}

TEST_CASE("the two references are each other's gradients, in one, two and three dimensions") {
    for (const char* text : {
             "in=1",
             "n=3,c=4,k=2,groups=2,in=5,filter=3,stride=2,dilation=2,padding=1+3,output_padding=1",
             "n=2,c=3,k=2,in=4x3,filter=3x2,stride=2x3,padding=1x0,output_padding=1x2",
             "c=4,k=6,groups=2,in=3x5,filter=2x3,dilation=3x1,padding=0+2x1+1",
             "n=2,c=2,k=2,groups=2,in=2x3x2,filter=2x1x3,stride=1x2x2,dilation=2x1x1,"
             "output_padding=0x1x1",
             "n=0,c=2,k=2,in=3x3",
         }) {
        CAPTURE(std::string(text));
        const Problem problem = valid_problem(transposed(), text), twin = conv_twin_of(problem);
        const Operator& conv = operator_of("conv");
        REQUIRE(conv.sizes_of("y", twin) == transposed().sizes_of("x", problem));
        REQUIRE(conv.sizes_of("x", twin) == transposed().sizes_of("y", problem));
        const auto drawn = [&](const char* tensor) {
            return random_numbers(transposed(), tensor, problem);
        };
        const Numbers x = drawn("x"), w = drawn("w"), b = drawn("b"), dy = drawn("dy");
        const auto result = [&](const char* pass, const Named& in) {
            return run(transposed(), *transposed().find_pass(pass), problem, in)[0];
        };
        const auto of_conv = [&](const char* pass, const Named& in) {
            return run(conv, *conv.find_pass(pass), twin, in)[0];
        };
        const Numbers without = result("forward", {{"x", x}, {"w", w}});
        CHECK(without == of_conv("grad_input", {{"dy", x}, {"w", w}}));
        CHECK(result("grad_input", {{"dy", dy}, {"w", w}}) ==
              of_conv("forward", {{"x", dy}, {"w", w}}));
        CHECK(result("grad_weight", {{"dy", dy}, {"x", x}}) ==
              of_conv("grad_weight", {{"dy", x}, {"x", dy}}));
        // The bias is added once to each element of its channel.
        const Numbers with = result("forward", {{"x", x}, {"w", w}, {"b", b}});
        double sum = 0.0;
        for (std::size_t i = 0; i < with.size(); ++i) sum += dy[i] * (with[i] - without[i]);
        const Numbers db = result("grad_bias", {{"dy", dy}});
        CHECK(sum == std::inner_product(db.begin(), db.end(), b.begin(), 0.0));
    }
}

TEST_CASE("the backward pass of conv and conv_transpose is their three gradients") {
    for (const auto& [name, text] : std::vector<std::pair<const char*, const char*>>{
             {"conv", "n=2,c=2,k=4,groups=2,in=4x3x5,filter=2,padding=1"},
             {"conv_transpose",
              "n=2,c=4,k=6,groups=2,in=3x2,filter=2x3,stride=2x1,padding=1x0,"
              "output_padding=1x0"},
             {"conv_transpose", "n=0,c=2,k=2,in=3"}}) {
        CAPTURE(std::string(text));
        const Operator& op = operator_of(name);
        const Problem problem = valid_problem(op, text);
        Named in;
        for (const char* tensor : {"dy", "x", "w"})
            in.emplace_back(tensor, random_numbers(op, tensor, problem));
        const PassSpec& backward = *op.find_pass("backward");
        const auto all = run(op, backward, problem, in);
        const char* passes[] = {"grad_input", "grad_weight", "grad_bias"};
        for (std::size_t i = 0; i < 3; ++i) {
            const PassSpec& pass = *op.find_pass(passes[i]);
            CHECK(all[i] == run(op, pass, problem, in)[0]);
            CHECK(backward.reduction_length(problem) >= pass.reduction_length(problem));
        }
    }
}

TEST_CASE("conv_transpose refuses an output padding that no problem of conv has") {
    const auto why = [](const char* text) { return why_invalid(transposed(), text); };
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
