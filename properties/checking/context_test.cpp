// SPDX-License-Identifier: Apache-2.0
// Which kernels may speak for or against another, and what they are asked.
#include "properties/checking/context.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "harness/devices/call_note.hpp"
#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

void launch_one_more(const PassCall& call) {
    launch_scaled(call);
    Elements(call, "y").add(0, 1.0);
}

void launch_dead(const PassCall&) { throw std::runtime_error("dead"); }

/// Forgets the product, and so is right where x is zero.
void launch_bias_alone(const PassCall& call) {
    for (std::int64_t i = 0; i < call.problem.scalar("n"); ++i) {
        Elements(call, "y").set(i, Elements(call, "b")[i]);
        Elements(call, "kept").set(i, 0.0);
    }
}

KernelDeclaration on_cuda_alone() {
    KernelDeclaration kernel = scaled_kernel("elsewhere");
    kernel.device = "cuda";
    return kernel;
}

const Registry& kernels() {
    static const Registry registry = registry_of(
        {scaled_kernel("a_dead", launch_dead), scaled_kernel("a_wrong", launch_one_more),
         scaled_kernel("b_right"),
         scaled_kernel("c_half", launch_bias_alone).storage("w", DType::f16), scaled_kernel("own"),
         scaled_kernel("adds").adds_to_outputs(), scaled_kernel("transforms").norm_wise(80.0),
         scaled_kernel("without_b").without("b"), scaled_kernel("pairs").where("n", multiple_of(2)),
         scaled_kernel("deadly"), on_cuda_alone()},
        scaled());
    return registry;
}

const Kernel& named(const std::string& kernel) {
    return *kernels().find_kernel("scaled.forward/" + kernel);
}

Scene scene_of(const std::string& rest, const std::string& kernel = "own") {
    return {kernels(), "scaled.forward/" + kernel, rest};
}

}  // namespace

TEST_CASE("what is off by no more than an ulp of its floating type is not told as imprecise") {
    Expected expected{.tensor = "y", .sizes = {1}, .values = {8.0}, .bounds = {Bound(0x1p-30)}};
    expected.by_any_formula = [] { return std::vector<Bound>{Bound(1.0)}; };
    const auto imprecision_of = [&](double got, DType dtype = DType::f32) {
        CallResult result;
        result.outputs = {{{1}, {got}}};
        result.output_types = {dtype};
        return compare_outputs(result, {expected}, {}).front().imprecision.has_value();
    };
    CHECK_FALSE(imprecision_of(8.0 + 0x1p-20));
    CHECK(imprecision_of(8.0 + 0x1p-19));
    CHECK(imprecision_of(9.0, DType::i32));
}

TEST_CASE("a partner is another kernel of exact results, on the case's device and problem") {
    distrust("scaled.forward/deadly");
    const auto partners_at = [](const std::string& rest) {
        const Scene scene = scene_of(rest);
        std::string partners;
        for (const Kernel& kernel : kernels().kernels())
            if (can_be_partner(scene, kernel))
                partners += kernel.name.substr(kernel.name.find('/') + 1) + " ";
        return partners;
    };
    CHECK(partners_at("n=3:seed=1") == "a_dead a_wrong b_right c_half ");
    CHECK(partners_at("n=2:seed=1") == "a_dead a_wrong b_right c_half pairs ");
}

TEST_CASE("kernels that the CPU device has too are partners before others") {
    const Registry registry =
        registry_of({on_cuda_alone(), scaled_kernel("own"), scaled_kernel("z")}, scaled());
    std::string names;
    for (const Kernel* kernel :
         partners_in_turn(registry, *registry.find_kernel("scaled.forward/z")->pass))
        names += kernel->name.substr(kernel->name.find('/') + 1) + " ";
    CHECK(names == "own z elsewhere ");
}

TEST_CASE(
    "a sound forward kernel takes the inputs as they are, and gives the reference's numbers") {
    distrust("scaled.forward/deadly");
    struct Line {
        std::string data;
        std::set<const Kernel*> unsound;
        const Kernel* sound;
    };
    const Kernel *right = &named("b_right"), *half = &named("c_half");
    for (const Line& line : {Line{"b[0]=5,x[0]=3,w[0]=2", {}, right},
                             {"b[0]=5,x[0]=3,w[0]=2", {right}, nullptr},
                             {"b[0]=5,w[0]=2", {right}, half},
                             // No number of half.
                             {"b[0]=5,w[0]=4097", {right}, nullptr}}) {
        CAPTURE(line.data);
        Scene scene = scene_of("n=1:data=" + line.data);
        CHECK(sound_forward(scene, line.unsound) == line.sound);
    }
}

