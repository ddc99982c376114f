// SPDX-License-Identifier: Apache-2.0
// That constraints become domains which hold exactly the problems that satisfy them, and that
// contradictions are named.
#include "properties/problems/solver.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "properties/problems/value_range.hpp"
#include "properties/tests/operator.hpp"

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

/// Parameters a, b, c and d, which may be zero and are the size of nothing, with these constraints.
struct Relations {
    Operator op;
    KernelDeclaration kernel = test_kernel();
    SupportedProblems problems;

    explicit Relations(std::vector<Constraint> constraints)
        : op{.name = "filter",
             .space = ParameterSpace(
                 {{.name = "a", .minimum = 0},
                  {.name = "b", .minimum = 0},
                  {.name = "c", .minimum = 0},
                  {.name = "d", .minimum = 0},
                  {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true}},
                 1, 1),
             .constraints = std::move(constraints),
             .why_invalid = {},
             .inputs = {{.name = "x", .sizes = in_sizes}},
             .outputs = {{.name = "y", .sizes = in_sizes}},
             .passes = {test_pass("forward", {"x"}, "y"), test_pass("grad_weight", {"x"}, "y")}},
          problems(op, op.forward(), kernel) {}
    static Sizes in_sizes(const Problem& p) { return {p.on_axis("in", 0)}; }

    Assignment assignment() const { return Assignment(problems.domains().front()); }
    /// The smallest values of all, or why there are none.
    static std::string solved(std::vector<Constraint> constraints) {
        try {
            const Relations relations(std::move(constraints));
            Assignment values = relations.assignment();
            return values.complete() ? values.problem(relations.op.space).print() : "incomplete";
        } catch (const std::invalid_argument&) {
            return "contradiction";
        }
    }
};

enum : int { a, b, c, d };

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

TEST_CASE("zero divides only zero, and is a multiple of everything") {
    const Relations relations({where("a", multiple_of("b"))});
    Assignment values = relations.assignment();
    values.set(b, 0);
    CHECK(values.unit(a) == 0);
    CHECK(values.nearest(a, 7) == 0);
    CHECK(values.allows(a, 0));
    CHECK_FALSE(values.allows(a, 1));
    values.unset(b);
    CHECK(values.unit(a) == 1);
    CHECK(values.allows(a, 7));
    values.set(a, 0);
    CHECK(values.nearest(b, 5) == 5);
    CHECK(values.allows(b, 0));
    values.set(a, 6);
    CHECK_FALSE(values.allows(b, 0));
    CHECK(values.nearest(b, 0) == 1);
    CHECK(values.nearest(b, 4) == 3);
    CHECK(values.nearest(b, 5) == 6);
    // A divisor of zero is allowed as long as the multiple may be zero, whatever else divides it.
    const Relations two({where("a", multiple_of("b")), where("a", multiple_of("c"))});
    Assignment both = two.assignment();
    both.set(b, 0);
    CHECK(both.allows(c, 5));
    both.set(c, 5);
    CHECK(both.nearest(a, 10) == 0);
    both.set(b, 2), both.set(c, 0);
    CHECK(both.nearest(a, 10) == 0);
    CHECK(both.allows(d, 0));
}

TEST_CASE("a value leaves room for the multiples that have none yet") {
    const Relations narrow({where("a", multiple_of("b")), where("a", between(4, 5))});
    const Assignment values = narrow.assignment();
    CHECK_FALSE(values.allows(b, 0));
    CHECK_FALSE(values.allows(b, 3));
    CHECK(values.nearest(b, 3) == 2);
    CHECK(values.allows(b, 5));
    CHECK_FALSE(values.allows(b, 6));

    const Relations two({where("a", multiple_of("b")), where("a", multiple_of("c")),
                         where("a", multiple_of(2)), where("a", between(1, 30))});
    Assignment both = two.assignment();
    CHECK(both.allows(c, 15));
    CHECK_FALSE(both.allows(c, 16 + 1));
    both.set(b, 4);
    CHECK_FALSE(both.allows(c, 9));
    CHECK(both.nearest(c, 9) == 8);
    CHECK(both.allows(c, 7));
    CHECK(both.allows(c, 14));
    CHECK_FALSE(both.allows(c, 11));
    both.set(c, 7);
    CHECK(both.unit(a) == 28);
    CHECK(both.nearest(a, 1) == 28);
    // With a value of its own, a multiple allows its divisors only.
    both.set(a, 28);
    CHECK(both.allows(c, 14));
    CHECK_FALSE(both.allows(c, 3));
    CHECK(both.nearest(c, 20) == 14);
    both.set(a, 12);
    CHECK(both.nearest(c, 5) == 4);
    CHECK(both.nearest(c, 10) == 12);
}

