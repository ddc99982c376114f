// SPDX-License-Identifier: Apache-2.0
// A derivative along tangents against the forward function and against gradient kernels, in double:
// what is off by more than 2^-40 of its terms is found, and what nobody can tell is not charged.
#include "properties/checking/tangents.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "harness/second_order.hpp"
#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// y = a b and z = max(a, 0), with ay = a + b saved before.
constexpr auto pair_forward = []<class T>(const ForwardCall<T>& call) {
    for (std::int64_t i = 0; i < call.parameter("n"); ++i) {
        const T a = call.input("a")(i), b = call.input("b")(i);
        call.output("ay")(i) = a + b;
        call.output("y")(i) = a * b;
        call.output("z")(i) = max(a, T(0.0));
    }
};
OperatorDeclaration pair_operator() {
    return declare_operator("pair")
        .parameter("n")
        .input("a", {"n"})
        .input("b", {"n"})
        .saved("ay", {"n"})
        .output("y", {"n"})
        .output("z", {"n"})
        .forward(pair_forward)
        .gradient("backward", {"dy", "dz", "a", "b"}, {"da", "db"})
        .gradient("by_ay", {"dy", "a", "ay"}, {"db"})
        .gradient("of_z", {"dz", "a"}, {"da"});
}
Operator pair_jvp() {
    return declare_jvp(pair_operator(), pair_forward)
        .jvp({"tb", "ta", "a", "b"}, {"ay", "ty", "tz"});
}
/// b does not move.
Operator pair_jvp_by_a() {
    return declare_jvp(pair_operator(), pair_forward).jvp({"ta", "a", "b"}, {"ty"});
}

/// What a kernel writes instead of the right number of an output: f(output, element, number).
using Change = std::function<double(const std::string&, std::int64_t, double)>;
Change change_tangent, change_gradient;
int calls_of_tangent = 0, calls_of_gradient = 0;

void run_pair(const PassCall& call, const Change& change, bool adds = false) {
    const std::size_t inputs = call.names.size() - call.outputs;
    const auto given = [&](const char* name, std::int64_t i) {
        const auto names = call.names.first(inputs);
        return std::ranges::find(names, name) == names.end() ? 0.0 : Elements(call, name)[i];
    };
    for (std::size_t which = 0; which < call.outputs; ++which) {
        if ((call.launch.output_mask >> which & 1) == 0) continue;
        const std::string& name = call.names[inputs + which];
        const Elements output(call, name);
        for (std::int64_t i = 0; i < output.view.elements(); ++i) {
            const double a = given("a", i), dy = given("dy", i), step = a > 0.0 ? 1.0 : 0.0,
                         b = given("ay", i) != 0.0 ? given("ay", i) - a : given("b", i);
            const double right = name == "ay"   ? a + b
                                 : name == "ty" ? given("ta", i) * b + a * given("tb", i)
                                 : name == "tz" ? step * given("ta", i)
                                 : name == "da" ? dy * b + step * given("dz", i)
                                                : dy * a;
            const double written = change ? change(name, i, right) : right;
            output.set(i, adds ? output[i] + written : written);
        }
    }
}

template <bool adds = false>
void run_tangent(const PassCall& call) {
    ++calls_of_tangent;
    run_pair(call, change_tangent, adds);
}
void run_gradient(const PassCall& call) {
    ++calls_of_gradient;
    run_pair(call, change_gradient);
}
void fails(const PassCall&) {
    ++calls_of_gradient;
    throw std::runtime_error("out of memory");
}

KernelDeclaration kernel_of(const std::string& op, const std::string& pass,
                            KernelDeclaration::Thunk thunk) {
    KernelDeclaration kernel = toy_kernel(pass);
    kernel.operator_name = op, kernel.pass_name = pass, kernel.thunk = thunk;
    return kernel.storage(DType::f64);
}
KernelDeclaration tangent_kernel(KernelDeclaration::Thunk thunk = run_tangent<>) {
    return kernel_of("pair.forward", "jvp", thunk);
}
KernelDeclaration gradient_kernel(const std::string& pass = "backward",
                                  KernelDeclaration::Thunk thunk = run_gradient) {
    return kernel_of("pair", pass, thunk);
}

using Asked = Outcome (*)(CaseContext&);
constexpr Asked derivatives = &tangents_match_derivatives, gradients = &tangents_match_gradients;

/// What a property says of the first of these kernels.
std::string said_of(Asked property, const std::string& rest,
                    std::vector<KernelDeclaration> kernels = {tangent_kernel(), gradient_kernel()},
                    const std::vector<Operator>& operators = {pair_jvp(), pair_operator()}) {
    Registry registry;
    for (const Operator& op : operators) registry.add(Operator(op));
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        kernels[i].variant = "made" + std::to_string(i);
        registry.add(kernels[i]);
    }
    registry.check();
    calls_of_tangent = calls_of_gradient = 0;
    Scene scene(registry, kernels.front().full_name(), rest, ValueKind::mantissas);
    return said(property(scene));
}

