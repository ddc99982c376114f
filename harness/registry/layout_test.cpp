// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/layout.hpp"

#include <doctest/doctest.h>

#include "harness/testing/made_operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// `toy` whose x and y, of n and one or two axes, may lie with n innermost.
Operator toy_with_orders() {
    Operator op = toy_operator();
    const auto as_it_is = [](int rank) {
        return rank == 2 ? std::vector{0, 1} : std::vector{0, 1, 2};
    };
    const auto n_last = [](int rank) {
        return rank == 2 ? std::vector{1, 0} : std::vector{1, 2, 0};
    };
    op.inputs[0].orders = op.outputs[0].orders = {{"nhw", as_it_is}, {"hwn", n_last}};
    return op;
}

const PassSpec& gradient(const Operator& op) { return op.passes[1]; }

KernelDeclaration of_gradient(const char* variant = "plain") {
    KernelDeclaration kernel = toy_kernel(variant);
    kernel.pass_name = "grad_x";
    return kernel;
}

Strides strides(const KernelDeclaration& kernel, const char* tensor, const char* layout) {
    return strides_of(toy_with_orders(), kernel, tensor, {2, 3, 5},
                      *layout ? parse_layout(layout) : TensorLayout{});
}

std::string why(const KernelDeclaration& kernel, const char* tensor, const char* layout) {
    const Operator op = toy_with_orders();
    return why_unsupported(op, gradient(op), kernel, tensor, parse_layout(layout)).value_or("");
}

std::string complaint(const KernelDeclaration& kernel) {
    return complaint_of({kernel}, toy_with_orders());
}

}  // namespace

TEST_CASE("strides follow the order of the axes, padded rows and expanded axes") {
    KernelDeclaration kernel = of_gradient();
    CHECK(strides(kernel, "dx", "") == Strides{15, 5, 1});
    kernel.strided("x").strided("dy");
    CHECK(strides(kernel, "dx", "") == Strides{15, 5, 1});
    CHECK(strides(kernel, "dx", "hwn") == Strides{1, 10, 2});
    CHECK(strides(kernel, "dx", "pad2") == Strides{21, 7, 1});
    CHECK(strides(kernel, "dx", "hwn.pad1") == Strides{1, 15, 3});
    CHECK(strides(kernel, "dy", "expand2") == Strides{3, 1, 0});
    CHECK(strides(kernel, "dy", "expand012") == Strides{0, 0, 0});
    CHECK(strides(kernel, "dy", "hwn.pad1.expand0") == Strides{0, 10, 2});
    CHECK_THROWS_WITH_AS(strides(kernel, "dx", "wide"),
                         "x has no layout 'wide'; there are: nhw, hwn", std::invalid_argument);
    // Axes beyond the tensor's change no stride.
    CHECK(strides(kernel, "dx", "expand3") == Strides{15, 5, 1});
    const Operator plain = toy_operator();
    CHECK(strides_of(plain, of_gradient(), "x", {2, 3}, {}) == Strides{3, 1});
    CHECK(strides_of(plain, of_gradient(), "w", {}, {.row_padding = 1}).empty());
    CHECK_THROWS_WITH(strides_of(plain, of_gradient(), "w", {1}, {.order = "nhw"}),
                      "w has no layout 'nhw'; there are: none");
}

TEST_CASE("a kernel's first layout is the one it is given, its gradients' as well") {
    KernelDeclaration fixed = of_gradient();
    fixed.layout("x", "hwn");
    CHECK(strides(fixed, "dx", "") == Strides{1, 10, 2});
    CHECK(strides(fixed, "dy", "") == Strides{15, 5, 1});
    fixed.layout("dx", "nhw");
    CHECK(strides(fixed, "dx", "") == Strides{15, 5, 1});
    const Operator op = toy_with_orders();
    KernelDeclaration any = of_gradient();
    any.strided("dy").layout_of("x", {"hwn", "nhw"});
    CHECK(orders_of(op, any, "dx") == std::vector<std::string>{"hwn", "nhw"});
    CHECK(orders_of(op, any, "dy") == std::vector<std::string>{"nhw", "hwn"});
    CHECK(orders_of(op, any, "w").empty());
    CHECK(takes_any_strides(op, any, "dy"));
    CHECK_FALSE(takes_any_strides(op, any, "dx"));
    CHECK_FALSE(takes_row_major(op, gradient(op), any));
    CHECK(takes_row_major(op, gradient(op), of_gradient().strided("dy")));
    CHECK(print_layouts(any, op, gradient(op)) == "dy: any strides; dx: hwn or nhw");
    CHECK(print_layouts(of_gradient(), op, gradient(op)).empty());
    CHECK(print_layouts(of_gradient().layout("x", "hwn"), op, gradient(op)) == "dx: hwn");
    CHECK(print_layouts(of_gradient().layout("x", "nhw"), op, gradient(op)).empty());
}