TEST_CASE("nothing is near where no multiple lies in the range") {
    const Relations relations({where("a", multiple_of("b")), where("a", between(7, 11))});
    Assignment values = relations.assignment();
    values.set(b, 6);
    CHECK_FALSE(values.nearest(a, 8).has_value());
    values.set(b, 5);
    CHECK(values.nearest(a, 8) == 10);
    values.set(b, 4);
    CHECK(values.nearest(a, 100) == 8);
}

TEST_CASE("2048 values on each side are looked at") {
    const Relations relations({where("a", multiple_of("b")), where("b", between(1, 3000))});
    Assignment values = relations.assignment();
    values.set(a, 4093);  // a prime
    CHECK(values.nearest(b, 2048) == 1);
    CHECK_FALSE(values.nearest(b, 2049).has_value());
}

TEST_CASE("a divisor's value that leads into a dead end is replaced by the next") {
    // c = 4 leaves room for b and for d, but b = 8 does not divide d.
    const auto with = [](std::int64_t c_highest, std::int64_t d_value) {
        return Relations::solved({where("b", multiple_of("a")), where("b", multiple_of("c")),
                                  where("d", multiple_of("b")), where("a", equals(2)),
                                  where("c", between(4, c_highest)), where("b", between(5, 10)),
                                  where("d", equals(d_value))});
    };
    CHECK(with(6, 12) == "a=2,b=6,c=6,d=12,in=1");
    CHECK(with(5, 20) == "a=2,b=10,c=5,d=20,in=1");
    CHECK(with(9, 20) == "a=2,b=10,c=5,d=20,in=1");
    CHECK(with(5, 12) == "contradiction");
    CHECK(with(6, 28) == "contradiction");
}

TEST_CASE("all classes take a problem's values") {
    const Relations relations({where("a", multiple_of("b"))});
    const Problem problem = Problem::parse(relations.op.space, "a=6,b=3,c=5,d=0,in=4");
    const Assignment values(relations.problems.domains().front(), problem);
    CHECK(values.problem(relations.op.space) == problem);
    CHECK(relations.problems.contains(problem));
    CHECK_FALSE(
        relations.problems.contains(Problem::parse(relations.op.space, "a=6,b=4,c=5,d=0,in=4")));
    const Assignment none(relations.problems.domains().front());
    for (const int which : {a, b, c, d}) CHECK_FALSE(none.has(which));
}

TEST_CASE("rounding to multiples does not overflow, and a common multiple saturates") {
    CHECK(least_common_multiple(4, 6) == 12);
    CHECK(least_common_multiple(std::int64_t{1} << 40, 3) == std::int64_t{1} << 41);
    // The largest that does not saturate, and the first that does.
    CHECK(least_common_multiple(733007751850, 3) == 2199023255550);
    CHECK(least_common_multiple(733007751851, 3) == std::int64_t{1} << 41);
    CHECK(least_common_multiple(6, 4) == 12);
    CHECK(round_up(9, 4) == 12);
    CHECK(round_up(12, 4) == 12);
    CHECK(round_down(11, 4) == 8);
    CHECK(round_down(12, 4) == 12);
    CHECK(nearest_in({0, 100, 10}, 15) == 10);
    CHECK(nearest_in({0, 100, 10}, 14) == 10);
    CHECK(nearest_in({0, 100, 10}, 16) == 20);
    CHECK(nearest_in({10, 20, 10}, -5) == 10);
    CHECK(nearest_in({10, 20, 10}, 99) == 20);
}