/// The tangent of this output is off by this much in one element.
Change off_by(double error, const std::string& output = "ty", std::int64_t element = 0) {
    return [=](const std::string& name, std::int64_t i, double right) {
        return name == output && i == element ? right + error : right;
    };
}

/// An output's numbers are off by this share of themselves.
Change off_by_share(double share, const std::string& output) {
    return [=](const std::string& name, std::int64_t, double right) {
        return name == output ? right * (1.0 + share) : right;
    };
}

const std::string right = "passed: ";
const std::string no_derivative =
    "failed: is not the derivative of the forward function along the tangents";
const std::string no_adjoint =
    "failed: is not the adjoint of the gradient kernels: <dy, J t> differs from <J^T dy, t>";
const std::string no_operator =
    "skipped: the operator that it is the derivative of is not registered";
const std::string no_gradient =
    "skipped: no registered gradient kernel takes the problem and is right";

/// So many elements of a tensor, of which the first is another number.
std::string elements(int count, const std::string& tensor, double first, double others) {
    std::string all;
    for (int i = 0; i < count; ++i)
        all += fmt::format(",{}[{}]={}", tensor, i, i == 0 ? first : others);
    return all;
}

}  // namespace

TEST_CASE("a tangent may be off by a share of its terms, and of the gradient it is held against") {
    // ty = 1/8 and tz = 1/4.
    const std::string data = "n=1:data=a[0]=3,b[0]=0.5,ta[0]=0.25";
    for (const Asked property : {derivatives, gradients}) {
        const std::string& wrong = property == derivatives ? no_derivative : no_adjoint;
        for (const double most : {-0x1p-40, 0x1p-40})
            for (const char* const output : {"ty", "tz"}) {
                change_tangent = off_by_share(0.99 * most, output);
                CHECK(said_of(property, data) == right);
                change_tangent = off_by_share(1.01 * most, output);
                CHECK(said_of(property, data).starts_with(wrong));
            }
        // By both tangents together, in what is saved, and added to what was there.
        change_tangent = nullptr;
        const std::string both = data + ",tb[0]=5";
        CHECK(said_of(property, both) == right);
        CHECK(said_of(property, both,
                      {tangent_kernel(run_tangent<true>).adds_to_outputs(), gradient_kernel()}) ==
              right);
        change_tangent = off_by(0.5, "ty");
        CHECK(said_of(property, both).starts_with(wrong));
        // Of what is not asked for nothing is said.
        CHECK(said_of(property, both + ":mask=4",
                      {tangent_kernel().takes_mask(), gradient_kernel()}) == right);
        change_tangent = nullptr;
    }
}

TEST_CASE("an operator that is no derivative, or of one that is not there, is skipped") {
    change_tangent = change_gradient = nullptr;
    const std::string data = "n=1:data=a[0]=3,b[0]=0.5,ta[0]=0.25";
    for (const Asked property : {derivatives, gradients}) {
        CHECK(said_of(property, data, {tangent_kernel()}, {pair_jvp()}) == no_operator);
        CHECK(said_of(property, "n=1:data=a[0]=1,b[0]=1", {kernel_of("product", "forward", fails)},
                      {product()}) == no_operator);
        CHECK(said_of(property, data, {tangent_kernel(), gradient_kernel()},
                      {pair_jvp_by_a(), pair_operator()}) == right);
    }
    Operator without_along = pair_operator();
    without_along.along = nullptr;
    CHECK(said_of(derivatives, data, {tangent_kernel()}, {pair_jvp(), without_along}) ==
          no_operator);
}

TEST_CASE("at a kink a tangent may be either side's, or between") {
    for (const double between : {0.0, 0.5, 1.0}) {
        change_tangent = off_by(between, "tz");
        CHECK(said_of(derivatives, "n=1:data=b[0]=2,ta[0]=1") == "vacuous: ");
    }
    change_tangent = nullptr;
}

TEST_CASE("a large tensor is followed along two directions, and each element of a small one") {
    int followed = 0;
    Operator counting = pair_operator();
    counting.along = [&followed, along = counting.along](
                         const Problem& problem, Inputs<double> inputs, std::size_t moved,
                         const Array<double>& direction, Inputs<double> cotangents) {
        ++followed;
        return along(problem, inputs, moved, direction, cotangents);
    };
    for (const int count : {24, 25}) {
        const std::string data = fmt::format("n={}:data=b[0]=1", count) +
                                 elements(count, "a", 0x1p+30, 1.0) +
                                 elements(count, "tb", 1.0, 1.0);
        // The first is so large that the others' errors show alone, or not at all.
        change_tangent = off_by(0x1p-20, "ty", count - 1);
        CHECK(said_of(derivatives, data, {tangent_kernel()}, {pair_jvp(), counting})
                  .starts_with(count == 24 ? no_derivative : right));
        change_tangent = off_by(1.0, "ty", count - 1);
        CHECK(said_of(derivatives, data).starts_with(no_derivative));
    }
    followed = 0;
    change_tangent = nullptr;
    CHECK(said_of(derivatives, "n=25:data=a[0]=1,b[0]=2,ta[0]=1", {tangent_kernel()},
                  {pair_jvp_by_a(), counting}) == right);
    CHECK(followed == 2);
}

