// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/copies.hpp"

#include <doctest/doctest.h>

#include "harness/testing/made_operator.hpp"

using namespace gradverify;
using namespace gradverify::testing;

/// y[n][c] = x[n][c] * scale(n, c), and b = the sum of y over n.
static Operator scaled(double (*scale)(std::int64_t n, std::int64_t c, const Problem&)) {
    const auto sizes = [](const Problem& p) { return Sizes{p.scalar("n"), p.scalar("c")}; };
    const auto row = [](const Problem& p) { return Sizes{p.scalar("c")}; };
    Operator op{.name = "scaled",
                .space = ParameterSpace({{.name = "n", .carries_rank = true}, {.name = "c"}}, 0, 0),
                .separable = {{.name = "n", .parameters = {"n"}},
                              {.name = "c", .parameters = {"c"}},
                              {.name = "both", .parameters = {"n", "c"}},
                              {.name = "odd",
                               .parameters = {"n"},
                               .holds_if = [](const Problem& p) { return p.scalar("n") % 2; }}},
                .inputs = {{.name = "x", .sizes = sizes}},
                .outputs = {{.name = "y", .sizes = sizes}, {.name = "b", .sizes = row}}};
    op.passes = {{.name = "forward",
                  .inputs = {"x"},
                  .outputs = {"y", "b"},
                  .reference = [scale](const Problem& p, Inputs<double> in, Outputs<double> out) {
                      const std::int64_t columns = p.scalar("c");
                      for (std::size_t i = 0; i < in[0].data.size(); ++i) {
                          const auto at = static_cast<std::int64_t>(i);
                          out[0].data[i] = in[0].data[i] * scale(at / columns, at % columns, p);
                          out[1].data[static_cast<std::size_t>(at % columns)] += out[0].data[i];
                      }
                  }}};
    return op;
}

static const Operator& plain() {
    static const Operator op = scaled([](auto, auto, const Problem&) { return 2.0; });
    return op;
}

static Problem problem(const Operator& op, const char* text) {
    return Problem::parse(op.space, text);
}

static std::optional<std::string> why_not(const Operator& op, const char* along) {
    const Problem one = problem(op, "n=3,c=2");
    const SeparableSpec& spec = *find_named(op.separable, along);
    Array<double> x{op.sizes_of("x", multiplied(one, spec, 3)), {}};
    for (std::int64_t i = 0; i < element_count(x.sizes); ++i)
        x.data.push_back(static_cast<double>(i % 7 - 2));
    return why_not_separable(op, op.passes[0], one, spec, {x}, 3);
}

TEST_CASE("copies multiply all parameters of a name, and one copy divides them") {
    const Operator& op = plain();
    const Problem one = problem(op, "n=3,c=2");
    const SeparableSpec& both = *find_named(op.separable, "both");
    CHECK(multiplied(one, both, 5).print() == "n=15,c=10");
    CHECK(one_copy(problem(op, "n=15,c=10"), both, 5) == one);
    CHECK_FALSE(one_copy(problem(op, "n=15,c=9"), both, 5));
}

TEST_CASE("no copies are made where the operator says that they would touch") {
    const Operator& op = plain();
    const SeparableSpec& odd = *find_named(op.separable, "odd");
    CHECK_FALSE(why_not_multiplied(odd, problem(op, "n=3")));
    CHECK(why_not_multiplied(odd, problem(op, "n=2")) ==
          "copies of this problem along odd touch each other");
    CHECK_FALSE(one_copy(problem(op, "n=10"), odd, 5));
}

TEST_CASE("the axis of copies is the one whose size they multiply; a shared tensor has none") {
    const Operator& op = plain();
    const Problem one = problem(op, "n=3,c=2");
    CHECK(axis_of_copies(op, "x", one, *find_named(op.separable, "n")) == 0);
    CHECK(axis_of_copies(op, "dx", one, *find_named(op.separable, "c")) == 1);
    CHECK_FALSE(axis_of_copies(op, "b", one, *find_named(op.separable, "n")));
    CHECK(refusal([&] { axis_of_copies(op, "x", one, *find_named(op.separable, "both")); }) ==
          "along both, x is not copies behind each other");
}

TEST_CASE("a slice is one copy along an axis") {
    const Array<double> all{{2, 4}, {0, 1, 2, 3, 4, 5, 6, 7}};
    CHECK(slice(all, 0, 2, 1).data == std::vector<double>{4, 5, 6, 7});
    CHECK(slice(all, 1, 2, 1).data == std::vector<double>{2, 3, 6, 7});
    CHECK(slice(all, 1, 4, 0).sizes == Sizes{2, 1});
}

TEST_CASE("an array is repeated along an axis, each copy a slice") {
    const Array<double> one{{2, 3}, {0, 1, 2, 3, 4, 5}};
    CHECK(repeated(one, 0, 2).sizes == Sizes{4, 3});
    CHECK(repeated(one, 1, 2).data == std::vector<double>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
    for (const std::size_t axis : {0, 1})
        for (const std::int64_t copy : {0, 1, 2})
            CHECK(slice(repeated(one, axis, 3), axis, 3, copy).data == one.data);
}

TEST_CASE("a pass obeys where its copies' results are the whole's, behind each other or summed") {
    CHECK_FALSE(why_not(plain(), "n"));
    CHECK_FALSE(why_not(plain(), "c"));
    const Operator by_row = scaled([](auto n, auto, const Problem&) { return n + 1.0; });
    CHECK(why_not(by_row, "n") == "along n, y is not what its copies are");
    CHECK_FALSE(why_not(by_row, "c"));
    const Operator mean = scaled([](auto, auto, const Problem& p) { return 1.0 / p.scalar("n"); });
    CHECK(why_not(mean, "n") == "along n, y is not what its copies are");
    Operator counted = plain();
    counted.passes[0].reference = [](const Problem&, Inputs<double>, Outputs<double> out) {
        out[1].data[0] = 1.0;
    };
    CHECK(why_not(counted, "n") == "along n, b is not the sum of its copies");
}

TEST_CASE("a registry refuses separable parameters that are none, and says which there are") {
    const auto complaint = [](SeparableSpec spec) {
        Operator op = toy_operator();
        op.separable = {std::move(spec)};
        return complaint_of({}, op);
    };
    CHECK(complaint({.name = "n", .parameters = {"n"}}).empty());
    CHECK(complaint({.name = "in_h", .parameters = {"in_h"}}).empty());
    CHECK(contains(complaint({.name = "m", .parameters = {"m"}}),
                   "operator toy: separable_along(\"m\") needs parameters that are one whole "
                   "number, not 'm'; there are n"));
    CHECK(contains(complaint({.name = "m"}), "separable_along(\"m\") names no parameter"));
}
