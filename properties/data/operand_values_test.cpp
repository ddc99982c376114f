// SPDX-License-Identifier: Apache-2.0
// Values of an operator that is no sum of products: whole numbers, domains, offsets, saved outputs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>

#include "harness/declare_operator.hpp"
#include "properties/data/drawn_numbers.hpp"
#include "properties/tests/drawn_values.hpp"
#include "properties/tests/shrinking.hpp"

namespace {

using namespace gradverify;
using namespace gradverify::testing;

/// s = x / p and t = 3 x, saved for the gradient; y = p x, for whole numbers k that nothing needs.
Operator dividing() {
    return declare_operator("dividing")
        .parameter("n", {.minimum = 0})
        .input("k", {"n"}, whole_numbers(2, 6))
        .input("x", {"n"})
        .input("p", {"n"}, numbers_between(1.0, 9.0))
        .saved("s", {"n"})
        .saved("t", {"n"})
        .output("y", {"n"})
        .gradient("grad_x", {"dy", "s", "x"}, {"dx"})
        .gradient("grad_p", {"dy", "x"}, {"dp"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), p = call.input("p");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                call.output("s")(i) += x(i) / p(i);
                call.output("t")(i) += 3.0 * x(i);
                call.output("y")(i) += x(i) * p(i);
            }
        });
}

/// A cotangent that has the domain of its output is still any number.
Operator with_positive_output() {
    Operator op = dividing();
    op.outputs.back().domain = [](const Problem&) { return ValueDomain{0.0, INFINITY}; };
    return op;
}

Problem of_two(const Operator& op) { return Problem::parse(op.space, "n=2"); }

std::vector<double> forty(const Operator& op, const char* name, const Data& data,
                          ValueKind kind = ValueKind::mantissas) {
    return drawn(op, "n=40", name, data, kind);
}

std::vector<DataElement> list_for(const PassSpec& pass, const Data& data) {
    const Operator op = with_positive_output();
    TestKernel kernel(KernelDeclaration(), op);
    kernel.kernel.pass = &pass;
    return list_data(kernel.kernel, of_two(op), data, ValueKind::mantissas);
}

Values listed(const Operator& op, std::vector<DataElement> elements, DType dtype = DType::f32) {
    const KernelDeclaration kernel = KernelDeclaration().storage(dtype);
    return all_drawn(op, "n=2", listing(std::move(elements)), ValueKind::mantissas,
                     ElementTypes(kernel));
}

}  // namespace

TEST_CASE("where sums are exact, integers stay so in a domain that holds three of them") {
    const auto with_domain = [](double lowest, double highest, std::int64_t length) {
        Operator op = dividing();
        op.algebra = Algebra::products;
        op.inputs.back().domain = [=](const Problem&) { return ValueDomain{lowest, highest}; };
        for (PassSpec& pass : op.passes)
            pass.reduction_length = [length](const Problem&) { return length; };
        return op;
    };
    const auto integers = [](const Operator& op) {
        std::set<double> all;
        for_each_draw(20, [&](ValueKind kind, const Data& data) {
            if (kind == ValueKind::integers)
                for (const double value : forty(op, "p", data, kind)) all.insert(value);
        });
        return all;
    };
    // Beyond a magnitude of 4, sums of that length would not be exact.
    CHECK(integers(with_domain(0.5, 100.0, 1 << 19)) == std::set<double>{1, 2, 3, 4});
    // Where not even ones keep a sum exact, ones are drawn all the same, and no twos.
    CHECK(integers(with_domain(-1.5, 1.5, 1 << 30)) == std::set<double>{-1, 0, 1});
    const auto has_fractions = [](const auto& numbers) {
        return std::ranges::any_of(numbers, [](double v) { return v != std::round(v); });
    };
    CHECK(has_fractions(integers(with_domain(-0.5, INFINITY, 1 << 30))));
    // Mantissas move by their size, from 1/2 to 2, and to no integers.
    Operator op = with_domain(1.0, 5.0, 9);
    CHECK(std::ranges::max(forty(op, "p", dense(1), ValueKind::mantissas)) < 3.7);
    // An operator without exact sums needs none, and a cotangent no domain.
    op.outputs.back().domain = op.inputs.back().domain;
    CHECK(std::ranges::min(forty(op, "dy", {.seed = 1}, ValueKind::integers)) < 0.0);
    op.algebra = Algebra::smooth;
    CHECK(has_fractions(integers(op)));
}

