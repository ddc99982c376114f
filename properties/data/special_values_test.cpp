// SPDX-License-Identifier: Apache-2.0
// Values that are not like others: ties, NaN and infinities, outliers, invalid indices; how often
// each is drawn, and where the operator or the kernel does not allow for it never.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "harness/registry/registry.hpp"
#include "properties/data/numbers.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

namespace {

/// The share of cases in which the predicate holds of a tensor.
template <class Predicate>
double share_with(const Operator& op, const char* tensor, ValueKind kind, Predicate predicate) {
    const Problem problem = Problem::parse(op.space, "in=5x5");
    constexpr int draws = 8000;
    int having = 0;
    for (std::uint64_t seed = 0; seed < draws; ++seed)
        having += predicate(draw_tensor(op, problem, {.seed = seed}, kind, 24, tensor).data);
    return static_cast<double>(having) / draws;
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
    const auto share = [](const char* op_name, const char* tensor, ValueKind kind) {
        return share_with(*Registry::instance().find_operator(op_name), tensor, kind, all_tied);
    };
    const double of_draws = share("maxpool", "x", ValueKind::integers);
    CHECK(of_draws > 0.24);
    CHECK(of_draws < 0.26);
    CHECK(share("maxpool", "dy", ValueKind::integers) == 0.0);
    CHECK(share("maxpool", "x", ValueKind::mantissas) == 0.0);
    CHECK(share("avgpool", "x", ValueKind::integers) == 0.0);
}

TEST_CASE("NaN and infinities are drawn in an eighth of the cases, where they are defined") {
    for (const ValueKind kind : {ValueKind::integers, ValueKind::mantissas}) {
        Operator maxpool = *Registry::instance().find_operator("maxpool");
        const double of_draws = share_with(maxpool, "x", kind, has_no_number);
        CHECK(of_draws > 0.118);
        CHECK(of_draws < 0.132);
        const Operator& avgpool = *Registry::instance().find_operator("avgpool");
        CHECK(share_with(avgpool, "x", kind, has_no_number) == 0.0);
        // A cotangent holds none, whatever its output may be.
        maxpool.outputs[0].may_be_nan = true;
        CHECK(share_with(maxpool, "dy", kind, has_no_number) == 0.0);
    }
}

TEST_CASE("dense draws where ties and NaN are defined: four without, two with ties, two with NaN") {
    const Operator& op = *Registry::instance().find_operator("maxpool");
    const Problem problem = Problem::parse(op.space, "c=3,in=3x3");
    const auto drawn = [&](std::uint64_t seed) {
        return draw_tensor(op, problem, {.seed = seed, .is_dense = true}, ValueKind::integers, 24,
                           "x")
            .data;
    };
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
        const auto data = drawn(seed);
        CHECK(std::set(data.begin(), data.end()).size() == data.size());
        CHECK_FALSE(has_no_number(data));
    }
    const auto five = drawn(5), six = drawn(6);
    CHECK(std::set(five.begin(), five.end()) == std::set{-1.0, 0.0, 1.0});
    CHECK(std::set(six.begin(), six.end()) == std::set{0.0});
    CHECK(std::ranges::any_of(drawn(7), [](double v) { return std::isnan(v); }));
    CHECK(std::ranges::count(drawn(8), -INFINITY) > 0);
}

TEST_CASE("explicit data may be NaN where the operator defines what follows, and only there") {
    const auto draw_with = [](const char* op_name, const char* tensor, double value) {
        const Operator& op = *Registry::instance().find_operator(op_name);
        const Data data{.is_explicit = true, .elements = {{tensor, 0, value}}};
        return draw_values(op, Problem::parse(op.space, "in=1x1"), data, ValueKind::integers, 24);
    };
    CHECK(std::isnan(draw_with("maxpool", "x", NAN)["x"].data[0]));
    CHECK(draw_with("maxpool", "x", -INFINITY)["x"].data[0] == -INFINITY);
    CHECK_THROWS_WITH(draw_with("maxpool", "dy", NAN),
                      "data: dy[0] is outside of the tensor's values");
    CHECK_THROWS_WITH(draw_with("avgpool", "x", NAN),
                      "data: x[0] is outside of the tensor's values");
    CHECK_THROWS_WITH(draw_with("maxpool", "x", 1e300), "data: x[0] is beyond the largest f32");
}