TEST_CASE("a failure's message begins with the wrong elements that were never written") {
    const PassSpec pass{.name = "forward", .outputs = {"y", "z"}};
    CallResult result;
    result.untouched = {{0, 1}, {2}};
    const auto message_of = [&](std::int64_t wrong_of_y, const std::string& marks) {
        Outcome outcome = Outcome::failed("is wrong");
        outcome.maps = {{.tensor = "<dy, ty>", .wrong = 1, .total = 1},
                        {.tensor = "y", .wrong = wrong_of_y, .total = 3, .marks = marks},
                        {.tensor = "z", .wrong = 1, .total = 3}};
        lead_with_unwritten(outcome, pass, result);
        return outcome.message;
    };
    const std::string both =
        "leaves 2 of 3 elements of y as they were, and leaves 1 of 3 elements of z as they were: "
        "never written, or added to";
    CHECK(message_of(2, "##.") == both);
    CHECK(message_of(2, "") == both);
    CHECK(message_of(3, "###") == both + "; besides, it is wrong");
    CHECK(message_of(1, "..#") ==
          "leaves 1 of 3 elements of z as they were: never written, or added to; besides, it is "
          "wrong");
    result.untouched = {{}, {}};
    CHECK(message_of(3, "###") == "is wrong");
}

TEST_CASE("a kernel's result is right where the outputs that are asked for are") {
    const std::string rest = "n=2:data=b[0]=5,x[1]=3,w[0]=2";
    Scene right = scene_of(rest), wrong = scene_of(rest, "a_wrong");
    const auto result_of = [](Scene& scene) {
        return scene.caller.call(scene.kernel(), scene.given());
    };
    CallResult result = result_of(right);
    CHECK(is_right(right, result));
    CHECK_FALSE(is_right(wrong, result_of(wrong)));
    result.outputs[1].data[1] = 2.0;
    result.output_types[1] = DType::f16;
    CHECK_FALSE(is_right(right, result));
    const auto expected = right.oracle.expected();
    const auto asked = compare_outputs(result, expected, {.output_mask = 2});
    REQUIRE(asked.size() == 1);
    CHECK(asked[0].worst.at(0).tensor == "kept");
    CHECK(asked[0].worst.at(0).dtype == DType::f16);
    CHECK(compare_outputs(result, expected, {.output_mask = 1}).at(0).ok);
}

TEST_CASE("the tangent's inputs keep what the moved tensor is multiplied by, and indices") {
    Scene scene = scene_of("n=1,rows=2:data=index[0]=1,x[0]=3,w[1]=2,b[0]=5,dy[0]=7");
    const auto tangent = [&](const std::string& tensor, std::vector<double> direction) {
        std::vector<std::vector<double>> all;
        const Sizes sizes{static_cast<std::int64_t>(direction.size())};
        for (auto& input : tangent_inputs(scene, tensor, {sizes, std::move(direction)}))
            all.push_back(input.data);
        return all;
    };
    using Rows = std::vector<std::vector<double>>;
    CHECK(tangent("x", {4}) == Rows{{1}, {4}, {0, 2}, {0}});
    CHECK(tangent("w", {4, 6}) == Rows{{1}, {3}, {4, 6}, {0}});
    CHECK(tangent("b", {4}) == Rows{{1}, {0}, {0, 0}, {4}});
    CHECK(with_cotangents(scene, {{{1}, {11}}, {{1}, {3}}}) == 77);
    // The saved output has no cotangent, though one could be drawn.
    Scene drawn = scene_of("n=1,rows=2:seed=1");
    const double dy = drawn.inputs["dy"].data[0];
    CHECK(drawn.inputs["dkept"].data[0] != 0.0);
    CHECK(with_cotangents(drawn, {{{1}, {11}}, {{1}, {3}}}) == 11.0 * dy);
}

}  // namespace gradverify
