// SPDX-License-Identifier: Apache-2.0
// The reference of complex_conv_transpose against values worked by hand and against complex_conv,
// of which it is the gradient by the input, with a conjugated filter.
#include "reference/complex_conv_transpose.hpp"

#include <doctest/doctest.h>

#include "harness/base/random.hpp"
#include "harness/registry/registry.hpp"
#include "reference/tests/conv_twin.hpp"
#include "reference/tests/run_pass.hpp"

namespace gradverify {

namespace {

using testing::Numbers;
using testing::run;

const Operator& named(const char* name) { return *Registry::instance().find_operator(name); }

Numbers random_numbers(const Sizes& sizes, std::uint64_t seed) {
    Numbers numbers;
    SplitMix64 random(seed);
    for (std::int64_t i = 0; i < element_count(sizes); ++i)
        numbers.push_back(static_cast<double>(random.between(-9, 9)));
    return numbers;
}

Numbers conjugated(Numbers numbers) {
    for (std::size_t i = 1; i < numbers.size(); i += 2) numbers[i] = -numbers[i];
    return numbers;
}

Numbers result(const char* op, const char* pass, const std::string& problem,
               const std::vector<std::pair<std::string, Numbers>>& inputs) {
    return run(op, pass, problem, inputs)[0].data;
}

}  // namespace

TEST_CASE("complex_conv_transpose gives the values worked by hand") {
    // One pixel: (1 + 2i)(3 + 4i) + (5 + 6i) = 16i, and (1 + 2i)(-i) + (5 + 6i) = 7 + 5i.
    CHECK(result("complex_conv_transpose", "forward", "in=1,filter=2",
                 {{"x", {1, 2}}, {"w", {3, 4, 0, -1}}, {"b", {5, 6}}}) == Numbers{0, 16, 7, 5});
    // (2 - i)(3 - 4i), (2 - i)(1 - 2i)
    const auto gradients = run("complex_conv_transpose", "backward", "in=1",
                               {{"dy", {2, -1}}, {"x", {1, 2}}, {"w", {3, 4}}});
    CHECK(gradients[0].data == Numbers{2, -11});
    CHECK(gradients[1].data == Numbers{0, -5});
    CHECK(gradients[2].data == Numbers{2, -1});
}

TEST_CASE("complex_conv_transpose is the gradient of complex_conv with a conjugated filter") {
    const char* problems[] = {
        "in=1",
        "n=3,c=4,k=2,groups=2,in=5,filter=3,stride=2,dilation=2,padding=1+3,output_padding=1",
        "n=2,c=3,k=2,in=4x3,filter=3x2,stride=2x3,padding=1x0,output_padding=1x2",
        "c=4,k=6,groups=2,in=2x1x3,filter=2x1x3,dilation=3x1x1,padding=0+2x0x1+1",
        "n=0,c=2,k=2,in=3x3",
    };
    const Operator &op = named("complex_conv_transpose"), &conv = named("complex_conv");
    for (const char* text : problems) {
        CAPTURE(std::string(text));
        const Problem problem = Problem::parse(op.space, text);
        const std::string twin = testing::conv_twin_of(op, problem, conv).print();
        const Numbers x = random_numbers(op.sizes_of("x", problem), 1);
        const Numbers w = random_numbers(op.sizes_of("w", problem), 2);
        const Numbers dy = random_numbers(op.sizes_of("y", problem), 3);
        CHECK(result("complex_conv_transpose", "forward", text, {{"x", x}, {"w", w}}) ==
              result("complex_conv", "grad_input", twin, {{"dy", x}, {"w", conjugated(w)}}));
        CHECK(result("complex_conv_transpose", "grad_input", text, {{"dy", dy}, {"w", w}}) ==
              result("complex_conv", "forward", twin, {{"x", dy}, {"w", conjugated(w)}}));
        CHECK(result("complex_conv_transpose", "grad_weight", text, {{"dy", dy}, {"x", x}}) ==
              conjugated(result("complex_conv", "grad_weight", twin, {{"dy", x}, {"x", dy}})));
    }
}

TEST_CASE("complex_conv_transpose.backward is its three gradients") {
    const std::string text = "n=2,c=2,k=4,groups=2,in=3x2,filter=2x3,stride=2x1,output_padding=1x0";
    const Operator& op = named("complex_conv_transpose");
    const Problem problem = Problem::parse(op.space, text);
    const std::vector<std::pair<std::string, Numbers>> inputs{
        {"dy", random_numbers(op.sizes_of("y", problem), 1)},
        {"x", random_numbers(op.sizes_of("x", problem), 2)},
        {"w", random_numbers(op.sizes_of("w", problem), 3)}};
    const auto all = run("complex_conv_transpose", "backward", text, inputs);
    const char* passes[] = {"grad_input", "grad_weight", "grad_bias"};
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(all[i].data == result("complex_conv_transpose", passes[i], text, inputs));
}

}  // namespace gradverify