TEST_CASE("where nothing is a sum of products some numbers dwarf their neighbours, now and then") {
    const Operator& softmax = *Registry::instance().find_operator("softmax_cross_entropy");
    const Problem problem = Problem::parse(softmax.space, "n=4,v=8");
    const auto far_apart = [&](const Data& data) {
        const auto logits =
            draw_tensor(softmax, problem, data, ValueKind::mantissas, 24, "logits").data;
        const auto [least, most] = std::ranges::minmax(logits);
        CHECK(most - least < 0x1p27);
        return most - least > 104.0;  // exp(-104) is zero in a float
    };
    int random = 0;
    for (std::uint64_t seed = 0; seed < 800; ++seed) random += far_apart({.seed = seed});
    CHECK(random > 50);
    CHECK(random < 150);
    CHECK(far_apart({.seed = 2, .is_dense = true}));
    CHECK_FALSE(far_apart({.seed = 1, .is_dense = true}));
}

TEST_CASE("where nothing is a sum of products zeros, constant rows and large numbers are drawn") {
    const auto share = [](const char* op_name, const char* tensor, auto predicate) {
        const Operator& op = *Registry::instance().find_operator(op_name);
        const Problem problem = Problem::parse(op.space, "rows=4,width=5");
        constexpr int draws = 4000;
        int having = 0;
        for (std::uint64_t seed = 0; seed < draws; ++seed)
            having += predicate(
                draw_tensor(op, problem, {.seed = seed}, ValueKind::mantissas, 24, tensor).data);
        return static_cast<double>(having) / draws;
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
    // Half of a sixth, where there is neither an offset nor an outlier; of these a quarter is
    // large.
    CHECK(share("layer_norm", "x", some_zero) > 0.015);
    CHECK(share("layer_norm", "x", some_zero) < 0.035);
    CHECK(share("layer_norm", "x", has_constant_rows) > 0.01);
    CHECK(share("layer_norm", "x", has_equal_rows) > 0.004);
    CHECK(share("layer_norm", "x", is_large) > 0.01);
    CHECK(share("layer_norm", "gamma", all_zero) > 0.004);
    CHECK(share("layer_norm", "dy", all_zero) > 0.004);
}

TEST_CASE("numbers that are made large keep their ratios, and stay numbers of a narrow type") {
    for (std::uint64_t seed = 0; seed < 200; ++seed)
        for (const DType dtype : {DType::f32, DType::f16, DType::f8e4m3, DType::f8e5m2}) {
            // A tensor's numbers are at most 2, rounded to 8 bits.
            Array<double> array{{2}, {2.0, -1.0}};
            make_large(array, SplitMix64(seed), dtype);
            CHECK(array.data[0] == -2.0 * array.data[1]);
            CHECK(array.data[0] >= (dtype == DType::f32 ? 0x1p17 : 0x1p3));
            CHECK(array.data[0] <= traits_of(dtype).largest);
        }
}

TEST_CASE("indices outside of their range are drawn where operator and kernel allow for them") {
    const Operator& softmax = *Registry::instance().find_operator("softmax_cross_entropy");
    const Problem problem = Problem::parse(softmax.space, "n=4,v=3");
    const TensorSpec& labels = softmax.tensor_named("labels");
    const KernelDeclaration plain, checks = KernelDeclaration().with_invalid_indices();
    std::set<double> outside;
    const auto has_invalid = [&](const KernelDeclaration& kernel, const Data& data) {
        const auto drawn = draw_tensor(softmax, problem, data, ValueKind::mantissas,
                                       ElementTypes(kernel), "labels");
        bool is_valid = true;
        for (const double label : drawn.data)
            if (!labels.admits(label, problem)) is_valid = false, outside.insert(label);
        return !is_valid;
    };
    int with = 0;
    for (std::uint64_t seed = 0; seed < 8000; ++seed) {
        CHECK_FALSE(has_invalid(plain, {.seed = seed}));
        with += has_invalid(checks, {.seed = seed});
    }
    CHECK(with > 940);
    CHECK(with < 1060);
    CHECK(outside == std::set<double>{-0x1p31, -1.0, 3.0, 0x1p31 - 1.0});
    CHECK(has_invalid(checks, {.seed = 3, .is_dense = true}));
    CHECK_FALSE(has_invalid(checks, {.seed = 1, .is_dense = true}));
    const auto listed = [&](const KernelDeclaration& kernel, double label = -7.0) {
        const Data data{.seed = 0, .is_explicit = true, .elements = {{"labels", 1, label}}};
        return draw_values(softmax, problem, data, ValueKind::mantissas, ElementTypes(kernel))
            .at("labels")
            .data;
    };
    CHECK(listed(checks) == std::vector<double>{0.0, -7.0, 0.0, 0.0});
    const char* const refusal = "data: labels[1] is outside of the tensor's values";
    CHECK_THROWS_WITH_AS(listed(plain), refusal, std::invalid_argument);
    CHECK_THROWS_WITH_AS(listed(checks, -7.5), refusal, std::invalid_argument);
}

}  // namespace gradverify
