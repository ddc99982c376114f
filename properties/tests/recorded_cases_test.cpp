// SPDX-License-Identifier: Apache-2.0
// Recorded tensors: a kernel that is wrong on them fails, and is reduced; whoever is right passes.
#include <doctest/doctest.h>

#include "harness/testing/temporary_folder.hpp"
#include "harness/testing/tensor_files.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

namespace {

constexpr const char* real_properties[] = {"within_rounding_bound", "matches_finite_differences",
                                           "stays_in_bounds", "repeatable"};

/// A file of x for two rows of two.
struct Recorded {
    explicit Recorded(const std::vector<float>& x)
        : path(folder.write("acts.safetensors", safetensors_of("x", "[2,2]", x))) {}

    std::string case_on(const char* seed) const {
        return "rows=2,width=2:data=" + path + ":" + seed;
    }

    TemporaryFolder folder;
    std::string path;
};

}  // namespace

TEST_CASE("recorded tensors decide whether a kernel is right on them") {
    const Recorded usual({1.0f, -2.5f, 0.7f, 3.0f}), tiny({1.0f, -2.5f, 0.7f, 3e-7f});
    for (const char* property : real_properties)
        for (const char* seed : {"seed=1", "dense=2"})
            for (const Recorded* recorded : {&usual, &tiny})
                check_agrees("row_norm.grad_x/right", property, recorded->case_on(seed));
    for (const char* property : {"within_rounding_bound", "matches_finite_differences"}) {
        check_verdict(Verdict::passed, "row_norm.grad_x/bug_flushed", property,
                      usual.case_on("dense=1"));
        check_verdict(Verdict::failed, "row_norm.grad_x/bug_flushed", property,
                      tiny.case_on("dense=1"));
    }
}

TEST_CASE("an operator that is exact on integers takes recorded tensors within bounds") {
    const TemporaryFolder folder;
    const std::string dy =
        folder.write("dy.npy", npy("<f4", "(2, 3)", bytes_of(std::vector<float>(6, 0.1f))));
    const std::string lengths =
        folder.write("lengths.npy", npy("<i4", "(2,)", bytes_of(std::vector<std::int32_t>{3, 2})));
    const std::string rest = "batch=2,length=3:data=" + dy + "," + lengths + ":seed=1";
    for (const char* property : real_properties)
        check_verdict(Verdict::passed, "running_sum.grad_x/zeros", property, rest);
    check_verdict(Verdict::failed, "running_sum.grad_x/bug_reads", "within_rounding_bound", rest);
    for (const char* property : {"matches_reference", "adjoint_identity"})
        CHECK_THROWS_WITH(
            run("running_sum.grad_x/zeros", property, rest),
            (property + std::string(" needs integers, not recorded tensors")).c_str());
    CHECK_THROWS(
        run("running_sum.grad_x/zeros", "repeatable", "batch=2,length=4:data=" + dy + ":seed=1"));
}

TEST_CASE("a failure on recorded tensors is reduced to few of their elements") {
    const Recorded tiny({1.0f, -2.5f, 0.7f, 3e-7f});
    const KernelSuite suite(Registry::instance());
    const Case found = Case::parse(
        "v1:row_norm.grad_x/bug_flushed:within_rounding_bound:cpu:" + tiny.case_on("seed=1"),
        Registry::instance());
    const auto run = [&](const Case& one) { return suite.run(one.print()); };
    const Shrunk shrunk = suite.shrink(found, run(found), CaseRunner(run));
    CHECK(shrunk.outcome.verdict == Verdict::failed);
    CHECK(shrunk.smallest.data.files.empty());
    CHECK(shrunk.smallest.problem.print() == "rows=1");
}

}  // namespace gradverify
