// SPDX-License-Identifier: Apache-2.0
// An operator that does not say its work is drawn no larger than its formula can be run.
#include "properties/problems/work_growth.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "harness/declare_operator.hpp"
#include "properties/data/seeds.hpp"
#include "properties/problems/generator.hpp"

namespace {

using namespace gradverify;

OperatorDeclaration of_rows(const char* name) {
    return declare_operator(name)
        .parameter("n")
        .parameter("c")
        .input("x", {"n", "c"})
        .output("y", {"n", "c"});
}

Operator elementwise() {
    return of_rows("test_elementwise").forward([]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x"), y = call.output("y");
        for (std::int64_t i = 0; i < x.elements(); ++i) y.flat(i) = 2.0 * x.flat(i);
    });
}

/// Each row with each other one.
Operator pairs() {
    return of_rows("test_pairs").forward([]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x"), y = call.output("y");
        for (std::int64_t i = 0; i < x.size(0); ++i)
            for (std::int64_t other = 0; other <= i; ++other)
                for (std::int64_t j = 0; j < x.size(1); ++j) y(i, j) += x(i, j) * x(other, j);
    });
}

/// In a vector of its own.
Operator sums() {
    return of_rows("test_sums").forward([]<class T>(const ForwardCall<T>& call) {
        const auto x = call.input("x"), y = call.output("y");
        std::vector<T> own;
        for (std::int64_t i = 0; i < x.elements(); ++i) own.push_back(x.flat(i));
        for (std::size_t i = 0; i < own.size(); ++i) {
            T sum = T(0.0);
            for (std::size_t j = 0; j <= i; ++j) sum += own[j];
            y.flat(static_cast<std::int64_t>(i)) = sum;
        }
    });
}

/// Only a gradient by hand does more than a few operations for an element.
Operator by_hand() {
    return of_rows("test_by_hand")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), y = call.output("y");
            for (std::int64_t i = 0; i < x.elements(); ++i) y.flat(i) = x.flat(i);
        })
        .gradient("grad_x", {"dy", "x"}, {"dx"}, []<class T>(const ForwardCall<T>& call) {
            const auto dy = call.input("dy"), dx = call.output("dx");
            for (std::int64_t i = 0; i < dy.size(0); ++i)
                for (std::int64_t j = 0; j < dy.size(1); ++j)
                    for (std::int64_t k = 0; k < dy.size(1); ++k)
                        dx(i, j) += dy(i, k) * (j == k ? 1.0 : 0.0);
        });
}

double growth(const Operator& op, const PassSpec& pass, const char* problem) {
    const KernelDeclaration kernel;
    const SupportedProblems problems(op, pass, kernel);
    return WorkGrowth(problems, problems.domains().front())(Problem::parse(op.space, problem));
}

/// The largest `n` of a row's cases.
std::int64_t largest(const Operator& op, const char* size) {
    const KernelDeclaration kernel;
    const ProblemGenerator generator(op, op.forward(), kernel);
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < 1000; ++i)
        most = std::max(most,
                        generator.draw(draw_seed({1, op.name, "repeatable", i}), i)->scalar(size));
    return most;
}

}  // namespace

TEST_CASE("work grows with each size as the elements that formulas ask for") {
    const Operator plain = elementwise(), rows = pairs(), gradient = by_hand();
    const double elements = 65536.0 * 100.0;
    CHECK(growth(plain, plain.forward(), "n=65536,c=100") < 20.0 * elements);
    CHECK(growth(rows, rows.forward(), "n=65536,c=100") > elements * 65536.0);
    CHECK(growth(rows, rows.forward(), "n=65536,c=100") < 20.0 * elements * 65536.0);
    CHECK(growth(gradient, gradient.forward(), "n=65536,c=100") < 20.0 * elements);
    CHECK(growth(gradient, *gradient.find_pass("grad_x"), "n=65536,c=100") >= 100.0 * elements);
}

TEST_CASE("problems are as large as their formula can be run") {
    CHECK(largest(elementwise(), "n") >= 65536);
    CHECK(largest(pairs(), "c") >= 65536);
    const std::int64_t rows = largest(pairs(), "n");
    CHECK(rows > 1025);
    CHECK(rows < 5000);
    CHECK(largest(sums(), "n") < 5000);
}
