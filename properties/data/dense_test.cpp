// SPDX-License-Identifier: Apache-2.0
#include "properties/data/dense.hpp"

#include <doctest/doctest.h>

#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

std::vector<Case> dense_cases(const TestKernel& kernel, const char* device = "cpu") {
    return gradverify::dense_cases(kernel.kernel, "repeatable", device, parsed("c=2,in=1x2"));
}

}  // namespace

TEST_CASE("rounding to a narrow type hides errors from most draws, so there are more") {
    const auto draws = [](const KernelDeclaration& kernel,
                          const char* property = "within_rounding_bound") {
        return dense_draw_count(TestKernel(kernel).kernel, property);
    };
    const KernelDeclaration half = test_kernel().storage(DType::f16);
    CHECK(draws(half) == 30);
    CHECK(draws(half, "matches_reference") == 3);
    CHECK(draws(KernelDeclaration(half).accumulates_in(DType::f16)) == 3);
    CHECK(draws(test_kernel()) == 3);
    // Two factors of few digits lose none in much less than a float.
    CHECK(draws(test_kernel().storage("x", DType::f8e4m3)) == 30);
    // An output of integers hides no rounding.
    Operator of_integers = make_test_operator();
    of_integers.outputs.front().dtype = DType::i32;
    TestKernel integers(test_kernel(), of_integers);
    integers.kernel.pass = of_integers.find_pass("forward");
    CHECK(dense_draw_count(integers.kernel, "within_rounding_bound") == 3);
}

TEST_CASE("three dense cases have different data, and no order of threads on a GPU") {
    const TestKernel kernel(test_kernel());
    const std::vector<Case> cases = dense_cases(kernel);
    REQUIRE(cases.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(cases[i].kernel == kernel.kernel.name);
        CHECK(cases[i].property == "repeatable");
        CHECK(cases[i].problem == parsed("c=2,in=1x2"));
        CHECK(cases[i].data == Data{.seed = i + 1, .is_dense = true});
        CHECK(cases[i].setting.block_size == 0);
    }
    for (const Case& one : dense_cases(kernel, "cuda"))
        CHECK(one.setting.order == ThreadOrder::ascending);
}

TEST_CASE("orders of threads, blocks, streams and offsets take turns over many draws") {
    const TestKernel kernel(test_kernel().blocks_of({256, 64, 32, 96, 37}).aligned_to(16));
    const std::vector<Case> cases = dense_cases(kernel);
    REQUIRE(cases.size() == 5);
    using enum ThreadOrder;
    const ThreadOrder orders[] = {ascending, descending, random_warps, ascending, descending};
    const std::vector<int> offsets[] = {{}, {4, 8, 12}, {8, 0, 8}, {12, 8, 4}, {}};
    const int blocks[] = {0, 64, 32, 96, 37};
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(cases[i].setting.order == orders[i]);
        CHECK(cases[i].setting.order_seed == (i == 2 ? 1 : 0));
        CHECK(cases[i].setting.block_size == blocks[i]);
        CHECK(cases[i].setting.own_stream == (i == 1 || i == 3));
        CHECK(cases[i].setting.offsets == offsets[i]);
    }
    // Below an element's size, by whole elements.
    const TestKernel bytes(test_kernel().aligned_to(2));
    CHECK(dense_cases(bytes)[1].setting.offsets == std::vector<int>{1, 2, 3});
    const TestKernel on_default(test_kernel().on_default_stream());
    for (const Case& one : dense_cases(on_default)) CHECK_FALSE(one.setting.own_stream);
}

TEST_CASE("all outputs and each subset of up to three take turns, where the kernel takes a mask") {
    TestKernel kernel(test_kernel());
    PassSpec pass = *kernel.kernel.pass;
    kernel.kernel.pass = &pass;
    const auto masks = [&](std::vector<std::string> outputs) {
        pass.outputs = std::move(outputs);
        std::vector<std::uint32_t> drawn;
        for (const Case& one : dense_cases(kernel)) drawn.push_back(one.setting.output_mask);
        return drawn;
    };
    using Masks = std::vector<std::uint32_t>;
    constexpr std::uint32_t all = Setting::every_output;
    CHECK(masks({"dx", "dw", "db"}) == Masks{all, all, all});
    kernel.declaration.takes_output_mask = true;
    CHECK(masks({"dw"}) == Masks{all, 0, all});
    CHECK(masks({"dx", "dw"}) == Masks{all, 1, 2, 0});
    CHECK(masks({"dx", "dw", "db"}) == Masks{all, 1, 2, 3, 4, 5, 6, 0});
    CHECK(masks({"dx", "dw", "db", "y"}) == Masks{all, 1, 2, 3, 4, 5, 6, 7});
    // The first sixteen of more outputs take turns.
    pass.outputs.assign(40, "dw");
    const auto mask = [&](int draw) {
        return dense_case(kernel.kernel, "repeatable", "cpu", parsed("in=1x1"), draw)
            .setting.output_mask;
    };
    CHECK(mask(255) == 255);
    CHECK(mask(65534) == 65534);
    CHECK(mask(65535) == 0);
    CHECK(mask(65536) == all);
}

TEST_CASE("pointers change where a kernel needs less than the alignment of cudaMalloc, 256 bytes") {
    for (const int bytes : {128, 255, 256, 512}) {
        const TestKernel kernel(test_kernel().aligned_to(bytes));
        CHECK(dense_cases(kernel)[1].setting.offsets.empty() == (bytes >= 256));
    }
}

TEST_CASE("every other dense case is in place, at each place that is the caller's choice") {
    const auto places = [](const KernelDeclaration& declared) {
        const TestKernel kernel(declared);
        std::vector<int> drawn;
        for (const Case& one : dense_cases(kernel)) drawn.push_back(one.setting.place);
        return drawn;
    };
    const KernelDeclaration plain = test_kernel();
    CHECK(places(KernelDeclaration(plain).updates("dw", "x")) == std::vector{0, 0, 0});
    KernelDeclaration declared = KernelDeclaration(plain).in_place("dw", "dy");
    CHECK(places(declared) == std::vector{0, 1, 0});
    CHECK(places(KernelDeclaration(declared).blocks_of({1, 2, 3, 4, 5})) ==
          std::vector{0, 1, 0, 1, 0});
    CHECK(places(declared.in_place("dw", "x")) == std::vector{0, 1, 0, 2});
    CHECK(places(declared.in_place("dw", "w")) == std::vector{0, 1, 0, 2, 0, 3});
}

TEST_CASE("an operator's ties, NaN, indices and steps have more dense cases") {
    TestKernel kernel(test_kernel());
    Operator op = make_test_operator();
    kernel.kernel.op = &op;
    const auto cases_of = [&](Algebra algebra, bool may_be_nan = false, bool chooses = false) {
        op = make_test_operator();
        op.algebra = algebra;
        op.inputs[0].may_be_nan = may_be_nan;
        op.inputs[0].dtype = chooses ? DType::i32 : DType::f32;
        return dense_cases(kernel).size();
    };
    CHECK(cases_of(Algebra::piecewise_linear) == 8);
    CHECK(cases_of(Algebra::products, true) == 8);
    // One is of tiny numbers.
    CHECK(cases_of(Algebra::smooth) == 4);
    CHECK(cases_of(Algebra::products) == 3);
    // Indices choose among numbers of no sum of products.
    CHECK(cases_of(Algebra::smooth, false, true) == 12);
    CHECK(cases_of(Algebra::products, false, true) == 6);
    op.passes[0].steps.emplace_back();
    CHECK(dense_cases(kernel).size() == 24);
}
