// SPDX-License-Identifier: Apache-2.0
// That kernels share covering arrays, and that those made ahead are the same.
#include "properties/problems/covering_arrays.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "properties/data/seeds.hpp"
#include "properties/problems/generator.hpp"
#include "properties/tests/operator.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

const PassSpec& weight_pass() { return *test_operator().find_pass("grad_weight"); }

std::atomic<int> asked_elsewhere = 0;
std::thread::id test_thread;

/// Notes which thread asks.
bool is_even(const Problem& problem) {
    if (std::this_thread::get_id() != test_thread) ++asked_elsewhere;
    return problem.scalar("k") % 2 == 0;
}

KernelDeclaration even_kernel() {
    test_thread = std::this_thread::get_id();
    asked_elsewhere = 0;
    KernelDeclaration even;
    even.only_if("k is even", is_even);
    return even;
}

bool another_thread_asks() {
    for (int i = 0; i < 3000 && asked_elsewhere == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return asked_elsewhere > 0;
}

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

TEST_CASE("an array made ahead is made by another thread, and the same") {
    const KernelDeclaration even = even_kernel();
    const SupportedProblems problems(test_operator(), weight_pass(), even);
    CoveringArrays arrays, others;
    arrays.make_ahead(problems);
    CHECK(another_thread_asks());
    const CoveringArray& ahead = arrays.of(problems);
    CHECK(ahead.problems() == others.of(problems).problems());
    CHECK(&arrays.of(problems) == &ahead);
}

TEST_CASE("arrays still to be made do not outlive those who asked") {
    const KernelDeclaration even = even_kernel();
    KernelDeclaration strided = even;
    strided.where("stride", equals(1));
    const SupportedProblems problems(test_operator(), weight_pass(), even),
        of_strided(test_operator(), weight_pass(), strided);
    {
        CoveringArrays arrays;
        arrays.make_ahead(problems);
        CHECK(another_thread_asks());
        arrays.make_ahead(of_strided);
    }
    const int asked = asked_elsewhere;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(asked_elsewhere == asked);
}

TEST_CASE("a generator has its array made while its smallest problems are drawn") {
    const KernelDeclaration even = even_kernel();
    const ProblemGenerator generator(test_operator(), weight_pass(), even);
    const auto edges = static_cast<std::int64_t>(generator.edge_problems().size());
    REQUIRE(edges > 4);
    const auto draw = [&](std::int64_t index) {
        return generator.draw(draw_seed({1, "kernel", "property", index}), index);
    };
    CHECK(draw(0));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(asked_elsewhere == 0);
    CHECK(draw(edges - 1));
    CHECK(another_thread_asks());
    CHECK(generator.covering_array_if_made() == nullptr);
    CHECK(draw(edges));
    CHECK(generator.covering_array_if_made() != nullptr);
}
