// SPDX-License-Identifier: Apache-2.0
// Gradients of sums of products are compared by whole steps.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "harness/testing/small_declarations.hpp"
#include "properties/tests/made_case.hpp"

namespace gradverify {

using namespace testing;

namespace {

const std::string property = "matches_finite_differences";

const std::string right = "passed: ";
const std::string wrong = "failed: is not the derivative of the reference's forward map";
const std::string reference_wrong =
    "errored: the kernel agrees with the reference's gradient, but is not the derivative of the "
    "reference's forward map: the operator's reference contradicts itself";

// Each element is moved alone, or they are too many.
const std::string few = "n=2,c=3:seed=1", many = "n=5,c=6:seed=1";

std::vector<double> errors;

void with_errors(const PassCall& call) {
    run_dot_product(call);
    for (std::size_t i = 0; i < errors.size(); ++i)
        Elements(call, "dx").add(static_cast<std::int64_t>(i), errors[i]);
}

void slightly_off(const PassCall& call) {
    run_dot_product(call);
    Elements(call, "dx").add(0, 0x1p-10);
}

/// The slope of x^2, off by so many ulps of 1.
template <int ulps>
void near_slope(const PassCall& call) {
    Elements(call, "dx").set(0, 2.0 * Elements(call, "x")[0] + ulps * 0x1p-23);
}

/// The slope of x + x, off by so many ulps of 1.
template <int ulps>
void near_two(const PassCall& call) {
    Elements(call, "dx").set(0, 2.0 + ulps * 0x1p-23);
}

void one_off(const PassCall& call) {
    run_dot_product(call);
    Elements(call, "dw").add(0, 1.0);
}

template <bool is_off>
void run_product(const PassCall& call) {
    const Elements dx(call, "dx");
    for (std::int64_t i = 0; i < dx.view.elements(); ++i)
        dx.set(i, Elements(call, "dy")[i] * Elements(call, "w")[i]);
    if (is_off) dx.add(1, 1.0);
}

}  // namespace

TEST_CASE("each gradient that a call is asked for is the derivative of a sum of products") {
    struct Line {
        KernelDeclaration kernel;
        std::string rest, want;
    };
    const std::string small_numbers = "n=5,c=6:data=dy[0]=1,w[0]=1,x[0]=1",
                      large_sum =
                          "n=4,c=1:data=dy[0]=2000,dy[1]=2000,dy[2]=2000,dy[3]=2000,"
                          "x[0]=2000,x[1]=2000,x[2]=2000,x[3]=2000,w[0]=1";
    std::vector<Line> lines{
        {dot_kernel("backward/masked").takes_mask(), few + ":mask=1", right},
        {dot_kernel("backward/masked").takes_mask(), few + ":mask=2", right},
        {dot_kernel("backward/transforms", slightly_off).norm_wise(1.0), small_numbers, wrong},
        // An error of one is less than numbers of this size may round by, but integers do not.
        {dot_kernel("backward/one_off", one_off), large_sum, wrong}};
    for (const std::string& rest : {few, many})
        for (const KernelDeclaration& kernel :
             {dot_kernel("backward/plain"), dot_kernel("with_y/plain"),
              dot_kernel("backward/adds", run_dot_product<true>).adds_to_outputs(),
              dot_kernel("backward/transforms").norm_wise(1.0)})
            lines.push_back({kernel, rest, right});
    for (const Line& line : lines) {
        CAPTURE(line.kernel.full_name());
        CAPTURE(line.rest);
        CHECK(said(run_among({line.kernel}, property, line.rest)) == line.want);
    }
}

TEST_CASE("errors of a large gradient pass where they cancel along both random directions alone") {
    const std::vector<KernelDeclaration> kernels{dot_kernel("backward/plain", with_errors)};
    const Registry registry = registry_of(kernels, dot_product());
    const auto outcome_on = [&](const std::string& rest, bool cancel_along_first,
                                bool cancel_along_second) {
        const std::string line = "v1:dot.backward/plain:" + property + ":cpu:" + rest;
        const Case checked = Case::parse(line, registry);
        const CaseContext context(checked, registry, ValueKind::integers);
        const auto like = filled<double>(context.op().sizes_of("x", context.problem()));
        const auto direction = [&](const char* purpose) {
            return context.direction_for(purpose, like, context.largest_step("x")).data;
        };
        const auto a = direction("x0"), b = direction("x1");
        // Orthogonal to one direction, or to both.
        errors = cancel_along_first ? std::vector{a[1], -a[0]} : std::vector{b[1], -b[0]};
        if (cancel_along_first && cancel_along_second)
            errors = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                      a[0] * b[1] - a[1] * b[0]};
        REQUIRE(a[0] * b[1] != a[1] * b[0]);
        return said(KernelSuite(registry).run(line));
    };
    CHECK(outcome_on(many, true, true) == right);
    CHECK(outcome_on(many, true, false) == wrong);
    CHECK(outcome_on(many, false, true) == wrong);
    CHECK(outcome_on(few, true, true) == wrong);
}

