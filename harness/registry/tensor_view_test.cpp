// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/tensor_view.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <stdexcept>
#include <vector>

namespace {

using namespace gradverify;

template <class T>
struct Two {
    T x, y;
};
using Float2 = Two<float>;
using Double2 = Two<double>;
using Long2 = Two<std::int64_t>;
struct Float3 {
    float x, y, z;
};
struct Mixed2 {
    float x;
    double y;
};

constexpr const char* not_in_pairs =
    "the launcher reads a tensor as pairs, but its last axis is not one of two numbers beside each "
    "other, an even number of them from the next two";

/// **Shapes** `3, 5, 2`, row-major.
TensorView view_of(void* data, DType dtype) {
    return {.data = data, .dtype = dtype, .rank = 3, .sizes = {3, 5, 2}, .strides = {10, 2, 1}};
}

}  // namespace

TEST_CASE("a tensor with a last axis of two is read as pairs, by whatever name they have") {
    float numbers[30] = {};
    const TensorView view = view_of(numbers, DType::f32);
    CHECK(view.as_pairs<Float2>() == static_cast<void*>(numbers));
    CHECK(view.as_pairs<const Float2>() == static_cast<void*>(numbers));
    CHECK(view.as_pairs<std::complex<float>>() == static_cast<void*>(numbers));
    numbers[3] = 7.0f;
    CHECK(view.as_pairs<const Float2>()[1].y == 7.0f);
    double doubles[30] = {};
    CHECK(view_of(doubles, DType::f64).as_pairs<Double2>() == static_cast<void*>(doubles));
    CHECK(view_of(doubles, DType::f64).as_pairs<const std::complex<double>>() ==
          static_cast<void*>(doubles));
}

TEST_CASE("pairs may lie in any order, as long as nothing lies between their numbers") {
    float numbers[64] = {};
    TensorView view = view_of(numbers, DType::f32);
    view.strides = {2, 6, 1};
    CHECK(view.as_pairs<Float2>() == static_cast<void*>(numbers));
    view.strides = {0, 12, 1};  // expanded
    CHECK(view.as_pairs<Float2>() == static_cast<void*>(numbers));
    for (const std::array<std::int64_t, max_tensor_rank>& strides :
         {std::array<std::int64_t, max_tensor_rank>{1, 3, 15},
          {15, 3, 1},
          {11, 2, 1},
          {10, 2, 0}}) {
        view.strides = strides;
        CHECK_THROWS_WITH_AS(view.as_pairs<Float2>(), not_in_pairs, std::invalid_argument);
    }
    view = view_of(numbers, DType::f32);
    view.sizes = {3, 5, 3};
    CHECK_THROWS_WITH_AS(view.as_pairs<Float2>(), not_in_pairs, std::invalid_argument);
    view.rank = 2;  // the axis of five
    CHECK_THROWS_WITH_AS(view.as_pairs<Float2>(), not_in_pairs, std::invalid_argument);
    view.rank = 0;
    CHECK_THROWS_WITH_AS(view.as_pairs<Float2>(), not_in_pairs, std::invalid_argument);
}

TEST_CASE("a tensor is not read as another element type, nor as pairs of one") {
    float numbers[30] = {};
    const TensorView floats = view_of(numbers, DType::f32), doubles = view_of(numbers, DType::f64);
    const auto refuses = [](const auto& read, const char* text) {
        CHECK_THROWS_WITH_AS(read(), text, std::invalid_argument);
    };
    refuses([&] { floats.as<double>(); },
            "the launcher reads a tensor of f32 as f64; write as<float>(), or declare "
            ".storage(gradverify::DType::f64)");
    refuses([&] { floats.as<const __half>(); },
            "the launcher reads a tensor of f32 as f16; write as<float>(), or declare "
            ".storage(gradverify::DType::f16)");
    refuses([&] { floats.as<std::int32_t>(); },
            "the launcher reads a tensor of f32 as i32; write as<float>()");
    refuses([&] { floats.as_pairs<const Double2>(); },
            "the launcher reads a tensor of f32 as pairs of f64; name a pair of float, or declare "
            ".storage(gradverify::DType::f64)");
    refuses([&] { doubles.as_pairs<std::complex<float>>(); },
            "the launcher reads a tensor of f64 as pairs of f32; name a pair of double, or declare "
            ".storage(gradverify::DType::f32)");
}

TEST_CASE("what is no pair of two numbers of one type is told from what is one") {
    static_assert(detail::is_pair<Float2>() && detail::is_pair<Long2>());
    static_assert(detail::is_pair<std::complex<double>>());
    static_assert(!detail::is_pair<float>());
    static_assert(!detail::is_pair<Float3>());
    static_assert(!detail::is_pair<Mixed2>());
    static_assert(!detail::is_pair<std::complex<long double>>());
    static_assert(!detail::is_pair<std::vector<float>>());
}
