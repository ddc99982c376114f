// SPDX-License-Identifier: Apache-2.0
// That constraints become domains which hold exactly the problems that satisfy them, and that
// contradictions are named.
#include "properties/solver.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "properties/test_operator.hpp"
#include "properties/value_range.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

SupportedProblems supported_by(const KernelDeclaration& kernel) {
    return SupportedProblems(test_operator(), *test_operator().find_pass("grad_weight"), kernel);
}

/// The class that a slot of rank 2 belongs to.
const SlotClass& class_of(const SupportedProblems& problems, std::string_view slot) {
    const RankDomain& domain = problems.domains().front();
    const int at = test_operator().space.find(slot, domain.rank).front();
    return domain.classes[static_cast<std::size_t>(domain.class_of[static_cast<std::size_t>(at)])];
}

std::string contradiction(const KernelDeclaration& kernel) {
    try {
        supported_by(kernel);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

Problem parsed(std::string_view text) { return Problem::parse(test_operator().space, text); }

}  // namespace

TEST_CASE("slots that must be equal become one class, slot by slot") {
    const KernelDeclaration kernel = test_kernel();
    const SupportedProblems problems = supported_by(kernel);
    CHECK(problems.domains().front().classes.size() == 14);
    CHECK(class_of(problems, "padding_left_h").slots.size() == 2);
    CHECK(&class_of(problems, "padding_left_h") == &class_of(problems, "padding_right_h"));
    CHECK(&class_of(problems, "padding_left_h") != &class_of(problems, "padding_left_w"));
}

TEST_CASE("equality is transitive") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("filter_w", same_as("stride_w")).where("stride", same_as("dilation"));
    kernel.where("dilation_h", same_as("dilation_w"));
    const SupportedProblems problems = supported_by(kernel);
    CHECK(class_of(problems, "filter_w").slots.size() == 5);
    CHECK(class_of(problems, "filter_h").slots.size() == 1);
}

TEST_CASE("values and ranges are solved, with the multiples that they must be") {
    KernelDeclaration kernel = plain_kernel();
    kernel.where("n", between(3, 30)).where("n", multiple_of(4)).where("n", multiple_of(6));
    const SupportedProblems problems = supported_by(kernel);
    CHECK(class_of(problems, "stride_h").is_fixed());
    CHECK(class_of(problems, "n").lowest == 12);
    CHECK(class_of(problems, "n").highest == 24);
    CHECK(class_of(problems, "n").smallest == 12);
    CHECK(class_of(problems, "groups").highest == 1);
}

TEST_CASE("a divisor's range and its multiples' ranges narrow each other") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("c", between(5, 12)).where("groups", between(4, 100));
    const SupportedProblems problems = supported_by(kernel);
    CHECK(class_of(problems, "groups").highest == 12);
    CHECK(class_of(problems, "k").lowest == 4);

    KernelDeclaration fixed = test_kernel();
    fixed.where("groups", equals(6)).where("c", multiple_of(4));
    const SupportedProblems multiples = supported_by(fixed);
    CHECK(class_of(multiples, "c").step == 12);
    CHECK(class_of(multiples, "k").smallest == 6);
}

TEST_CASE("two parameters that are multiples of each other are one") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("groups", multiple_of("c"));
    const SupportedProblems problems = supported_by(kernel);
    CHECK(&class_of(problems, "groups") == &class_of(problems, "c"));
    CHECK(&class_of(problems, "groups") != &class_of(problems, "k"));
    CHECK(class_of(problems, "k").divisors.size() == 1);
    KernelDeclaration circle = test_kernel();
    circle.where("stride_h", multiple_of("in_w")).where("in_w", multiple_of("dilation_w"));
    circle.where("dilation_w", multiple_of("stride_h"));
    CHECK(class_of(supported_by(circle), "in_w").slots.size() == 3);
}

TEST_CASE("a size of zero is left out for a kernel that is not given empty problems") {
    KernelDeclaration kernel = test_kernel();
    CHECK(class_of(supported_by(kernel), "n").lowest == 1);
    CHECK(class_of(supported_by(kernel), "padding_left_h").lowest == 0);
    kernel.with_empty_problems();
    CHECK(class_of(supported_by(kernel), "n").lowest == 0);
}

TEST_CASE("constraints that leave no value are an error that names them") {
    KernelDeclaration kernel = plain_kernel();
    kernel.where("filter_h", equals(3)).where("filter_w", equals(5));
    const std::string text = contradiction(kernel);
    CHECK(contains(text,
                   "filter.grad_weight/test supports no problem: no value of "
                   "filter_h, filter_w satisfies"));
    CHECK(contains(text, "`filter_h = filter_w`, `filter_h = 3`, `filter_w = 5`"));
    CHECK_FALSE(contains(text, "stride"));

    KernelDeclaration multiples = test_kernel();
    multiples.where("n", between(5, 7)).where("n", multiple_of(4));
    CHECK(contains(contradiction(multiples), "`5 <= n <= 7`, `n multiple of 4`"));

    KernelDeclaration empty = test_kernel();
    empty.where("n", equals(0));
    CHECK(contains(contradiction(empty), "not given empty problems"));
}