TEST_CASE("a kernel says why it must not be given a layout") {
    KernelDeclaration kernel = of_gradient();
    CHECK(why(kernel, "dx", "hwn") == "layout=dx.hwn, but it takes nhw");
    CHECK(why(kernel, "w", "hwn") == "layout=w.hwn, but it declares no layouts of it");
    CHECK(why(kernel, "dx", "pad2") == "layout=dx.pad2, but it does not declare strided(\"dx\")");
    CHECK(why(kernel, "x", "pad2") == "layout=x.pad2, but its tensors are dy, w, dx");
    kernel.strided("x").strided("y").strided("w");
    CHECK(why(kernel, "dx", "hwn.pad2") == "");
    CHECK(why(kernel, "dy", "expand01") == "");
    for (const char* tensor : {"dx", "w"})
        CHECK(why(kernel, tensor, "expand0") ==
              "layout=" + std::string(tensor) +
                  ".expand0, but only a cotangent that it declares strided() may be expanded");
    // Several orders are no strides.
    const KernelDeclaration orders =
        of_gradient().layout_of("x", {"nhw", "hwn"}).layout_of("y", {"nhw", "hwn"});
    CHECK(why(orders, "dx", "hwn") == "");
    CHECK(contains(why(orders, "dx", "pad1"), "does not declare strided"));
    CHECK(contains(why(orders, "dy", "expand0"), "only a cotangent"));
}

TEST_CASE("a layout prints and parses as one word") {
    static_assert(max_tensor_rank == 6);
    for (const char* text :
         {"nhwc", "pad3", "pad4096", "expand02", "expand5", "nhwc.pad1.expand013"})
        CHECK(print(parse_layout(text)) == text);
    CHECK(parse_layout("expand02").expanded == 5u);
    CHECK(print(TensorLayout{}) == "");
    CHECK(print({.expanded = (1u << max_tensor_rank) | 1u}) == "expand0");
    for (const char* text : {"", "nhwc.nchw", "pad0", "padx", "pad4097", "expand", "expand6",
                             "expand/", "expand:", "a..b", "pad1.pad2", "expand0.expand1"})
        CHECK_THROWS_AS(parse_layout(text), std::invalid_argument);
}

TEST_CASE("layouts that an operator does not have, and those of two tensors in one, are refused") {
    const char* shared = "may lie where another tensor does, so it has one layout";
    struct Declared {
        KernelDeclaration kernel;
        const char* says;
    };
    for (const Declared& wrong :
         {Declared{of_gradient().layout("x", "wide"),
                   "x has no layout 'wide'; there are: nhw, hwn"},
          {of_gradient().layout("w", "nhw"), "w has no layout 'nhw'; there are: none"},
          {of_gradient().strided("b"),
           "a layout of 'b' needs a tensor of the pass; there are dy, w, dx"},
          {of_gradient().in_place("dx", "dy").strided("x"), shared},
          {of_gradient().layout_of("x", {"nhw", "hwn"}).in_place("dx", "dy"), shared},
          {of_gradient().strided("w").in_place("dx", "w"), shared},
          {of_gradient().in_place("dx", "z"),
           "in_place(\"dx\", \"z\") needs an output and an input of the pass; its outputs are dx, "
           "its inputs dy, w"}})
        CHECK(contains(complaint(wrong.kernel), wrong.says));
    for (const KernelDeclaration& right :
         {of_gradient().layout("x", "hwn").strided("w"), of_gradient().layout("dx", "hwn"),
          of_gradient().layout("x", "hwn").in_place("dx", "dy")})
        CHECK_FALSE(contains(complaint(right), "layout"));
}

TEST_CASE("a kernel may say nothing of a cotangent, or that it is contiguous, or strided") {
    const Operator op = toy_with_orders();
    const auto undeclared = [&](const KernelDeclaration& kernel) {
        return undeclared_cotangents(op, gradient(op), kernel);
    };
    using Names = std::vector<std::string>;
    CHECK(undeclared(of_gradient()) == Names{"dy"});
    CHECK(undeclared(of_gradient().contiguous("x")) == Names{"dy"});
    for (const KernelDeclaration& kernel :
         {of_gradient().contiguous("dy"), of_gradient().contiguous(), of_gradient().strided("dy"),
          of_gradient().strided("y"), of_gradient().in_place("dx", "dy")})
        CHECK(undeclared(kernel).empty());
    CHECK(undeclared_cotangents(op, op.forward(), of_gradient()).empty());
    CHECK(mistakes_in_layouts(of_gradient().contiguous("dy"), op, gradient(op)).empty());
    CHECK_FALSE(takes_any_strides(op, of_gradient().contiguous("dy"), "dy"));
}
