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

/// The share of cases of which a tensor has an element of this kind.
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

namespace {

/// So many elements of one value, once `fill` has filled them.
template <class Fill>
std::vector<double> filled(std::size_t count, double value, Fill fill) {
    Array<double> array{{static_cast<std::int64_t>(count)}, std::vector<double>(count, value)};
    fill(array);
    return array.data;
}

/// How many elements of a hundred thousand are others than they were.
template <class Fill>
std::ptrdiff_t changed_of_100000(Fill fill) {
    return 100'000 - std::ranges::count(filled(100'000, 7.0, fill), 7.0);
}

}  // namespace

TEST_CASE("ties are zeros of every even seed") {
    for (std::uint64_t seed = 1; seed <= 7; ++seed) {
        const auto data = filled(
            100, 7.0, [&](Array<double>& array) { fill_ties(array, seed, SplitMix64(seed)); });
        CHECK(std::set(data.begin(), data.end()) ==
              (seed % 2 == 0 ? std::set{0.0} : std::set{-1.0, 0.0, 1.0}));
    }
}

TEST_CASE("one NaN at least, or minus infinity of an even seed, and a quarter that is no number") {
    for (std::uint64_t seed = 1; seed <= 7; ++seed) {
        const auto fill = [&](Array<double>& array) { fill_nan(array, seed, SplitMix64(seed)); };
        const double one = filled(1, 7.0, fill).front();
        CHECK(std::isnan(one) == (seed % 2 == 1));
        CHECK((one == -INFINITY) == (seed % 2 == 0));
        CHECK(filled(0, 7.0, fill).empty());
    }
    const auto fill = [](Array<double>& array) { fill_nan(array, 1, SplitMix64(1)); };
    const auto data = filled(100'000, 7.0, fill);
    const auto nans = std::ranges::count_if(data, [](double v) { return std::isnan(v); });
    // A twelfth each: 8333, give or take 88.
    for (const auto count :
         {nans, std::ranges::count(data, INFINITY), std::ranges::count(data, -INFINITY)}) {
        CHECK(count > 7900);
        CHECK(count < 8800);
    }
    CHECK(changed_of_100000(fill) ==
          nans + std::ranges::count(data, INFINITY) + std::ranges::count(data, -INFINITY));
}

TEST_CASE("of invalid indices there is one at least, and a quarter where there are many") {
    const auto put = [](DType dtype, std::uint64_t seed) {
        return
            [=](Array<double>& array) { put_invalid(array, {2.0, 9.0}, dtype, SplitMix64(seed)); };
    };
    std::set<double> of_i32, of_i64;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        of_i32.insert(filled(1, 7.0, put(DType::i32, seed)).front());
        of_i64.insert(filled(1, 7.0, put(DType::i64, seed)).front());
        const auto two = filled(2, 7.0, put(DType::i32, seed));
        CHECK(std::ranges::count(two, 7.0) < 2);
    }
    CHECK(of_i32 == std::set{-0x1p31, 1.0, 10.0, 0x1p31 - 1.0});
    CHECK(of_i64 == std::set{-0x1p53, 1.0, 10.0, 0x1p53});
    CHECK(filled(0, 7.0, put(DType::i32, 1)).empty());
    const auto changed = changed_of_100000(put(DType::i32, 1));
    CHECK(changed > 24'000);
    CHECK(changed < 26'000);
}

TEST_CASE("a quarter of the elements are outliers, up to 256 times as large, in half up to 8") {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
        const auto add = [=](Array<double>& array) { add_outliers(array, SplitMix64(1), dtype); };
        std::set<double> factors;
        for (const double value : filled(10'000, -0.5, add)) factors.insert(value / -0.5);
        std::set<double> expected;
        for (double factor = 1.0; factor <= (dtype == DType::f16 ? 8.0 : 256.0); factor *= 2.0)
            expected.insert(factor);
        CHECK(factors == expected);
        const auto changed = changed_of_100000(add);
        CHECK(changed > 24'000);
        CHECK(changed < 26'000);
    }
}

TEST_CASE("dense outliers are every other element, of either sign, and others in the next turn") {
    const auto turn = [](std::uint64_t which, DType dtype, double value) {
        return filled(6, value,
                      [=](Array<double>& array) { add_dense_outliers(array, which, dtype); });
    };
    using Numbers = std::vector<double>;
    for (const std::uint64_t round : {0, 4}) {
        CHECK(turn(round, DType::f32, 1.0) == Numbers{1, 256, 1, -256, 1, 256});
        CHECK(turn(round + 1, DType::f32, 1.0) == Numbers{256, 1, -256, 1, 256, 1});
        CHECK(turn(round + 2, DType::f32, 1.0) == Numbers{1, -256, 1, 256, 1, -256});
        CHECK(turn(round + 3, DType::f32, 1.0) == Numbers{-256, 1, 256, 1, -256, 1});
    }
    CHECK(turn(0, DType::f16, -0.5) == Numbers{-0.5, 4, -0.5, -4, -0.5, 4});
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

TEST_CASE("what is special in a row stays in it, and what is large keeps its ratios") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Array<double> array{{3, 2}, {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}};
        make_special(array, SplitMix64(seed));
        for (std::size_t i = 0; i < array.data.size(); ++i) {
            const double value = array.data[i];
            CHECK((value == 0.0 || value == static_cast<double>(i + 1) ||
                   value == static_cast<double>(i / 2 * 2 + 1) ||
                   value == static_cast<double>(i % 2 + 1)));
        }
        Array<double> large{{2}, {1.0, -0.5}};
        make_large(large, SplitMix64(seed), seed % 2 == 0 ? DType::f32 : DType::f16);
        CHECK(large.data[0] == -2.0 * large.data[1]);
        CHECK(large.data[0] >= (seed % 2 == 0 ? 0x1p16 : 0x1p2));
        CHECK(large.data[0] <= (seed % 2 == 0 ? 0x1p24 : 0x1p8));
        // What a tensor's numbers are at most, rounded to a type of 8 bits, stays a number.
        for (const DType dtype : {DType::f8e4m3, DType::f8e5m2}) {
            Array<double> narrow{{1}, {2.0}};
            make_large(narrow, SplitMix64(seed), dtype);
            CHECK(narrow.data[0] <= traits_of(dtype).largest);
        }
    }
    Array<double> empty{{0, 0}, {}}, scalar{{}, {3.0}};
    make_special(empty, SplitMix64(1));
    make_special(scalar, SplitMix64(1));
    CHECK(empty.data.empty());
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
