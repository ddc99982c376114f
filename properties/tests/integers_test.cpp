// SPDX-License-Identifier: Apache-2.0
// Kernels of integers of 8 bits: those that are wrong are killed and shrunk to the smallest problem
// known for each, and of results beyond the range nothing is said.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "harness/declare_operator.hpp"
#include "harness/numbers/element_bits.hpp"
#include "properties/checking/context.hpp"
#include "properties/data/values.hpp"
#include "properties/suite/suite.hpp"
#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

namespace {

Operator row_sum() {
    return declare_operator("row_sum")
        .parameter("rows")
        .parameter("width")
        .input("x", {"rows", "width"})
        .output("y", {"rows"})
        .sum_of_products({{"x"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                T sum(0.0);
                for (std::int64_t j = 0; j < x.size(1); ++j) sum += x(i, j);
                call.output("y")(i) = sum;
            }
        })
        .reduction_length([](const Problem& problem) { return problem.scalar("width"); })
        .gradient("grad_x", {"dy"}, {"dx"});
}

GRADVERIFY_OPERATOR(row_sum);

}  // namespace

TEST_CASE("a kernel that is wrong on integers of 8 bits is killed where it is smallest") {
    hunt_down_all(integer_bugs, {.cases_maximum = 400});
}

TEST_CASE("an integer beyond the range may be anything, and one inside may not") {
    const KernelSuite suite(Registry::instance());
    const auto verdict = [&](const std::string& kernel, const std::string& data) {
        return suite
            .run("v1:conv.forward/" + kernel + ":within_rounding_bound:cpu:in=1x1:data=" + data)
            .verdict;
    };
    CHECK(verdict("right_i8_wraps", "x[0]=16,w[0]=8") == Verdict::vacuous);
    // Who says that it saturates is held to it.
    CHECK(verdict("right_i8_saturates", "x[0]=16,w[0]=8") == Verdict::passed);
    CHECK(verdict("right_i8_saturates", "x[0]=16,w[0]=-9") == Verdict::passed);
    CHECK(verdict("bug_i8_wraps", "x[0]=16,w[0]=8") == Verdict::failed);
    CHECK(verdict("bug_i8_cut_off_at_128", "x[0]=16,w[0]=8") == Verdict::failed);
    CHECK(verdict("bug_i8_cut_off_at_128", "x[0]=16,w[0]=-9") == Verdict::passed);
    for (const char* kernel : {"right_i8_wraps", "right_i8_saturates"}) {
        CHECK(verdict(kernel, "x[0]=-16,w[0]=8") == Verdict::passed);
        CHECK(verdict(kernel, "x[0]=127,w[0]=1") == Verdict::passed);
    }
    CHECK(verdict("direct_i8", "x[0]=-128,w[0]=-128") == Verdict::passed);
    CHECK(verdict("direct_u8", "x[0]=255,w[0]=-128") == Verdict::passed);
    CHECK(verdict("bug_u8_read_as_i8", "x[0]=127,w[0]=1") == Verdict::passed);
    CHECK(verdict("bug_u8_read_as_i8", "x[0]=128,w[0]=1") == Verdict::failed);
    CHECK_THROWS_WITH_AS(verdict("direct_i8", "x[0]=128"), "data: x[0] is beyond the largest i8",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(verdict("direct_u8", "x[0]=-1"), "data: x[0] is beyond the least u8",
                         std::invalid_argument);
}

TEST_CASE("a right kernel is none the worse for integers of any size or sign") {
    const KernelSuite suite(Registry::instance());
    for (const char* printed : {
             // A sum in 32 bits, of which a float knows nothing.
             "fc.forward/right_u8_bf16:within_rounding_bound:cpu:n=1,c=33026:dense=8",
             "fc.forward/right_u8_bf16:within_rounding_bound:cpu:n=1,c=33026:dense=16",
             // One product, and beyond 32 bits already.
             "fc.forward/right_i32:within_rounding_bound:cpu:"
             "n=1,k=2:data=x[0]=-170259,w[1]=1047799",
             // Nothing cancels: more than bfloat16 counts up to.
             "row_sum.forward/right_u8_bf16:matches_reference:cpu:rows=1,width=3952:dense=2",
             // What is cut off or rounded.
             "avgpool.forward/right_i8:matches_reference:cpu:in=1x2,window=1x2:data=x[0]=1",
             "avgpool.forward/right_i8:within_rounding_bound:cpu:in=1x2,window=1x2:data=x[0]=1",
             "avgpool.forward/right_i8:matches_reference:cpu:in=1x2,window=1x2:data=x[0]=-3",
             // The very byte that outputs are filled with.
             "fc.forward/right_u8:stays_in_bounds:cpu:n=1:data=b[0]=122",
             "fc.forward/right_u8:stays_in_bounds:cpu:n=1:data=b[0]=91",
         }) {
        const Outcome outcome = suite.run("v1:" + std::string(printed));
        CAPTURE(printed);
        CAPTURE(outcome.message);
        CHECK(outcome.verdict != Verdict::failed);
        CHECK(outcome.verdict != Verdict::errored);
    }
    CHECK(suite.run("v1:conv.forward/direct_i8:within_rounding_bound:cpu:in=1x1:data=b[0]=0.75")
              .verdict == Verdict::passed);
    CHECK_THROWS_WITH_AS(
        suite.run("v1:conv.forward/direct_i8:within_rounding_bound:cpu:in=1x1:data=b[0]=1e10"),
        "data: b[0] is beyond the largest i32", std::invalid_argument);
}

TEST_CASE("a gradient is not compared along a forward kernel of integers") {
    const Registry& registry = Registry::instance();
    const Case checked =
        Case::parse("v1:conv.grad_weight/general:adjoint_identity:cpu:in=2x2:seed=1", registry);
    CaseContext context(checked, registry, ValueKind::integers);
    std::set<const Kernel*> floating;
    for (const Kernel& kernel : registry.kernels())
        if (!holds_integers(kernel.any(), *kernel.op, *kernel.pass)) floating.insert(&kernel);
    const Kernel* partner = sound_forward(context, floating).kernel;
    CHECK(partner == nullptr);
    CHECK(sound_forward(context).kernel != nullptr);
}

TEST_CASE("integers of 8 bits are drawn of their whole range, and small where sums are") {
    for (const DType dtype : {DType::i8, DType::u8}) {
        const KernelDeclaration kernel =
            KernelDeclaration().storage(DType::i32).storage("x", dtype).storage("w", DType::i8);
        const Operator& op = *Registry::instance().find_operator("conv");
        const Problem problem = Problem::parse(op.space, "n=3,c=3,in=9x9,filter=2x2");
        const ElementTypes types(kernel, op);
        CHECK(types.exact_bits() == 30);
        int lowest = 0, highest = 0, small = 0;
        for (const ValueKind kind : {ValueKind::mantissas, ValueKind::integers})
            for (std::uint64_t seed = 1; seed < 41; ++seed)
                for (const bool is_dense : {false, true}) {
                    const auto x = draw_tensor(op, problem, {.seed = seed, .is_dense = is_dense},
                                               kind, types, "x");
                    CHECK(are_numbers_of(dtype, x.data));
                    if (is_dense) CHECK(std::ranges::count(x.data, 0.0) == 0);
                    const auto [least, most] = std::ranges::minmax(x.data);
                    if (kind == ValueKind::integers) CHECK(most <= 64);
                    highest += most == traits_of(dtype).largest;
                    lowest += least == lowest_of(dtype);
                    small += most <= 64;
                }
        CHECK(highest > 10);
        CHECK(small > 80);
        if (dtype == DType::i8) CHECK(lowest > 10);
    }
}

}  // namespace gradverify