TEST_CASE("a contradiction between a divisor and its multiples is named too") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("groups", between(4, 5)).where("c", between(6, 7));
    const std::string text = contradiction(kernel);
    CHECK(contains(text, "`c multiple of groups`"));
    CHECK(contains(text, "`6 <= c <= 7`"));
    KernelDeclaration chain = test_kernel();
    chain.where("c", multiple_of("k")).where("c", equals(6)).where("k", equals(4));
    CHECK(contains(contradiction(chain), "`c multiple of k`"));
}

TEST_CASE("a constraint on an unknown parameter is refused") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("batch", equals(1));
    CHECK(contains(contradiction(kernel), "no parameter is called batch"));
}

TEST_CASE("a problem is supported exactly if constraints, predicates and emptiness allow it") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("stride_h", same_as("stride_w")).only_if("n is not 3", [](const Problem& p) {
        return p.scalar("n") != 3;
    });
    const SupportedProblems problems = supported_by(kernel);
    CHECK(problems.contains(parsed("c=4,k=6,groups=2,in=5x4,stride=2")));
    CHECK_FALSE(problems.contains(parsed("c=4,k=5,groups=2,in=5x4")));
    CHECK_FALSE(problems.contains(parsed("in=5x4,stride=2x1")));
    CHECK_FALSE(problems.contains(parsed("in=5x4,padding=1+0x0")));
    CHECK_FALSE(problems.contains(parsed("n=3,in=5x4")));
    CHECK_FALSE(problems.contains(parsed("n=0,in=5x4")));
    CHECK_FALSE(problems.contains(parsed("in=5x4,filter=6x1")));
    kernel.with_empty_problems();
    const SupportedProblems with_empty = supported_by(kernel);
    CHECK(with_empty.contains(parsed("n=0,in=5x4")));
    CHECK(with_empty.contains(parsed("in=5x4,filter=6x1")));
}

TEST_CASE("what the operator calls invalid is not supported") {
    Operator op = make_test_operator();
    op.why_invalid = [](const Problem& p) -> std::optional<std::string> {
        if (p.on_axis("filter", 0) > p.on_axis("in", 0)) return "the filter is too high";
        return std::nullopt;
    };
    const KernelDeclaration kernel = test_kernel();
    const SupportedProblems problems(op, op.forward(), kernel);
    CHECK(problems.contains(Problem::parse(op.space, "in=3x3,filter=3x3")));
    CHECK_FALSE(problems.contains(Problem::parse(op.space, "in=3x3,filter=4x3,padding=1")));
}

TEST_CASE("membership agrees with the constraints on every small problem") {
    KernelDeclaration kernel = test_kernel();
    kernel.where("n", multiple_of(2)).where("c", between(2, 4)).where("k", same_as("in_w"));
    const SupportedProblems problems = supported_by(kernel);
    int inside = 0;
    for (int i = 0; i < 4 * 5 * 5 * 5 * 4; ++i) {
        Problem problem(test_operator().space, 2);
        problem[0] = i % 4 + 1, problem[1] = i / 4 % 5 + 1, problem[2] = i / 20 % 5 + 1;
        problem[3] = i / 100 % 5 + 1, problem[5] = i / 500 % 4 + 1;
        const bool expected = first_violated(kernel.constraints, problem) == nullptr &&
                              first_violated(test_operator().constraints, problem) == nullptr;
        CHECK(problems.satisfies_constraints(problem) == expected);
        inside += expected;
    }
    CHECK(inside > 20);
}

TEST_CASE("the nearest allowed value respects what is already chosen") {
    const KernelDeclaration kernel = test_kernel();
    const SupportedProblems problems = supported_by(kernel);
    const RankDomain& domain = problems.domains().front();
    const int c = domain.class_of[1], k = domain.class_of[2], groups = domain.class_of[3];
    Assignment values(domain);
    values.set(c, 12);
    CHECK(values.nearest(groups, 5) == 4);
    CHECK(values.nearest(groups, 100) == 12);
    values.set(groups, 4);
    CHECK(values.nearest(k, 10) == 8);
    CHECK(values.nearest(k, 1) == 4);
    CHECK_FALSE(values.allows(k, 6));
    CHECK(values.complete());
    CHECK(values.problem(test_operator().space).print() == "c=12,k=4,groups=4,in=1x1");
}

TEST_CASE("rounding to multiples does not overflow, and a common multiple saturates") {
    CHECK(least_common_multiple(4, 6) == 12);
    CHECK(least_common_multiple(std::int64_t{1} << 40, 3) == std::int64_t{1} << 41);
    CHECK(nearest_in({0, 100, 10}, 14) == 10);
    CHECK(nearest_in({0, 100, 10}, 16) == 20);
    CHECK(nearest_in({10, 20, 10}, -5) == 10);
    CHECK(nearest_in({10, 20, 10}, 99) == 20);
}