TEST_CASE("on problems where integers round, derivatives are those of the forward function") {
    const Operator op = dot_product().exact_if(
        "n is even", [](const Problem& problem) { return problem.scalar("n") % 2 == 0; });
    const std::vector kernels{dot_kernel("backward/one_off", one_off)};
    CHECK(said(run_among(kernels, property, "n=2,c=1:seed=1", op)) == wrong);
    CHECK(said(run_among(kernels, property, "n=3,c=1:seed=1", op)) ==
          "failed: is not the derivative of the forward function");
}

TEST_CASE("where kernel and reference agree on a wrong gradient, the reference is charged") {
    Operator op = dot_product();
    PassSpec& backward = op.passes[1];
    backward.reference = [right_one = backward.reference](const Problem& problem, Inputs<double> in,
                                                          Outputs<double> out) {
        right_one(problem, in, out);
        out[1].data[0] += 1.0;
    };
    for (const std::string& rest : {few, many})
        CHECK(said(run_among({dot_kernel("backward/one_off", one_off)}, property, rest, op)) ==
              reference_wrong);
}

TEST_CASE("a kernel may be off its reference by hand, and that off the derived one, by rounding") {
    const Operator op = elementwise([]<class T>(const T& x) { return x * x; }, "square")
                            .gradient("grad_x", {"dy", "x"}, {"dx"},
                                      by_element([](const auto& in, const auto& out) {
                                          out("dx") = 2.0 * in("dy") * in("x");
                                      }));
    const auto outcome_of = [&](KernelDeclaration::Thunk thunk) {
        return run_among({host_kernel("square.grad_x/near", thunk)}, property,
                         "n=1:data=dy[0]=1,x[0]=0.75:precision=strict", op);
    };
    // Two roundings for each are 3 ulps, and one rounding more 0.75.
    CHECK(said(outcome_of(near_slope<2>)) == right);
    CHECK(outcome_of(near_slope<4>).verdict == Verdict::failed);
}

TEST_CASE("a reference by hand may lose more than any formula that is derived does") {
    const Operator op = elementwise([]<class T>(const T& x) { return x + x; }, "twice")
                            .gradient("grad_x", {"dy", "x"}, {"dx"},
                                      by_element([](const auto& in, const auto& out) {
                                          out("dx") = (2.0 * in("dy") + in("x")) - in("x");
                                      }));
    const auto outcome_of = [&](KernelDeclaration::Thunk thunk, DType dtype) {
        return run_among({host_kernel("twice.grad_x/near", thunk).storage(dtype)}, property,
                         "n=1:data=dy[0]=1,x[0]=1023.1", op);
    };
    // The roundings at 1024 are hundreds of ulps, in double its own, too.
    CHECK(said(outcome_of(near_two<200>, DType::f32)) == right);
    CHECK(outcome_of(near_two<20000>, DType::f32).verdict == Verdict::failed);
    CHECK(said(outcome_of(near_two<0>, DType::f64)) == right);
    CHECK(outcome_of(near_two<1>, DType::f64).verdict == Verdict::failed);
}

TEST_CASE("an element too large for its type may be anything, the others may not") {
    const Operator op =
        of_two("product", "x", "w", std::multiplies<>(), {}, numbers_between(-1e6, 1e6))
            .sum_of_products({{"x", "w"}})
            .gradient("grad_x", {"dy", "w"}, {"dx"});
    const auto outcome_of = [&](KernelDeclaration::Thunk thunk, const std::string& n,
                                const std::string& data = "dy[0]=300,w[0]=300,dy[1]=2,w[1]=3") {
        const KernelDeclaration kernel = host_kernel("product.grad_x/narrow", thunk)
                                             .storage(DType::f16)
                                             .accumulates_in(DType::f16);
        return said(run_among({kernel}, property, n + ":data=" + data, op));
    };
    for (const char* n : {"n=2", "n=30", "n=31", "n=32", "n=33", "n=34"}) {
        CAPTURE(std::string(n));
        CHECK(outcome_of(run_product<false>, n) == right);
        CHECK(outcome_of(run_product<true>, n) == wrong);
        // Stored in 11 digits the product is rounded.
        CHECK(outcome_of(run_product<false>, n, "dy[0]=1.0009765625,w[0]=1.0009765625") == right);
    }
}

TEST_CASE("an operator whose derivative nobody knows is skipped") {
    Operator op = dot_product().exact_if("never", [](const Problem&) { return false; });
    op.along = nullptr;
    const std::vector kernels{dot_kernel("backward/one_off", one_off)};
    CHECK(said(run_among(kernels, property, few, op)) ==
          "skipped: the operator has neither a forward function nor a sum of products to derive");
}

TEST_CASE("what comes of an invalid index is no derivative") {
    const Operator op = scaled().gradient("grad_x", {"dy", "index", "w"}, {"dx"});
    const auto ones = [](const PassCall& call) { Elements(call, "dx").set(0, 1.0); };
    const std::vector kernels{host_kernel("scaled.grad_x/ones", ones).with_invalid_indices()};
    const std::string data = "n=1:data=dy[0]=1,w[0]=1";
    CHECK(said(run_among(kernels, property, data, op)) == right);
    CHECK(said(run_among(kernels, property, data + ",index[0]=1", op)) ==
          "skipped: what comes of an invalid index is no derivative");
}

}  // namespace gradverify
