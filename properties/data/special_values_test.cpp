// SPDX-License-Identifier: Apache-2.0
// How often ties, NaN, outliers and invalid indices are drawn, and where they never are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "harness/testing/small_declarations.hpp"
#include "properties/data/drawn_numbers.hpp"
#include "properties/tests/drawn_values.hpp"

namespace gradverify {

using namespace testing;

namespace {

template <class Predicate>
int draws_with(const Operator& op, const char* tensor, ValueKind kind, Predicate predicate) {
    return count_draws(
        8000, [&](const Data& data) { return predicate(drawn(op, "in=5x5", tensor, data, kind)); });
}

bool all_tied(const std::vector<double>& data) {
    std::set<double> numbers;
    for (const double value : data)
        if (std::isfinite(value)) numbers.insert(value);
    return numbers.size() <= 3;
}
bool has_no_number(const std::vector<double>& data) {
    return std::ranges::any_of(data, [](double v) { return !std::isfinite(v); });
}

}  // namespace

TEST_CASE("ties are drawn in a quarter of the cases of a piecewise linear operator, on integers") {
    const auto tied = [](const char* op, const char* tensor, ValueKind kind) {
        return draws_with(operator_named(op), tensor, kind, all_tied);
    };
    CHECK(std::abs(tied("maxpool", "x", ValueKind::integers) - 2000) < 80);
    CHECK(tied("maxpool", "dy", ValueKind::integers) == 0);
    CHECK(tied("maxpool", "x", ValueKind::mantissas) == 0);
    CHECK(tied("avgpool", "x", ValueKind::integers) == 0);
}

TEST_CASE("NaN and infinities are drawn in an eighth of the cases, where they are defined") {
    for (const ValueKind kind : {ValueKind::integers, ValueKind::mantissas}) {
        Operator maxpool = operator_named("maxpool");
        CHECK(std::abs(draws_with(maxpool, "x", kind, has_no_number) - 1000) < 56);
        CHECK(draws_with(operator_named("avgpool"), "x", kind, has_no_number) == 0);
        // A cotangent holds none, whatever its output may be.
        maxpool.outputs[0].may_be_nan = true;
        CHECK(draws_with(maxpool, "dy", kind, has_no_number) == 0);
    }
}

TEST_CASE("dense draws where ties and NaN are defined: four without, two with ties, two with NaN") {
    const auto x = [&](std::uint64_t seed) {
        return drawn(operator_named("maxpool"), "c=3,in=3x3", "x", dense(seed),
                     ValueKind::integers);
    };
    const auto numbers = [&](std::uint64_t seed) {
        const auto data = x(seed);
        return std::set(data.begin(), data.end());
    };
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
        CHECK(numbers(seed).size() == x(seed).size());
        CHECK_FALSE(has_no_number(x(seed)));
    }
    CHECK(numbers(5) == std::set{-1.0, 0.0, 1.0});
    CHECK(numbers(6) == std::set{0.0});
    CHECK(std::ranges::any_of(x(7), [](double v) { return std::isnan(v); }));
    CHECK(std::ranges::count(x(8), -INFINITY) > 0);
}

TEST_CASE("dense draws of indices: mixed ones, then the simplest, ascending and the highest") {
    Operator embedding = operator_named("embedding");
    const auto indices_of = [&](const Data& data) {
        return drawn(embedding, "tokens=5,rows=3", "index", data, ValueKind::integers);
    };
    const auto indices = [&](std::uint64_t seed) { return indices_of(dense(seed)); };
    const int mixed = draws_of_mixed_indices(embedding);
    for (int draw = 1; draw <= mixed; ++draw) {
        const auto drawn_there = indices(static_cast<std::uint64_t>(draw));
        CHECK(std::set(drawn_there.begin(), drawn_there.end()).size() == 3);
    }
    const auto first = static_cast<std::uint64_t>(mixed) + 1;
    using Numbers = std::vector<double>;
    CHECK(indices(first) == Numbers{0, 0, 0, 0, 0});
    CHECK(indices(first + 1) == Numbers{0, 1, 2, 0, 1});
    CHECK(indices(first + 2) == Numbers{2, 2, 2, 2, 2});
    for (const Data& data : {dense(first + 3), Data{.seed = first}}) {
        const auto all = indices_of(data);
        CHECK(std::set(all.begin(), all.end()).size() > 1);
        CHECK(std::ranges::all_of(all, [](double v) { return v == 0 || v == 1 || v == 2; }));
    }
    embedding.inputs[0].domain = [](const Problem&) { return ValueDomain{2.0, 4.0}; };
    CHECK(indices(first + 1) == Numbers{2, 3, 4, 2, 3});
}

