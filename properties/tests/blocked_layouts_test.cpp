// SPDX-License-Identifier: Apache-2.0
// oneDNN's blocked layouts: where elements lie by their names, what a case that has them is given,
// that kernels which are wrong in them are killed, and what a large problem makes of them.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>

#include "harness/cases/case.hpp"
#include "harness/registry/layout.hpp"
#include "properties/data/setting.hpp"
#include "properties/suite/suite.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

namespace {

/// Where the element at an index lies, by the sizes that the layout counts.
std::int64_t place(const char* op_name, const char* tensor, const char* order, const Sizes& sizes,
                   const Sizes& index) {
    const Operator& op = *Registry::instance().find_operator(op_name);
    KernelDeclaration kernel;
    kernel.layout(tensor, order);
    return place_of(index, strides_of(op, kernel, tensor, sizes, {}),
                    blocks_of(op, kernel, tensor, {}));
}

/// Of a case on the CPU device.
Outcome run(const std::string& text) {
    const KernelSuite suite(Registry::instance(), {.large = {.offset_bits = 16}});
    return suite.run("v1:" + text);
}

Outcome run_large(const std::string& kernel, const std::string& problem,
                  const std::string& copies) {
    return run(kernel + ":holds_when_large:cpu:" + problem + ":dense=1:copies=" + copies);
}

}  // namespace