TEST_CASE("integers move into a domain, where they stay as they are if they lie inside") {
    struct Line {
        double lowest, highest;
        std::int64_t amplitude;
        std::vector<double> from, to;
    };
    for (const Line& line : {Line{0.0, INFINITY, 64, {-3, 0, 5}, {3, 1, 5}},
                             {-INFINITY, -3.0, 64, {-3, 0, 5}, {-6, -4, -8}},
                             // It holds three integers, or fewer, which are no use.
                             {-1.5, 1.5, 64, {-3, -1, 0, 1, 5}, {-1, -1, 0, 1, 1}},
                             {1.0, 5.0, 64, {1, 3, 5, 9}, {3, 3, 4, 2}},
                             {4.0, 6.5, 64, {1, 4}, {5.25, 6}},
                             {-1.0, 1.0, 64, {-3, 7}, {0.5, 0.75}},
                             {-0.5, INFINITY, 1, {-3}, {2.5}},
                             {0.5, 100.0, 4, {7, -4}, {4, 1}},
                             {0.5, INFINITY, 4, {7, -4, -1}, {4, 1, 2}},
                             {-100.0, 100.0, 4, {70, 3, -4, 4}, {3, 3, -4, 4}}}) {
        CAPTURE(line.lowest);
        Array<double> array{{static_cast<std::int64_t>(line.from.size())}, line.from};
        move_integers_inside(array, {line.lowest, line.highest}, DType::f32, line.amplitude);
        CHECK(array.data == line.to);
    }
}

TEST_CASE("whole numbers are drawn from all of their range") {
    for_each_draw(3, [](ValueKind kind, const Data& data) {
        const auto values = drawn(dividing(), "n=100", "k", data, kind);
        CHECK(std::set<double>(values.begin(), values.end()) == std::set<double>{2, 3, 4, 5, 6});
    });
}

TEST_CASE("an input keeps to its domain, and a cotangent to none") {
    const Operator op = with_positive_output();
    const auto with_outside = [&](const char* name, double lowest, double highest) {
        return count_draws(20, [&](const Data& data) {
            const auto [least, most] = std::ranges::minmax(forty(op, name, data));
            return least <= lowest || most >= highest;
        });
    };
    CHECK(with_outside("p", 1.0, 9.0) == 0);
    for (const char* name : {"dy", "x"}) CHECK(with_outside(name, 0.0, INFINITY) > 12);
}

TEST_CASE("what is not listed is as simple as its domain allows") {
    const Operator op = with_positive_output();
    const Values values = listed(op, {{"x", 1, 3.0}, {"dy", 0, -7.0}});
    CHECK(values.at("k").data == std::vector<double>{2.0, 2.0});
    CHECK(values.at("x").data == std::vector<double>{0.0, 3.0});
    CHECK(values.at("p").data == std::vector<double>{5.0, 5.0});
    CHECK(values.at("dy").data == std::vector<double>{-7.0, 0.0});
}

TEST_CASE("an element outside of its tensor, its type or its domain is refused") {
    struct Line {
        DataElement element;
        std::string why;
        DType dtype = DType::f32;
    };
    for (const Line& line : {Line{{"z", 0, 1.0}, "there is no tensor 'z'; there are dy k p x"},
                             {{"x", -1, 1.0}, "x[-1] is outside of its 2 elements"},
                             {{"x", 2, 1.0}, "x[2] is outside of its 2 elements"},
                             {{"x", 0, 70000.0}, "x[0] is beyond the largest f16", DType::f16},
                             {{"x", 0, NAN}, "x[0] is outside of the tensor's values"},
                             {{"p", 1, 10.0}, "p[1] is outside of the tensor's values"},
                             {{"k", 1, 7.0}, "k[1] is outside of the tensor's values"}})
        CHECK_THROWS_WITH_AS(listed(with_positive_output(), {line.element}, line.dtype),
                             ("data: " + line.why).c_str(), std::invalid_argument);
}

TEST_CASE("the elements that are listed are those that are not as simple as can be") {
    const std::vector<DataElement> listed{
        {"dy", 1, -1.0}, {"x", 0, 4.0}, {"x", 1, -2.0}, {"k", 0, 6.0}, {"p", 1, 1.5}};
    CHECK(list_for(dividing().passes[1], listing(listed)) == listed);
    CHECK(list_for(dividing().passes[1], listing({})).empty());
    CHECK(list_for(dividing().passes[1], listing({{"x", 0, -0.0}})).size() == 1);
}

TEST_CASE("what matters to a pass are its inputs, and the forward pass's if it takes saved ones") {
    const Operator op = dividing();
    const auto tensors_of = [](const PassSpec& pass) {
        std::string names;
        for (const DataElement& element : list_for(pass, dense(1)))
            if (!names.ends_with(element.tensor + " ")) names += element.tensor + " ";
        return names;
    };
    PassSpec twice = *op.find_pass("grad_p");
    twice.inputs.push_back("dy");
    CHECK(tensors_of(*op.find_pass("grad_x")) == "dy x k p ");
    CHECK(tensors_of(twice) == "dy x ");
    CHECK(tensors_of(op.forward()) == "k x p ");
}