TEST_CASE("dense draws of simple indices are without NaN, and no draws of other operators are") {
    Operator embedding = operator_named("embedding");
    embedding.algebra = Algebra::smooth;
    embedding.inputs[1].may_be_nan = true;
    const auto mixed = static_cast<std::uint64_t>(draws_of_mixed_indices(embedding));
    for (std::uint64_t seed = mixed; seed <= mixed + 4; ++seed) {
        CAPTURE(seed);
        const bool is_simple = seed > mixed && seed <= mixed + 3;
        CHECK(has_no_number(drawn(embedding, "rows=3,width=9", "weight", dense(seed))) !=
              is_simple);
        CHECK(has_no_number(drawn(operator_named("maxpool"), "c=3,in=3x3", "x", dense(seed))));
    }
}

TEST_CASE("explicit data may be NaN where the operator defines what follows, and only there") {
    const auto draw_with = [](const char* tensor, double value) {
        return all_drawn(operator_named("maxpool"), "in=1x1", listing({{tensor, 0, value}}),
                         ValueKind::integers);
    };
    CHECK(std::isnan(draw_with("x", NAN)["x"].data[0]));
    CHECK(draw_with("x", -INFINITY)["x"].data[0] == -INFINITY);
    CHECK_THROWS_WITH(draw_with("dy", NAN), "data: dy[0] is outside of the tensor's values");
    CHECK_THROWS_WITH(draw_with("x", 1e300), "data: x[0] is beyond the largest f32");
}

TEST_CASE("a kernel of finite numbers alone is given no NaN, drawn or listed") {
    const KernelDeclaration finite = KernelDeclaration().finite_numbers_alone();
    const Operator& maxpool = operator_named("maxpool");
    const auto has_nan = [&](const Data& data) {
        return has_no_number(
            drawn(maxpool, "in=5x5", "x", data, ValueKind::integers, ElementTypes(finite)));
    };
    CHECK(count_draws(8000, has_nan) == 0);
    CHECK_FALSE(has_nan(dense(7)));
    CHECK_THROWS_WITH(all_drawn(maxpool, "in=1x1", listing({{"x", 0, NAN}}), ValueKind::integers,
                                ElementTypes(finite)),
                      "data: x[0] is outside of the tensor's values");
}

TEST_CASE("where nothing is a sum of products some numbers dwarf their neighbours, now and then") {
    const auto far_apart = [&](const Data& data) {
        const auto logits =
            drawn(operator_named("softmax_cross_entropy"), "n=4,v=8", "logits", data);
        const auto [least, most] = std::ranges::minmax(logits);
        CHECK(most - least < 0x1p27);
        return most - least > 104.0;  // exp(-104) is zero in a float
    };
    CHECK(std::abs(count_draws(800, far_apart) - 100) < 50);
    CHECK(far_apart(dense(2)));
    CHECK_FALSE(far_apart(dense(1)));
}

TEST_CASE("where nothing is a sum of products zeros, constant rows and large numbers are drawn") {
    const auto draws = [](const char* tensor, auto predicate) {
        return count_draws(4000, [&](const Data& data) {
            return predicate(drawn(operator_named("layer_norm"), "rows=4,width=5", tensor, data));
        });
    };
    const auto all_zero = [](const auto& data) {
        return std::ranges::all_of(data, [](double v) { return v == 0.0; });
    };
    const auto some_zero = [](const auto& data) { return std::ranges::count(data, 0.0) > 0; };
    const auto is_large = [](const auto& data) {
        return std::ranges::all_of(data, [](double v) { return std::abs(v) >= 0x1p14; });
    };
    const auto has_constant_rows = [](const auto& data) {
        for (std::size_t i = 0; i < data.size(); ++i)
            if (data[i] != data[i / 5 * 5]) return false;
        return data[0] != 0.0 && data[0] != data.back();
    };
    const auto has_equal_rows = [](const auto& data) {
        for (std::size_t i = 0; i < data.size(); ++i)
            if (data[i] != data[i % 5]) return false;
        return data[0] != data[1];
    };
    // Half of a sixth, without offset and outlier; a quarter of these is large.
    CHECK(std::abs(draws("x", some_zero) - 100) < 40);
    CHECK(draws("x", has_constant_rows) > 40);
    CHECK(draws("x", has_equal_rows) > 16);
    CHECK(draws("x", is_large) > 40);
    CHECK(draws("gamma", all_zero) > 16);
    CHECK(draws("dy", all_zero) > 16);
}

