// SPDX-License-Identifier: Apache-2.0
// That kernels share covering arrays, and when those are made.
#include "properties/problems/covering_arrays.hpp"

#include <doctest/doctest.h>

#include "properties/data/seeds.hpp"
#include "properties/problems/generator.hpp"
#include "properties/tests/operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

const PassSpec& weight_pass() { return *test_operator().find_pass("grad_weight"); }

}  // namespace

TEST_CASE("kernels that support the same share an array, whoever asks first") {
    KernelDeclaration f32, f64, strided;
    f64.storage(DType::f64);
    strided.where("stride", equals(1));
    const Operator& op = test_operator();
    const SupportedProblems of_f32(op, weight_pass(), f32), of_f64(op, weight_pass(), f64),
        of_strided(op, op.forward(), strided), of_forward(op, op.forward(), f32);
    CoveringArrays arrays, others;
    const CoveringArray& shared = arrays.of(of_f32);
    CHECK(&arrays.of(of_f64) == &shared);
    CHECK(&arrays.of(of_forward) == &shared);
    CHECK(&arrays.of(of_strided) != &shared);
    CHECK(others.of(of_forward).problems() == shared.problems());
    // Of barriers each pass has as many as it has outputs.
    KernelDeclaration tiled;
    tiled.costs({.threads_per_output = 64, .barriers_per_thread = 3});
    const SupportedProblems weight(op, weight_pass(), tiled), forward(op, op.forward(), tiled);
    CHECK(&arrays.of(weight) != &shared);
    CHECK(&arrays.of(weight) != &arrays.of(forward));
}

TEST_CASE("a generator has its array made when its smallest problems are drawn") {
    const KernelDeclaration kernel;
    const ProblemGenerator generator(test_operator(), weight_pass(), kernel);
    const auto edges = static_cast<std::int64_t>(generator.edge_problems().size());
    const auto draw = [&](std::int64_t index) {
        return generator.draw(draw_seed({1, "kernel", "property", index}), index);
    };
    CHECK(draw(0));
    CHECK(draw(edges - 1));
    CHECK(generator.covering_array_if_made() == nullptr);
    CHECK(draw(edges));
    CHECK(generator.covering_array_if_made() != nullptr);
}
