// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/element_types.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "harness/testing/made_operator.hpp"

using namespace gradverify;
using namespace gradverify::testing;

/// y = x w, with the sum of x saved; `of` says which row of w.
static Operator with_saved_sum() {
    const auto sizes = [](const Problem&) { return Sizes{1}; };
    Operator op = toy_operator();
    op.inputs = {{.name = "x", .sizes = sizes},
                 {.name = "w", .sizes = sizes},
                 {.name = "of", .sizes = sizes, .dtype = DType::i32}};
    op.outputs = {{.name = "y", .sizes = sizes},
                  {.name = "sum", .sizes = sizes, .differentiable = false}};
    op.passes = {{.name = "forward", .inputs = {"x", "w", "of"}, .outputs = {"y", "sum"}},
                 {.name = "backward", .inputs = {"dy", "x", "sum", "of"}, .outputs = {"dx", "dw"}}};
    return op;
}

TEST_CASE("a tensor has the declared type, its gradient too; what is saved stays float") {
    const Operator op = with_saved_sum();
    const auto types = [&](const KernelDeclaration& kernel) {
        return print_types(kernel, op, *op.find_pass("backward"));
    };
    CHECK(types(toy_kernel("plain")) == "f32");
    CHECK(types(toy_kernel("plain").storage(DType::f64)) == "f64");
    CHECK(types(toy_kernel("plain").storage(DType::bf16)) == "bf16 (sum: f32)");
    CHECK(types(toy_kernel("plain").storage(DType::bf16).storage("sum", DType::bf16)) == "bf16");
    CHECK(types(toy_kernel("plain").storage("w", DType::f16)) == "f32 (dw: f16)");
    CHECK(types(toy_kernel("plain").storage("x", DType::f16).storage("dx", DType::f32)) ==
          "f32 (x: f16)");
    const KernelDeclaration half = toy_kernel("plain").storage(DType::f16);
    CHECK(dtype_of(half, op, "of") == DType::i32);
    CHECK(smallest_element_bytes(half, op, *op.find_pass("backward")) == 2);
    CHECK(smallest_element_bytes(toy_kernel("plain").storage(DType::f64), op,
                                 *op.find_pass("backward")) == 4);
}

TEST_CASE("an input may have scales for blocks of its elements, which a launcher is given, too") {
    Operator op = with_saved_sum();
    const auto forward = [&] { return *op.find_pass("forward"); };
    const KernelDeclaration kernel =
        toy_kernel("plain").block_scaled("x", nvfp4).block_scaled("w", mxfp8);
    CHECK(print_types(kernel, op, forward()) == "f32 (w: mxfp8; x: nvfp4)");
    CHECK(dtype_of(kernel, op, "x") == DType::f4e2m1);
    // A gradient is stored as it was.
    CHECK(dtype_of(kernel, op, "dx") == DType::f32);
    CHECK(tensors_of_call(kernel, forward()) ==
          std::vector<std::string>{"x", "w", "of", "x_scales", "w_scales", "y", "sum"});
    CHECK(mistakes_in_types(kernel, op, forward()).empty());
    const ElementTypes types(kernel, op);
    CHECK(types.exact_bits() == 24);
    CHECK(types.largest_integer(op, "x") == 2);
    CHECK(can_store(kernel, op, "x", {{2}, {0x1p-9, 6.0 * 0x1p-9}}));
    CHECK_FALSE(can_store(kernel, op, "x", {{2}, {0x1p-9, 7.0 * 0x1p-9}}));
    CHECK(can_store(kernel, op, "y", {{2}, {0.1f, 7.0 * 0x1p-9}}));

    const auto mistake = [&](const KernelDeclaration& wrong) {
        const auto mistakes = mistakes_in_types(wrong, op, forward());
        REQUIRE(mistakes.size() == 1);
        return mistakes.front();
    };
    CHECK(mistake(toy_kernel("plain").block_scaled("y", mxfp4)) ==
          "block_scaled(\"y\", gradverify::mxfp4) needs an input of the pass; there are x, w, of");
    CHECK(mistake(toy_kernel("plain").block_scaled("of", mxfp4)) ==
          "block_scaled(\"of\", gradverify::mxfp4) needs an input of any numbers, and of has a "
          "range");
    CHECK(mistake(toy_kernel("plain").block_scaled("x", mxfp8).strided("x")) ==
          "block_scaled(\"x\", gradverify::mxfp8) needs a tensor in rows, without a layout or "
          "strides");
    CHECK(mistake(toy_kernel("plain")
                      .block_scaled("x", mxfp8)
                      .storage("y", DType::f8e4m3)
                      .in_place("y", "x")) ==
          "block_scaled(\"x\", gradverify::mxfp8) needs an input that no output is written over");
    CHECK(mistake(toy_kernel("plain").storage("x", DType::f4e2m1)) ==
          "storage(\"x\") needs f8e4m3, f8e5m2, f16, bf16, f32 or f64, not f4e2m1");
    CHECK(
        mistake(toy_kernel("plain").storage("x", DType::f8e8m0)) ==
        "x can't be of f8e8m0, which has neither signs nor zero: it is for results; an input with "
        "such scales is block_scaled(\"x\", gradverify::mxfp8)");
    op.inputs[1].name = "x_scales";
    op.passes[0].inputs[1] = "x_scales";
    CHECK(mistake(toy_kernel("plain").block_scaled("x", mxfp8)) ==
          "block_scaled(\"x\", gradverify::mxfp8) needs the name x_scales for the scales, which "
          "another tensor has");
}