TEST_CASE("numbers that are made large keep their ratios, and stay numbers of a narrow type") {
    const auto exponents = [](DType dtype) {
        std::set<double> all;
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            // A tensor's numbers are at most 2, rounded to 8 bits.
            Array<double> array{{2}, {2.0, -1.0}};
            make_large(array, SplitMix64(seed), dtype);
            CHECK(array.data[0] == -2.0 * array.data[1]);
            CHECK(array.data[0] <= traits_of(dtype).largest);
            all.insert(std::log2(-array.data[1]));
        }
        return all;
    };
    CHECK(exponents(DType::f8e4m3) == std::set<double>{2, 3, 4, 5});
    for (const DType dtype : {DType::f8e5m2, DType::f16})
        CHECK(exponents(dtype) == std::set<double>{2, 3, 4, 5, 6, 7, 8});
    CHECK(exponents(DType::f32) == std::set<double>{16, 17, 18, 19, 20, 21, 22, 23, 24});
}

TEST_CASE("numbers are made huge or small by one power of two, and remain numbers of the type") {
    const auto scaled_by = [](auto make, double number, int most) {
        std::set<double> factors;
        for (std::uint64_t seed = 0; seed < 300; ++seed) {
            Array<double> array{{2, 1}, {number, number}};
            make(array, SplitMix64(seed), DType::f32, most);
            for (const double element : array.data) factors.insert(std::log2(element / number));
        }
        factors.erase(0.0);
        return factors.empty() ? std::pair(0.0, 0.0)
                               : std::pair(*factors.begin(), *factors.rbegin());
    };
    CHECK(scaled_by(make_huge, 1.5, 20) == std::pair(4.0, 20.0));
    CHECK(scaled_by(make_huge, 0x1.8p120, 20) == std::pair(1.0, 7.0));
    CHECK(scaled_by(make_small, 1.5, 20) == std::pair(-20.0, -4.0));
    CHECK(scaled_by(make_small, 0x1.8p-120, 20) == std::pair(-6.0, -1.0));
    CHECK(scaled_by(make_small, 0x1p-131, 20) == std::pair(0.0, 0.0));
}

TEST_CASE("one dense draw in nine has tiny numbers, but those of chains") {
    Operator op = copying();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CHECK(is_tiny_draw(op, dense(seed)) == (seed % 9 == 4));
        CHECK_FALSE(is_tiny_draw(op, {.seed = seed}));
    }
    op.passes[0].steps.emplace_back();
    CHECK_FALSE(is_tiny_draw(op, dense(4)));
}

TEST_CASE("numbers are huge where every result keeps 16 binary digits to its types' ends") {
    const auto draws = [](auto result, const KernelDeclaration& kernel = {}) {
        const Operator op = elementwise(result);
        std::vector<std::vector<double>> all;
        for (std::uint64_t seed = 0; seed < 100; ++seed)
            all.push_back(drawn(op, "n=2", "x", {.seed = seed}, ValueKind::mantissas,
                                ElementTypes(kernel, op)));
        return all;
    };
    const auto constant = [](double value) {
        return [value]<class T>(const T&) { return T(value); };
    };
    const auto short_in = KernelDeclaration().storage("x", DType::f16);
    const auto short_out = KernelDeclaration().storage("y", DType::f16);
    for (const auto& [kernel, largest] : {std::pair(KernelDeclaration(), 0x1.fffffep127),
                                          {short_in, 65504.0},
                                          {short_out, 65504.0}}) {
        const double limit = largest * 0x1p-16;
        const auto huge = draws(constant(0x1p-20), kernel),
                   tiny = draws(constant(INFINITY), kernel);
        CHECK(huge != tiny);
        CHECK(draws(constant(-limit), kernel) == huge);
        CHECK(draws(constant(std::nextafter(limit, INFINITY)), kernel) == tiny);
    }
    // Not where a comparison is open.
    const auto compares = []<class T>(const T& x) { return T(0.1) * x < T(0.1) * x ? x : T(0.0); };
    CHECK(draws(compares) == draws(constant(INFINITY)));
}

