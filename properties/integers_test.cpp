// SPDX-License-Identifier: Apache-2.0
// Kernels of integers of 8 bits: those that are wrong are killed and shrunk to the smallest problem
// known for each, and of results beyond the range nothing is said.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "harness/element_bits.hpp"
#include "properties/context.hpp"
#include "properties/seeded_bugs/hunt.hpp"
#include "properties/suite.hpp"
#include "properties/values.hpp"

namespace gradverify {

TEST_CASE("a kernel that is wrong on integers of 8 bits is killed where it is smallest") {
    hunt_down_all(integer_bugs, {.cases_maximum = 400});
}

TEST_CASE("an integer beyond the range may be anything, and one inside may not") {
    const Suite suite = make_suite(Registry::instance());
    const auto verdict = [&](const std::string& kernel, const std::string& data) {
        return suite
            .run("v1:conv.forward/" + kernel + ":within_rounding_bound:cpu:in=1x1:data=" + data)
            .verdict;
    };
    for (const char* kernel : {"right_i8_wraps", "right_i8_saturates"}) {
        CHECK(verdict(kernel, "x[0]=16,w[0]=8") == Verdict::vacuous);
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
        CHECK(types.exact_bits() == 31);
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