TEST_CASE("a kernel computes in float unless its tensors are doubles, or it says so") {
    KernelDeclaration kernel = toy_kernel("plain");
    CHECK(kernel.accumulator() == DType::f32);
    CHECK(kernel.storage(DType::bf16).accumulator() == DType::f32);
    CHECK(kernel.storage(DType::f64).accumulator() == DType::f64);
}

TEST_CASE("sums are as large as what they are stored in, and factors as small as their types") {
    const Operator op = with_saved_sum();
    KernelDeclaration kernel = toy_kernel("plain").storage("x", DType::f8e4m3);
    kernel.storage("w", DType::f8e5m2);
    const ElementTypes types(kernel, op);
    CHECK(types.exact_bits() == 24);
    // Twice as much is still a number of the type.
    CHECK(types.largest_integer(op, "x") == 8);
    CHECK(types.largest_integer(op, "w") == 4);
    CHECK(ElementTypes(kernel.storage("y", DType::f8e4m3), op).exact_bits() == 4);
    KernelDeclaration backward = kernel;
    backward.pass_name = "backward";
    CHECK(ElementTypes(backward, op).exact_bits() == 3);  // dw is of w's type
    backward.storage("dx", DType::f32).storage("dw", DType::f32);
    CHECK(ElementTypes(backward, op).exact_bits() == 24);
    // Beside halves there is a forward kernel of halves.
    KernelDeclaration mixed = backward;
    CHECK(ElementTypes(mixed.storage("x", DType::f16), op).exact_bits() == 11);
    CHECK(ElementTypes(backward.storage("sum", DType::f16), op).exact_bits() == 11);
    CHECK(ElementTypes(backward.accumulates_in(DType::bf16), op).exact_bits() == 8);
    CHECK(ElementTypes(backward.accumulates_in(DType::f32).on_tensor_cores(), op).exact_bits() ==
          11);
}

TEST_CASE("tensor cores multiply floats of 11 digits, and leave doubles alone") {
    const KernelDeclaration floats = toy_kernel("plain").on_tensor_cores();
    CHECK(floats.multiplies_in_tf32());
    CHECK(floats.truncates_sums());
    CHECK(ElementTypes(floats).exact_bits() == 11);
    for (const int digits : {21, 24}) {
        const KernelDeclaration split =
            toy_kernel("plain").splits_factors({.products = 3, .digits = digits});
        CHECK_FALSE(split.multiplies_in_tf32());
        CHECK(split.truncates_sums());
        CHECK(ElementTypes(split).exact_bits() == std::min(digits, 23));
    }
    const KernelDeclaration half = toy_kernel("plain").storage(DType::f16).on_tensor_cores();
    CHECK_FALSE(half.multiplies_in_tf32());
    CHECK(half.truncates_sums());
    CHECK(ElementTypes(half).exact_bits() == 11);
    KernelDeclaration narrow = toy_kernel("plain").storage(DType::bf16).on_tensor_cores();
    CHECK(ElementTypes(narrow).exact_bits() == 8);
    CHECK(narrow.storage("y", DType::f32).multiplies_in_tf32());
    narrow.rounds("p", DType::bf16);
    CHECK_FALSE(narrow.multiplies_in_tf32());
    KernelDeclaration rounding = toy_kernel("plain").rounds("p", DType::f16);
    CHECK(ElementTypes(rounding).exact_bits() == 11);
    CHECK(ElementTypes(rounding.rounds("ds", DType::bf16)).exact_bits() == 8);
    const KernelDeclaration doubles = toy_kernel("plain").storage(DType::f64).on_tensor_cores();
    CHECK_FALSE(doubles.multiplies_in_tf32());
    CHECK_FALSE(doubles.truncates_sums());
    CHECK(ElementTypes(doubles).exact_bits() == 53);
    CHECK_FALSE(toy_kernel("plain").truncates_sums());
}
