// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/layout_tag.hpp"

#include <doctest/doctest.h>

#include "harness/registry/layout.hpp"
#include "harness/registry/registry.hpp"
#include "harness/registry/tensor_view.hpp"
#include "harness/testing/operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

const LayoutTags images{.letters = "nc"};
const LayoutTags filters{.letters = "oi", .groups = "groups"};

std::vector<int> axes(const char* tag, const LayoutTags& tags, int rank) {
    return order_of_tag(tag, tags).axes(rank);
}
Blocks blocks(const char* tag, const LayoutTags& tags = filters) {
    return order_of_tag(tag, tags).blocks;
}
std::string refusal_of(const char* tag, const LayoutTags& tags = filters) {
    return refusal([&] { order_of_tag(tag, tags); });
}

/// `toy`, of which an array of n and one or two axes has tags; its groups are of n.
Operator toy_with_tags() {
    Operator op = toy_operator();
    const auto row_major = [](int rank) {
        std::vector<int> order;
        for (int axis = 0; axis < rank; ++axis) order.push_back(axis);
        return order;
    };
    for (TensorSpec* tensor : {&op.inputs[0], &op.outputs[0]}) {
        tensor->orders = {{"nhw", row_major}};
        tensor->tags = {.letters = "n"};
    }
    return op;
}

std::string complaint(const KernelDeclaration& kernel, Operator op = toy_with_tags()) {
    Registry registry;
    registry.add(std::move(op));
    registry.add(kernel);
    return refusal([&] { registry.check(); });
}

}  // namespace

TEST_CASE("the letters of a tag are its axes, the outermost first, in one to three dimensions") {
    using Axes = std::vector<int>;
    CHECK(axes("nChw16c", images, 3) == Axes{0, 1, 2});
    CHECK(axes("nChw16c", images, 5) == Axes{0, 1, 2, 3, 4});
    CHECK(axes("chwn", images, 4) == Axes{1, 2, 3, 0});
    CHECK(axes("Ohwi16o", filters, 4) == Axes{0, 2, 3, 1});
    CHECK(axes("hwIo8i", filters, 5) == Axes{2, 3, 4, 1, 0});
    // The groups are an axis of their own, in front of all.
    CHECK(axes("gOIhw16i16o", filters, 5) == Axes{0, 1, 2, 3, 4});
    CHECK(axes("hwigo", filters, 4) == Axes{3, 2, 0, 1});
    CHECK(axes("Goihw16g", filters, 6) == Axes{0, 1, 2, 3, 4, 5});
    CHECK(axes("gIOhw16o16i", {.letters = "io", .groups = "groups"}, 4) == Axes{0, 1, 2, 3});
    CHECK(order_of_tag("gOIhw16i16o", filters).has_groups);
    CHECK_FALSE(order_of_tag("OIhw16i16o", filters).has_groups);
    CHECK(order_of_tag("OIhw16i16o", filters).name == "OIhw16i16o");
}

TEST_CASE("the blocks of a tag are its sizes and letters, the innermost last") {
    CHECK(blocks("nChw16c", images) == Blocks{{1, 16}});
    CHECK(blocks("NChw16n32c", images) == Blocks{{0, 16}, {1, 32}});
    CHECK(blocks("chwn", images).empty());
    CHECK(blocks("OIhw8i16o2i") == Blocks{{1, 8}, {0, 16}, {1, 2}});
    CHECK(blocks("OIhw4o8i8o4i") == Blocks{{0, 4}, {1, 8}, {0, 8}, {1, 4}});
    CHECK(blocks("gOIhw8o8i") == Blocks{{1, 8}, {2, 8}});
    CHECK(blocks("Goihw16g") == Blocks{{0, 16}});
    CHECK(blocks("OIhw8i16o2i", {.letters = "io"}) == Blocks{{0, 8}, {1, 16}, {0, 2}});
    CHECK(blocks("Oihw65536o") == Blocks{{0, 65536}});
}

TEST_CASE("a tag that is wrong is refused with what would be right") {
    CHECK(refusal_of("OKhw16k16o") ==
          "k is none of its axes, which are o, i, g for the groups and hw for the spatial ones, "
          "whatever their number");
    for (const char* spatial : {"oiw", "oih", "oidhw", "oiHw", "oiwh"})
        CHECK(contains(refusal_of(spatial), "hw for the spatial ones, whatever their number"));
    CHECK(refusal_of("Ohw16o") == "i is missing");
    CHECK(refusal_of("OI16i16o") == "hw is missing");
    CHECK(refusal_of("") == "o is missing");
    CHECK(refusal_of("OIohw16i16o") == "o stands twice");
    CHECK(refusal_of("oihwhw") == "hw stands twice");
    CHECK(refusal_of("OIhw16o") == "I is a capital, and no block such as 16i follows");
    CHECK(refusal_of("Goihw") == "G is a capital, and no block such as 16g follows");
    CHECK(refusal_of("Oihw16o16i") == "16i is a block, so that the axis before it is a capital, I");
    CHECK(refusal_of("gOihw8g8o") == "8g is a block, so that the axis before it is a capital, G");
    CHECK(refusal_of("Oihw16O") == "16O is a block, whose letter is a small one");
    CHECK(contains(refusal_of("Oihw16k"), "k is none of its axes"));
    CHECK(contains(refusal_of("Oihw16h"), "h is none of its axes"));
    for (const char* size : {"Oihw1o", "Oihw0o", "Oihw65537o", "OIhw256o257i"})
        CHECK(contains(refusal_of(size),
                       ": a block has two elements or more, and all of them "
                       "together 65536 at most"));
    CHECK(refusal_of("OIhw256o256i") == "");
    CHECK(refusal_of("Oihw2o2o2o") == "o is cut more than twice");
    CHECK(refusal_of("OIhw16i16") == "16 is not a block's size and axis, such as 16i");
    CHECK(refusal_of("OIhw16i-o") == "-o is not a block's size and axis, such as 16i");
    CHECK(contains(refusal_of("Oihw99999999999999999999o"), "is not a block's size and axis"));
    CHECK(refusal_of("gnchw", images) == "it has no groups, and so no axis g");
    CHECK(refusal_of("nChw16g", images) == "it has no groups, and so no axis g");
}