TEST_CASE("what a kernel may multiply in any order overflows in none") {
    const auto at = [](const Operator& op, const char* name, std::uint64_t seed) {
        return std::abs(drawn(op, "n=1", name, {.seed = seed}, ValueKind::mantissas)[0]);
    };
    const Operator identity = elementwise([](const auto& x) { return x; }),
                   zero = elementwise([]<class T>(const T&) { return T(0.0); });
    double cotangent = 0.0, huge = 0.0, beside_large = 0.0, before_zero = 0.0;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        const double x = at(identity, "x", seed), dy = at(identity, "dy", seed);
        cotangent = std::max(cotangent, dy);
        double& largest = dy > 0x1p+10 ? beside_large : huge;
        largest = std::max(largest, std::max(dy, 1.0) * x);
        before_zero = std::max(before_zero, at(zero, "x", seed) * at(zero, "dy", seed));
    }
    CHECK(cotangent > 0x1p+16);
    CHECK(cotangent < 0x1p+30);
    CHECK(huge > 0x1p+100);
    for (const double most : {beside_large, before_zero}) {
        CHECK(most > 0x1p+64);
        CHECK(most <= 0x1p+110);
    }
}

TEST_CASE("a chain's random numbers have no zeros and no constant rows, other operators' have") {
    Operator op = operator_named("layer_norm");
    const auto with_zero = [&] {
        return count_draws(1000, [&](const Data& data) {
            return std::ranges::count(drawn(op, "rows=4,width=5", "x", data), 0.0) > 0;
        });
    };
    CHECK(with_zero() > 10);
    op.passes[0].steps.emplace_back();
    CHECK(with_zero() == 0);
}

TEST_CASE("indices outside of their range are drawn where operator and kernel allow for them") {
    const Operator& softmax = operator_named("softmax_cross_entropy");
    const Problem problem = Problem::parse(softmax.space, "n=4,v=3");
    const KernelDeclaration plain, checks = KernelDeclaration().with_invalid_indices();
    std::set<double> outside;
    const auto has_invalid = [&](const KernelDeclaration& kernel, const Data& data) {
        auto labels =
            drawn(softmax, "n=4,v=3", "labels", data, ValueKind::mantissas, ElementTypes(kernel));
        std::erase_if(labels, [&](double label) {
            return softmax.tensor_named("labels").admits(label, problem);
        });
        outside.insert(labels.begin(), labels.end());
        return !labels.empty();
    };
    CHECK(count_draws(8000, [&](const Data& data) { return has_invalid(plain, data); }) == 0);
    const int with = count_draws(8000, [&](const Data& data) { return has_invalid(checks, data); });
    CHECK(std::abs(with - 1000) < 60);
    CHECK(outside == std::set<double>{-0x1p31, -1.0, 3.0, 0x1p31 - 1.0});
    CHECK(has_invalid(checks, dense(3)));
    CHECK_FALSE(has_invalid(checks, dense(1)));
    const auto listed = [&](const KernelDeclaration& kernel, double label = -7.0) {
        return all_drawn(softmax, "n=4,v=3", listing({{"labels", 1, label}}), ValueKind::mantissas,
                         ElementTypes(kernel))
            .at("labels")
            .data;
    };
    CHECK(listed(checks) == std::vector<double>{0.0, -7.0, 0.0, 0.0});
    const char* const refusal = "data: labels[1] is outside of the tensor's values";
    CHECK_THROWS_WITH_AS(listed(plain), refusal, std::invalid_argument);
    CHECK_THROWS_WITH_AS(listed(checks, -7.5), refusal, std::invalid_argument);
}

}  // namespace gradverify