TEST_CASE("the elements of blocked images and filters lie where their names say") {
    // 19 channels in two blocks of 16, or three of 8.
    const std::int64_t n = 1, c = 17, h = 2, w = 3;
    const Sizes image{2, 19, 4, 5};
    CHECK(place("conv", "x", "nChw16c", image, {n, c, h, w}) ==
          (((n * 2 + c / 16) * 4 + h) * 5 + w) * 16 + c % 16);
    CHECK(place("conv", "y", "nChw8c", image, {n, c, h, w}) ==
          (((n * 3 + c / 8) * 4 + h) * 5 + w) * 8 + c % 8);
    CHECK(place("relayout", "y", "nChw8c", {2, 19, 5}, {n, c, w}) ==
          ((n * 3 + c / 8) * 5 + w) * 8 + c % 8);
    CHECK(place("conv_transpose", "x", "nChw16c", {2, 19, 6, 4, 5}, {n, c, 5, h, w}) ==
          ((((n * 2 + c / 16) * 6 + 5) * 4 + h) * 5 + w) * 16 + c % 16);
    const std::int64_t o = 20, i = 9;
    const Sizes filter{21, 10, 4, 5};
    CHECK(place("conv", "w", "OIhw16i16o", filter, {o, i, h, w}) ==
          ((((o / 16 * 1 + i / 16) * 4 + h) * 5 + w) * 16 + i % 16) * 16 + o % 16);
    CHECK(place("conv", "w", "OIhw16o16i", filter, {o, i, h, w}) ==
          ((((o / 16 * 1 + i / 16) * 4 + h) * 5 + w) * 16 + o % 16) * 16 + i % 16);
    CHECK(place("conv", "w", "OIhw8i8o", filter, {o, i, h, w}) ==
          ((((o / 8 * 2 + i / 8) * 4 + h) * 5 + w) * 8 + i % 8) * 8 + o % 8);
    CHECK(place("relayout_filter", "x", "OIhw8o8i", filter, {o, i, h, w}) ==
          ((((o / 8 * 2 + i / 8) * 4 + h) * 5 + w) * 8 + o % 8) * 8 + i % 8);
    // conv_transpose's filters have i first.
    CHECK(place("conv_transpose", "w", "IOhw16o16i", filter, {o, i, h, w}) ==
          ((((o / 16 * 1 + i / 16) * 4 + h) * 5 + w) * 16 + i % 16) * 16 + o % 16);
    CHECK(place("conv", "x", "nChw4c", image, {n, c, h, w}) ==
          (((n * 5 + c / 4) * 4 + h) * 5 + w) * 4 + c % 4);
    CHECK_THROWS_WITH_AS(place("conv", "x", "nChw4", image, {0, 0, 0, 0}),
                         "x has no layout 'nChw4': 4 is not a block's size and axis, such as 16c; "
                         "there are: nchw, nhwc, tags such as nChw16c",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(place("relayout", "x", "gnchw", image, {0, 0, 0, 0}),
                         doctest::Contains("it has no groups"), std::invalid_argument);
}

TEST_CASE("the elements of filters that are cut twice lie where their names say") {
    // 21 and 19 channels in two blocks of 16 each; the tag reads O I h w 8i 16o 2i.
    const std::int64_t o = 20, i = 13, h = 2, w = 3;
    const Sizes filter{21, 19, 4, 5};
    CHECK(place("conv", "w", "OIhw8i16o2i", filter, {o, i, h, w}) ==
          (((((1 * 2 + 0) * 4 + h) * 5 + w) * 8 + 6) * 16 + 4) * 2 + 1);
    CHECK(place("conv", "w", "OIhw4i16o4i", filter, {o, 18, h, w}) ==
          (((((1 * 2 + 1) * 4 + h) * 5 + w) * 4 + 0) * 16 + 4) * 4 + 2);
    CHECK(place("conv", "w", "OIhw4o8i8o4i", {21, 33, 5}, {o, 32, w}) ==
          (((((0 * 2 + 1) * 5 + w) * 4 + 2) * 8 + 0) * 8 + 4) * 4 + 0);
    CHECK(place("conv_transpose", "w", "IOhw8i16o2i", filter, {i, 18, h, w}) ==
          (((((0 * 2 + 1) * 4 + h) * 5 + w) * 8 + 6) * 16 + 2) * 2 + 1);
    CHECK(place("relayout_filter", "y", "OIhw8i16o2i", {21, 19, 3, 4, 5}, {o, i, 1, h, w}) ==
          ((((((1 * 2 + 0) * 3 + 1) * 4 + h) * 5 + w) * 8 + 6) * 16 + 4) * 2 + 1);
}

TEST_CASE("a filter with an axis for groups is cut within each, and its view has this axis") {
    const Operator& op = *Registry::instance().find_operator("conv");
    KernelDeclaration kernel;
    kernel.layout_of("w", {"gOIhw8o8i", "Goihw16g", "gOIhw8i16o2i"});
    const Problem problem = Problem::parse(op.space, "c=9,k=30,groups=3,in=9x9,filter=4x5");
    const auto shape = [&](const char* order) {
        return memory_shape_of(op, kernel, "w", problem, {.order = order});
    };
    const auto lies = [&](const MemoryShape& at, const Sizes& index) {
        return place_of(index, at.strides, at.blocks);
    };
    // Three groups of 10 x 3: of each two blocks of 8 by one, the last of each with a tail of 6.
    const MemoryShape blocks = shape("gOIhw8o8i");
    CHECK(blocks.sizes == Sizes{3, 10, 3, 4, 5});
    CHECK(blocks.elements() == 3 * 16 * 8 * 4 * 5);
    CHECK(lies(blocks, {2, 9, 1, 3, 4}) ==
          (((((2 * 2 + 1) * 1 + 0) * 4 + 3) * 5 + 4) * 8 + 1) * 8 + 1);
    const MemoryShape groups = shape("Goihw16g");
    CHECK(groups.elements() == 16 * 10 * 3 * 4 * 5);
    CHECK(lies(groups, {2, 9, 1, 3, 4}) == (((9 * 3 + 1) * 4 + 3) * 5 + 4) * 16 + 2);
    const MemoryShape twice = shape("gOIhw8i16o2i");
    CHECK(twice.elements() == 3 * 16 * 16 * 4 * 5);
    CHECK(lies(twice, {1, 9, 2, 3, 4}) == ((((1 * 4 + 3) * 5 + 4) * 8 + 1) * 16 + 9) * 2 + 0);
    CHECK(most_elements_of(op, kernel, "w", problem) == twice.elements());
    // Without groups there is one.
    CHECK(memory_shape_of(op, kernel, "w", Problem::parse(op.space, "k=2,in=1,filter=1"),
                          {.order = "gOIhw8o8i"})
              .sizes == Sizes{1, 2, 1, 1});
}

TEST_CASE("a kernel that goes by strides is given no blocks") {
    for (const Kernel& kernel : Registry::instance().kernels())
        for (const std::string& tensor : kernel.pass->tensors()) {
            if (!takes_any_strides(*kernel.op, kernel.any(), tensor)) continue;
            for (const std::string& order : orders_of(*kernel.op, kernel.any(), tensor))
                CHECK_MESSAGE(blocks_of(*kernel.op, kernel.any(), tensor, {.order = order}).empty(),
                              kernel.name << " " << tensor << " " << order);
        }
    const auto why = [](const std::string& text) {
        const Case parsed = Case::parse("v1:" + text, Registry::instance());
        return why_unsupported(*Registry::instance().find_kernel(parsed.kernel), parsed.setting)
            .value_or("");
    };
    const std::string rest = ":matches_reference:cpu:in=1:seed=1:layout=";
    CHECK(why("conv.forward/direct" + rest + "x.nChw16c") ==
          "layout=x.nChw16c, but it takes nchw, nhwc");
    CHECK(why("conv.forward/blocked" + rest + "x.nChw8c+w.OIhw8o8i") == "");
    CHECK(why("conv.forward/blocked" + rest + "x.pad1") ==
          "layout=x.pad1, but x in nChw16c has blocks, whose rows are neither padded nor expanded");
}

TEST_CASE("each layout that a kernel names is drawn, and parsed again from its case") {
    for (const char* name : {"conv.grad_weight/blocked", "relayout_filter.forward/blocked"}) {
        const Kernel& kernel = *Registry::instance().find_kernel(name);
        const Problem problem(kernel.op->space, 2);
        std::map<std::string, std::set<std::string>> drawn;
        for (std::uint64_t seed = 0; seed < 300; ++seed) {
            Case one{.kernel = name,
                     .property = "repeatable",
                     .device = "cpu",
                     .problem = problem,
                     .data = {.seed = seed}};
            draw_layouts(kernel, problem, seed, one.setting);
            CHECK(Case::parse(one.print(), Registry::instance()).setting == one.setting);
            for (const std::string& tensor : kernel.pass->tensors())
                drawn[tensor].insert(one.setting.layout_of(tensor).order);
        }
        for (const std::string& tensor : kernel.pass->tensors()) {
            std::set<std::string> named{""};  // the first one
            const auto orders = orders_of(*kernel.op, kernel.any(), tensor);
            named.insert(orders.begin() + 1, orders.end());
            CHECK(drawn[tensor] == named);
        }
        CHECK(drawn.contains(kernel.pass->outputs[0]));
        CHECK(drawn[kernel.pass->outputs[0]].contains("gOIhw16i16o"));
    }
}

TEST_CASE("a kernel that is wrong in a blocked layout is killed where it is smallest") {
    hunt_down_all(blocked_bugs, {.cases_maximum = 400});
}

TEST_CASE("a case with blocks is replayed from its text, and what is left in a tail is said") {
    const std::string bug = "relayout.forward/bug_tail_left:stays_in_bounds:cpu:";
    const Outcome outcome = run(bug + "c=15,in=1:seed=1");
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(outcome.message ==
          "left nan in the tail of y's last block, which must be zeros (1 element, the first is "
          "element 15 in memory)");
    CHECK(run(bug + "c=16,in=1:seed=1").verdict == Verdict::passed);
    const std::string blocked = "conv.forward/blocked:matches_reference:cpu:c=17,k=9,in=3:seed=1";
    for (const char* layouts : {"", ":layout=w.OIhw8o8i", ":layout=w.oihw+x.nchw+y.nChw8c",
                                ":layout=w.OIhw8i16o2i", ":layout=w.gOIhw16i16o"})
        CHECK(run(blocked + layouts).verdict == Verdict::passed);
    const std::string group = "relayout_filter.forward/bug_tail_of_group_left:stays_in_bounds:cpu:";
    CHECK(run(group + "o=2,groups=2,filter=1:seed=1").message ==
          "left nan in the tail of y's last block, which must be zeros (1 element, the first is "
          "element 1 in memory)");
    CHECK(run(group + "o=32,groups=2,filter=1:seed=1").verdict == Verdict::passed);
    const std::string text =
        "v1:conv.grad_weight/blocked:matches_reference:cpu:c=4,k=34,groups=2,"
        "in=3:seed=1:layout=dw.gOIhw16i16o+x.nChw8c";
    CHECK(Case::parse(text, Registry::instance()).print() == text);
    CHECK(run(text.substr(3)).verdict == Verdict::passed);
}

TEST_CASE("a large blocked tensor is copies that share no block") {
    const std::string blocked = "relayout.forward/blocked";
    struct Large {
        const char *problem, *copies;
    };
    for (const Large& large :
         {Large{"n=4096,c=3,in=2", "n*4096"}, Large{"c=3,in=9000", "in_w*3000"},
          Large{"n=2,c=20,in=3000x2", "in_h*3000"}, Large{"n=2,c=65536,in=1", "c*4096"}}) {
        const Outcome outcome = run_large(blocked, large.problem, large.copies);
        CHECK_MESSAGE(outcome.verdict == Verdict::passed, large.problem << ": " << outcome.message);
    }
    CHECK_THROWS_WITH_AS(
        run_large(blocked, "c=65536,in=1", "c*8192"),
        doctest::Contains("copies of 8 elements of y would share its blocks of 16"),
        std::invalid_argument);
    CHECK(run_large("conv.grad_weight/blocked", "n=4096,c=3,k=17,in=2", "n*4096").verdict ==
          Verdict::passed);
    // Of a filter with an axis for groups, copies of groups lie along this axis.
    CHECK(run("conv.grad_weight/blocked:holds_when_large:cpu:c=8192,k=8192,groups=4096,in=2:dense=1"
              ":layout=dw.gOIhw16i16o+dy.nchw+x.nchw:copies=groups*4096")
              .verdict == Verdict::passed);
    CHECK(run("relayout_filter.forward/blocked:holds_when_large:cpu:o=65536,i=3,filter=1:dense=1"
              ":layout=x.gOIhw16i16o+y.OIhw8i16o2i:copies=o*4096")
              .verdict == Verdict::passed);
    const Outcome outcome =
        run_large("relayout.forward/bug_tail_left", "n=4096,c=3,in=2", "n*4096");
    CHECK(outcome.verdict == Verdict::failed);
    // Of 64 copies first: each has 2 pixels of 16 channels.
    CHECK_MESSAGE(
        outcome.message.find("y is wrong from element 3 to 2047 in memory") != std::string::npos,
        outcome.message);
    CHECK_MESSAGE(outcome.message.find("y has 2048 elements") != std::string::npos,
                  outcome.message);
}

}  // namespace gradverify