TEST_CASE("a tangent without a bound may be anything, and the others are compared all the same") {
    // a tb is no float in the first element.
    for (const int count : {2, 25}) {
        const std::string data = fmt::format("n={}:data=b[0]=1", count) +
                                 elements(count, "a", 2e38, 1.0) + elements(count, "tb", 4.0, 1.0);
        const auto said_of_f32 = [&](double error) {
            change_tangent = [&](const std::string& name, std::int64_t i, double number) {
                return name == "ty" && i == 0           ? NAN
                       : name == "ty" && i == count - 1 ? number + error
                                                        : number;
            };
            return said_of(derivatives, data, {tangent_kernel().storage(DType::f32)});
        };
        CAPTURE(count);
        CHECK(said_of_f32(0.0) == right);
        CHECK(said_of_f32(1.0).starts_with(no_derivative));
    }
    change_tangent = nullptr;
}

TEST_CASE(
    "the first gradient kernel tells that gives the gradient, takes the problem and is right") {
    change_tangent = change_gradient = nullptr;
    const std::string data = "n=2:data=a[0]=3,b[0]=0.5,ta[0]=1,tb[0]=0.25,a[1]=1,b[1]=1.25,ta[1]=1";
    const KernelDeclaration tangent = tangent_kernel(), gradient = gradient_kernel();
    const auto said_with = [&](const std::vector<KernelDeclaration>& others) {
        std::vector kernels{tangent};
        kernels.insert(kernels.end(), others.begin(), others.end());
        return said_of(gradients, data, kernels);
    };
    CHECK(said_with({}) == no_gradient);
    CHECK(said_with({gradient}) == right);
    // Two tangents of each of two outputs, and what only one of them tells.
    CHECK(calls_of_gradient == 4);
    CHECK(said_with({gradient, gradient}) == right);
    CHECK(calls_of_gradient == 4);
    CHECK(said_with({gradient_kernel("of_z")}) == right);
    CHECK(calls_of_gradient == 1);
    CHECK(said_with({gradient_kernel("by_ay")}) == right);
    CHECK(calls_of_gradient == 1);
    // Not called, or not heard.
    CHECK(said_with({gradient_kernel().adds_to_outputs()}) == no_gradient);
    CHECK(said_with({gradient_kernel().storage("b", DType::f8e4m3).where("n", equals(1))}) ==
          no_gradient);
    CHECK(calls_of_gradient == 0);
    CHECK(said_with({gradient_kernel("backward", fails)}) == no_gradient);
    CHECK(said_with({gradient_kernel("backward", fails), gradient}) == right);
    CHECK(said_of(gradients, "n=1:data=a[0]=3,b[0]=1.3,ta[0]=1",
                  {tangent, gradient_kernel().storage("b", DType::f16)}) == no_gradient);
    CHECK(calls_of_gradient == 0);
    for (const std::int64_t element : {0, 1}) {
        change_gradient = off_by(1.0, "da", element);
        CHECK(said_with({gradient_kernel("of_z")}) == no_gradient);
    }
    change_gradient = nullptr;
}

TEST_CASE("a gradient counts with what it may be off by, as it is stored, in its own arithmetic") {
    const std::string data = "n=1:data=a[0]=1.0009765625,b[0]=1.0009765625,tb[0]=1";
    const auto said_with = [&](const KernelDeclaration& gradient, double share) {
        change_gradient = off_by_share(share, "db");
        return said_of(gradients, data, {tangent_kernel(), gradient});
    };
    // Nine roundings of any formula, and as many of the reference's: less than 32, more than 16.
    CHECK(said_with(gradient_kernel("by_ay"), 0x1p-49) == right);
    CHECK(said_with(gradient_kernel("by_ay"), 0x1p-48) == no_gradient);
    // Rounded to bfloat16 it is off by far more than the tangent.
    CHECK(said_with(gradient_kernel("by_ay").storage("db", DType::bf16), 0.0) == right);
    // Saved numbers that it takes in a coarser type count as computed in that, inputs do not.
    CHECK(said_with(gradient_kernel("by_ay").storage("ay", DType::f32), 0x1p-26) == right);
    CHECK(said_with(gradient_kernel("by_ay").storage("a", DType::f32), 0x1p-26) == no_gradient);
    change_gradient = nullptr;
}

}  // namespace gradverify
