// SPDX-License-Identifier: Apache-2.0
// The problem of recorded tensors, and their values in a kernel's types.
#include "harness/cases/recorded.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "harness/registry/element_types.hpp"
#include "harness/testing/made_operator.hpp"
#include "harness/testing/temporary_folder.hpp"
#include "harness/testing/tensor_files.hpp"

using namespace gradverify;
using namespace gradverify::testing;

namespace {

/// `wide`: x of n rows, b as wide as these, y of half the width and a step's width less.
Operator wide_operator() {
    Operator op = toy_operator("wide");
    op.space = ParameterSpace({{.name = "n"}, {.name = "width"}, {.name = "step"}}, 0, 0);
    op.inputs = {
        {.name = "x",
         .sizes = [](const Problem& p) { return Sizes{p.scalar("n"), 2 * p.scalar("width")}; }},
        {.name = "b", .sizes = [](const Problem& p) { return Sizes{2 * p.scalar("width")}; }}};
    op.outputs = {{.name = "y", .sizes = [](const Problem& p) {
                       return Sizes{p.scalar("n"), p.scalar("width") + p.scalar("step")};
                   }}};
    return op;
}

/// A file with floats of these sizes.
struct File {
    TemporaryFolder folder;
    std::vector<std::string> paths;

    void add(const std::string& name, const std::string& shape, std::vector<float> numbers) {
        paths.push_back(folder.write(name + ".safetensors", safetensors_of(name, shape, numbers)));
    }
    std::string problem(const Operator& op, const char* text = "") const {
        return problem_of(op, TensorFiles(paths), text).print();
    }
    std::string misfit(const Operator& op, const char* text = "") const {
        return refusal([&] { problem(op, text); });
    }
};

std::vector<float> zeros(std::size_t count) { return std::vector<float>(count); }

}  // namespace

TEST_CASE("parameters are taken from the sizes as far as these tell one value") {
    const Operator wide = wide_operator();
    File file;
    file.add("x", "[3,8]", zeros(24));
    CHECK(file.misfit(wide) ==
          "the tensors' sizes leave open step; give it in --problem, beside n=3,width=4");
    CHECK(file.problem(wide, "step=1") == "n=3,width=4");
    CHECK(file.problem(wide, "step=5") == "n=3,width=4,step=5");
    CHECK(file.misfit(wide, "width=5,step=1") ==
          "x of " + file.paths[0] + " has the sizes (3, 8), and on n=3,width=5 it has (3, 10)");
    // Another tensor tells what the first leaves open.
    file.add("dy", "[3,6]", zeros(18));
    CHECK(file.problem(wide) == "n=3,width=4,step=2");
    file.add("b", "[6]", zeros(6));
    CHECK(file.misfit(wide) ==
          "b of " + file.paths[2] + " has the sizes (6), and on n=3,width=4,step=2 it has (8)");
}

TEST_CASE("the number of axes is that of the tensors") {
    const Operator toy = toy_operator();
    File vectors, images;
    vectors.add("x", "[2,7]", zeros(14));
    images.add("x", "[2,7,1]", zeros(14));
    CHECK(vectors.problem(toy) == "n=2,in=7");
    CHECK(images.problem(toy) == "n=2,in=7x1");
    CHECK(images.problem(toy, "in=7x1") == "n=2,in=7x1");
    CHECK(images.misfit(toy, "in=7") ==
          "x of " + images.paths[0] + " has the sizes (2, 7, 1), and on n=2,in=7 it has (2, 7)");
    File other;
    other.add("q", "[2]", zeros(2));
    CHECK(other.misfit(toy) == "toy takes x, w, dy, and the files hold q");
}

TEST_CASE("recorded values are rounded to the kernel's type, and said to be") {
    File file;
    file.add("x", "[1,2]", {1.0f, 1.0f + 0x1p-20f});
    file.add("y", "[1,2]", zeros(2));
    file.add("q", "[1]", zeros(1));
    const Registry registry =
        registry_of({toy_kernel("half").storage(DType::f16), toy_kernel("plain")});
    const Operator& op = *registry.find_operator("toy");
    const Problem problem = Problem::parse(op.space, "in=2");
    const auto values_for = [&](const char* kernel) {
        const ElementTypes types(registry.find_kernel(kernel)->any(), op);
        return recorded_tensor(file.paths, op, problem, types, "x")->data;
    };
    CHECK(values_for("toy.forward/half") == std::vector<double>{1.0, 1.0});
    CHECK(values_for("toy.forward/plain") == std::vector<double>{1.0, 1.0 + 0x1p-20});
    const ElementTypes types(24);
    CHECK_FALSE(recorded_tensor(file.paths, op, problem, types, "w"));
    CHECK_FALSE(recorded_tensor({}, op, problem, types, "x"));
    const std::vector<std::string> left_out{"q is left out: toy takes no such tensor",
                                            "y is left out: outputs are the reference's"};
    CHECK(remarks_on(file.paths, *registry.find_kernel("toy.forward/plain"), problem) ==
          std::vector{left_out[0], left_out[1]});
    CHECK(remarks_on(file.paths, *registry.find_kernel("toy.forward/half"), problem) ==
          std::vector<std::string>{
              left_out[0], "x is f32, and toy.forward/half takes f16: 1 of 2 elements are rounded",
              left_out[1]});
}

TEST_CASE("recorded values that a tensor may not have are refused, and other sizes") {
    Operator op = toy_operator();
    const ElementTypes types(24);
    const auto refused = [&](float value) {
        File file;
        file.add("x", "[1,2]", {1.0f, value});
        const std::string why = refusal(
            [&] { recorded_tensor(file.paths, op, Problem::parse(op.space, "in=2"), types, "x"); });
        CHECK((why.empty() || contains(why, file.paths[0])));
        return why.substr(0, why.find(" in /")) +
               why.substr(std::min(why.size(), why.rfind(" is ")));
    };
    CHECK(refused(5.0f) == "");
    CHECK(refused(NAN) == "data: element 1 of x is outside of the tensor's values");
    op.inputs[0].domain = [](const Problem&) { return ValueDomain{0.0, 4.0}; };
    CHECK(refused(5.0f) == "data: element 1 of x is outside of the tensor's values");
    CHECK(refused(3.0f) == "");
    op.inputs[0].dtype = DType::i32;
    CHECK(refused(3.0f) == "");
    CHECK(refused(2.5f) == "data: element 1 of x is outside of the tensor's values");
    op.inputs[0].arrangement = Arrangement::ascending;
    CHECK(refused(0.0f) != "");
    File file;
    file.add("x", "[2,1]", zeros(2));
    CHECK(contains(refusal([&] {
                       recorded_tensor(file.paths, op, Problem::parse(op.space, "in=2"), types,
                                       "x");
                   }),
                   "has the sizes (2, 1), and on in=2 it has (1, 2)"));
}