TEST_CASE("numbers of what is no sum of products have an offset, or outliers, in some draws") {
    const Operator curved = dividing();
    Operator linear = curved;
    linear.algebra = Algebra::products;
    const auto differ = [&](const Data& data, ValueKind kind) {
        return forty(curved, "x", data, kind) != forty(linear, "x", data, kind);
    };
    // All of them, and so no outliers.
    const auto has_offset = [&](const Data& data) {
        return std::ranges::all_of(forty(curved, "x", data),
                                   [](double v) { return std::abs(v) > 600.0; });
    };
    CHECK(count_draws(600, has_offset) > 40);
    CHECK(count_draws(600, [&](const Data& data) {
              return !has_offset(data) && differ(data, ValueKind::mantissas);
          }) > 40);
    CHECK(count_draws(600, [&](const Data& d) { return differ(d, ValueKind::integers); }) == 0);
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        const Data data = dense(seed);
        CHECK(has_offset(data) == (seed % 3 == 0));
        Array<double> expected{{40}, forty(linear, "x", data)};
        if (seed % 3 == 2) add_dense_outliers(expected, seed / 3, DType::f32);
        CHECK((forty(curved, "x", data) == expected.data) == (seed % 3 != 0));
        CHECK_FALSE(differ(data, ValueKind::integers));
    }
}

TEST_CASE("what is saved for the gradient takes no numbers from those that dense data deals out") {
    const Operator op = dividing();
    Operator without = op;
    std::erase_if(without.outputs, [](const TensorSpec& tensor) { return !tensor.differentiable; });
    for (const char* name : {"x", "dy"})
        CHECK(forty(op, name, dense(1)) == forty(without, name, dense(1)));
}

TEST_CASE("saved outputs are the forward pass's, rounded to the kernel's types") {
    const Operator op = dividing();
    const KernelDeclaration kernel =
        KernelDeclaration().storage(DType::f16).storage("s", DType::f16);
    const std::vector<Array<double>> inputs{{{2}, {2, 2}}, {{2}, {1, 1000}}, {{2}, {3, 1}}};
    const auto saved = saved_values(op, of_two(op), inputs, ElementTypes(kernel));
    REQUIRE(saved.size() == 3);
    // A half has 11 digits of 1/3.
    CHECK(saved[0].data == std::vector<double>{0x1.554p-2, 1000.0});
    CHECK(saved[1].data == std::vector<double>{3.0, 3000.0});
    CHECK(saved[2].data == std::vector<double>{3.0, 1000.0});
}

TEST_CASE("a pass is given drawn tensors and saved ones by name, computed once") {
    Operator op = dividing();
    int runs = 0;
    op.passes.front().reference = [&, run = op.forward().reference](const auto& problem,
                                                                    auto inputs, auto outputs) {
        ++runs;
        run(problem, inputs, outputs);
    };
    const Values values = listed(op, {{"x", 0, 4.0}, {"x", 1, -8.0}, {"dy", 0, 6.0}});
    const auto given = pick(op, of_two(op), values, {"t", "dy", "s", "x"}, 24);
    REQUIRE(given.size() == 4);
    CHECK(given[0].data == std::vector<double>{12.0, -24.0});
    CHECK(given[1].data == std::vector<double>{6.0, 0.0});
    CHECK(given[2].data ==
          std::vector<double>{static_cast<double>(0.8f), static_cast<double>(-1.6f)});
    CHECK(given[3].data == std::vector<double>{4.0, -8.0});
    CHECK(runs == 1);
    CHECK(pick(op, of_two(op), values, {"x"}, 24).size() == 1);
    CHECK(runs == 1);
}

TEST_CASE("the longest reduction of an operator is its longest pass's, and one at least") {
    Operator op = dividing();
    for (PassSpec& pass : op.passes)
        pass.reduction_length = [](const Problem&) { return std::int64_t{0}; };
    CHECK(longest_reduction(op, of_two(op)) == 1);
    op.passes[1].reduction_length = [](const Problem&) { return std::int64_t{7}; };
    CHECK(longest_reduction(op, of_two(op)) == 7);
}

TEST_CASE("a smooth direction has no zero, and a seed its own; of nothing there is none") {
    const Array<double> like{{40}, std::vector<double>(40)}, nothing{{0}, {}};
    const Array<double> direction = draw_smooth_direction(like, 5);
    CHECK(direction.sizes == like.sizes);
    CHECK(std::ranges::count(direction.data, 0.0) == 0);
    CHECK(direction.data == draw_smooth_direction(like, 5).data);
    CHECK(direction.data != draw_smooth_direction(like, 6).data);
    CHECK(draw_smooth_direction(nothing, 5).data.empty());
    CHECK(draw_direction(nothing, 5, 24, 1).data.empty());
}