TEST_CASE("the registry refuses a kernel's wrong tag, and says what there is") {
    CHECK(complaint(toy_kernel("plain").layout("x", "Nhw4n")) == "");
    CHECK(complaint(toy_kernel("plain").layout_of("x", {"nhw", "hwN4n2n"})) == "");
    CHECK(contains(complaint(toy_kernel("plain").layout("x", "Nhw")),
                   "x has no layout 'Nhw': N is a capital, and no block such as 16n follows; there "
                   "are: nhw, tags such as Nhw16n"));
    CHECK(contains(complaint(toy_kernel("plain").layout("x", "gNhw4n")),
                   "it has no groups, and so no axis g"));
    CHECK(contains(complaint(toy_kernel("plain").layout("w", "Nhw4n")),
                   "w has no layout 'Nhw4n'; there are: none"));
}

TEST_CASE("an operator's orders and tags say of which parameter their groups are") {
    Operator op = toy_with_tags();
    op.inputs[0].tags.groups = "n";
    CHECK(complaint(toy_kernel("plain").layout("x", "gNhw4n"), op) == "");
    op.inputs[0].tags.groups = "teams";
    CHECK(contains(complaint(toy_kernel("plain"), op),
                   "operator toy: the groups of x's tags: no scalar parameter is called teams"));
    op.inputs[0].tags.groups = "n";
    for (const std::size_t axes : {5u, 6u}) {
        op.inputs[0].sizes = [axes](const Problem&) { return Sizes(axes, 1); };
        CHECK(complaint(toy_kernel("plain"), op) ==
              (axes == 5 ? ""
                         : "operator toy: x has no room for an axis for groups: 6 axes are the "
                           "most"));
    }
    const auto with_letters = [](const char* letters) {
        Operator wrong = toy_with_tags();
        wrong.inputs[0].tags.letters = letters;
        return complaint(toy_kernel("plain"), wrong);
    };
    for (const char* letters : {"N", "g", "h", "w", "nn", "n1"}) {
        CAPTURE(letters);
        CHECK(contains(with_letters(letters),
                       "for an axis; give each a small letter of its own, but g, h or w"));
    }
    CHECK(contains(with_letters("nabc"), "the tags of x have letters for 4 axes, and it has "));
    Operator unnamed = toy_with_tags();
    unnamed.inputs[0].orders.clear();
    CHECK(complaint(toy_kernel("plain").layout("x", "Nhw4n"), unnamed) == "");
    const KernelDeclaration tagged = toy_kernel("plain").layout("x", "Nhw4n");
    CHECK(print_layouts(tagged, unnamed, unnamed.forward()) == "x: Nhw4n");
    CHECK_FALSE(takes_row_major(unnamed, unnamed.forward(), tagged));
    Operator without = toy_with_tags();
    without.inputs[0].orders.push_back(
        {.name = "gn", .axes = without.inputs[0].orders[0].axes, .blocks = {}, .has_groups = true});
    CHECK(contains(complaint(toy_kernel("plain"), without),
                   "x's layout gn has an axis for groups; its tags name no parameter"));
}

TEST_CASE("a kernel without blocks is given no tag, and groups are neither padded nor expanded") {
    Operator op = toy_with_tags();
    op.inputs[0].tags.groups = "n";
    const KernelDeclaration any = toy_kernel("any").strided("x");
    CHECK(orders_of(op, any, "x") == std::vector<std::string>{"nhw"});
    const KernelDeclaration groups = toy_kernel("groups").layout_of("x", {"nhw", "gnhw"});
    const auto why = [&](const char* layout) {
        return why_unsupported(op, op.passes[0], groups, "x", parse_layout(layout)).value_or("");
    };
    CHECK(why("gnhw") == "");
    CHECK(why("gnhw.pad1") ==
          "layout=x.gnhw.pad1, but x in gnhw has an axis for groups, whose rows are neither padded "
          "nor expanded");
    const Problem problem = Problem::parse(op.space, "n=6,in=3x5");
    const MemoryShape shape = memory_shape_of(op, groups, "x", problem, {.order = "gnhw"});
    CHECK(shape.sizes == Sizes{6, 1, 3, 5});
    CHECK(shape.strides == Strides{15, 15, 5, 1});
    CHECK(shape.blocks.empty());
}
