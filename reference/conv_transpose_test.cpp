// SPDX-License-Identifier: Apache-2.0
// The reference of conv_transpose against values worked by hand and conv's reference.
#include "reference/conv_transpose.hpp"

#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

namespace {

const Operator& transposed() { return operator_of("conv_transpose"); }

/// The problem of conv_transpose whose forward pass is the gradient by the input of this one.
Problem transposed_twin_of(const Problem& problem) {
    const conv::Parameters p(problem);
    const Sizes y = operator_of("conv").sizes_of("y", problem);
    Problem twin(transposed().space, p.rank);
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
    std::vector<std::int64_t> rests;
    for (const conv::Axis& of : p.spatial())
        rests.push_back(
            (of.in + of.padding_left + of.padding_right - of.dilation * (of.filter - 1) - 1) %
            of.stride);
    set("output_padding", rests);
    return twin;
}

/// The bias is added once to each element of its channel, and gets the sum of their cotangents.
void check_bias(const Operator& op, const Problem& problem) {
    const auto result = [&](const char* pass, std::initializer_list<const char*> tensors) {
        return run(op, *op.find_pass(pass), problem, random_tensors(op, problem, tensors))[0];
    };
    const Numbers y = result("forward", {"x", "w", "b"}), without = result("forward", {"x", "w"});
    const Numbers b = random_numbers(op, "b", problem), dy = random_numbers(op, "dy", problem);
    Numbers db(b.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
        const std::size_t images = static_cast<std::size_t>(problem.scalar("n"));
        const std::size_t channel = i / (y.size() / images / b.size()) % b.size();
        CHECK(y[i] == without[i] + b[channel]);
        db[channel] += dy[i];
    }
    CHECK(result("grad_bias", {"dy"}) == db);
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
    const Operator& conv = operator_of("conv");
    for (const char* text : {
             "in=1",
             "in=1x2,dilation=1x2",
             "k=3,in=1x8,filter=1x3,stride=1x5,dilation=1x3,padding=4x0",
             "n=3,c=2,k=4,groups=2,in=9,filter=3,stride=2,dilation=2,padding=1+3",
             "n=3,c=2,k=4,groups=2,in=10,filter=3,stride=2,dilation=2,padding=1+3",
             "n=2,c=3,k=2,in=5x7,filter=3x2,stride=2x3,padding=1x2",
             "n=2,c=4,k=6,groups=2,in=6x5,filter=2x3,stride=1x2,dilation=2x1,padding=0x3",
             "c=6,k=4,groups=2,in=4x6,filter=2x3,dilation=3x1,padding=0+2x1+1",
             "c=6,k=6,groups=6,in=4x9,filter=3x3,stride=3x1,padding=1x1",
             "n=3,c=2,k=2,in=2x2,filter=5x4,padding=2x2",
             "n=2,c=2,k=2,in=4x5,filter=2x3,stride=2x1,padding=0+3x2+0",
             "in=2x2,filter=1x1,padding=1+0x0+2",
             "n=2,c=2,k=2,groups=2,in=3x6x5,filter=2x1x3,stride=1x2x2,dilation=2x1x1",
             "n=0,c=2,k=2,in=3x3",
         }) {
        CAPTURE(std::string(text));
        const Problem problem = valid_problem(conv, text), twin = transposed_twin_of(problem);
        REQUIRE_FALSE(transposed().validate(twin));
        REQUIRE(transposed().sizes_of("x", twin) == conv.sizes_of("y", problem));
        REQUIRE(transposed().sizes_of("y", twin) == conv.sizes_of("x", problem));
        const Numbers x = random_numbers(conv, "x", problem),
                      w = random_numbers(conv, "w", problem);
        const Numbers dy = random_numbers(conv, "dy", problem);
        const auto of_conv = [&](const char* pass, const Named& in) {
            return run(conv, *conv.find_pass(pass), problem, in)[0];
        };
        const auto of_twin = [&](const char* pass, const Named& in) {
            return run(transposed(), *transposed().find_pass(pass), twin, in)[0];
        };
        CHECK(of_conv("forward", {{"x", x}, {"w", w}}) ==
              of_twin("grad_input", {{"dy", x}, {"w", w}}));
        CHECK(of_conv("grad_input", {{"dy", dy}, {"w", w}}) ==
              of_twin("forward", {{"x", dy}, {"w", w}}));
        CHECK(of_conv("grad_weight", {{"dy", dy}, {"x", x}}) ==
              of_twin("grad_weight", {{"dy", x}, {"x", dy}}));
        check_bias(conv, problem);
        check_bias(transposed(), twin);
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
        const Named in = random_tensors(op, problem, {"dy", "x", "w"});
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

TEST_CASE("without outputs, by padding that cuts all off or a large filter, gradients are zeros") {
    for (const auto& [name, text] :
         {std::pair{"conv", "n=2,in=3x3,filter=4x1"}, {"conv_transpose", "in=2,padding=3"}}) {
        CAPTURE(std::string(name));
        const Operator& op = operator_of(name);
        const Problem problem = valid_problem(op, text);
        CHECK(op.sizes_of("y", problem)[2] == 0);
        CHECK(op.is_empty(problem));
        const Named in = random_tensors(op, problem, {"x", "w", "b", "dy"});
        for (const PassSpec& pass : op.passes)
            for (const Numbers& result : run(op, pass, problem, in))
                CHECK(result == Numbers(result.size()));
    }
}

}  // namespace gradverify
