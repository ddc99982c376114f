// SPDX-License-Identifier: Apache-2.0
// A product of matrices by a warp, as tensor cores form it: exact products, summed in float in
// order; an accumulator of half is rounded once. Operands of tf32 lose their lower 13 bits.
#include "harness/simt/execute/warp.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gradverify_simt/narrow_float.hpp"
#include "gradverify_simt/state.hpp"

namespace gradverify::simt {
namespace {

using unit::WarpProduct;
using Element = WarpProduct::Element;
using Lanes = std::array<const WarpProduct*, 32>;

/// Constants, as kernels on tensor cores spend their time here.
template <int of_rows, int of_columns, int of_depth>
struct Shape {
    static constexpr int rows = of_rows, columns = of_columns, depth = of_depth;
    static constexpr int a = rows * depth, b = depth * columns, sum = rows * columns;
};

template <int elements, class From, class To, class Convert>
void gather(const Lanes& lanes, const void* WarpProduct::* matrix, To* to, Convert convert) {
    constexpr int own = elements / 32;
    for (const WarpProduct* lane : lanes) {
        const auto* from = static_cast<const From*>(lane->*matrix);
        for (int i = 0; i < own; ++i) *to++ = convert(from[i]);
    }
}

float truncated_to_tf32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    // A NaN could become infinite.
    return value != value ? value : std::bit_cast<float>(bits & 0xffffe000u);
}

// Lambdas, as each has a type of its own, so that the compiler inlines it.
constexpr auto same = [](auto value) { return value; };
constexpr auto from_half = [](std::uint16_t bits) { return unit::HalfFormat::to_float(bits); };
constexpr auto from_bfloat16 = [](std::uint16_t bits) {
    return unit::Bfloat16Format::to_float(bits);
};
constexpr auto to_tf32 = [](float value) { return truncated_to_tf32(value); };

template <int elements, class T>
void gather_factors(const Lanes& lanes, const void* WarpProduct::* matrix, T* to) {
    const Element element = lanes[0]->element;
    if constexpr (std::is_same_v<T, double>)
        return gather<elements, double>(lanes, matrix, to, same);
    if (element == Element::half)
        return gather<elements, std::uint16_t>(lanes, matrix, to, from_half);
    if (element == Element::bfloat16)
        return gather<elements, std::uint16_t>(lanes, matrix, to, from_bfloat16);
    gather<elements, float>(lanes, matrix, to, to_tf32);
}

/// Four vectors of a row of the sum stay in registers over the depth; compilers keep a plain row in
/// memory (g++ 12, clang 14: two to three times slower).
template <class S, class T>
void add_product(const T* a, const T* b, T* sum) {
    using Vector [[gnu::vector_size(16)]] = T;
    constexpr int width = 16 / static_cast<int>(sizeof(T));
    constexpr int part = std::min(S::columns, 4 * width), vectors = part / width;
    for (int i = 0; i < S::rows; ++i)
        for (int j = 0; j < S::columns; j += part) {
            Vector row[vectors];
            std::memcpy(row, sum + i * S::columns + j, sizeof row);
            for (int k = 0; k < S::depth; ++k) {
                const T factor = a[i * S::depth + k];
                Vector other[vectors];
                std::memcpy(other, b + k * S::columns + j, sizeof other);
#pragma GCC unroll 4
                for (int v = 0; v < vectors; ++v) row[v] += factor * other[v];
            }
            std::memcpy(sum + i * S::columns + j, row, sizeof row);
        }
}

template <class S, class T = float>
void multiply_as(const Lanes& lanes) {
    const WarpProduct& of = *lanes[0];
    constexpr int own = S::sum / 32;
    std::array<T, S::a> a;
    std::array<T, S::b> b;
    std::array<T, S::sum> sum;
    gather_factors<S::a>(lanes, &WarpProduct::a, a.data());
    gather_factors<S::b>(lanes, &WarpProduct::b, b.data());
    if (of.has_half_c)
        gather<S::sum, std::uint16_t>(lanes, &WarpProduct::c, sum.data(), from_half);
    else
        gather<S::sum, T>(lanes, &WarpProduct::c, sum.data(), same);
    add_product<S>(a.data(), b.data(), sum.data());
    const T* from = sum.data();
    for (const WarpProduct* lane : lanes) {
        if (of.has_half_sum)
            std::transform(from, from + own, static_cast<std::uint16_t*>(lane->sum), [](T value) {
                return unit::HalfFormat::from_float(static_cast<float>(value));
            });
        else
            std::copy_n(from, own, static_cast<T*>(lane->sum));
        from += own;
    }
}

void multiply_of_shape(const Lanes& lanes) {
    const WarpProduct& of = *lanes[0];
    if (of.element == Element::float64) return multiply_as<Shape<8, 8, 4>, double>(lanes);
    if (of.element == Element::tf32) return multiply_as<Shape<16, 16, 8>>(lanes);
    if (of.rows == 16) return multiply_as<Shape<16, 16, 16>>(lanes);
    if (of.rows == 32) return multiply_as<Shape<32, 8, 16>>(lanes);
    multiply_as<Shape<8, 32, 16>>(lanes);
}

bool are_alike(const WarpProduct& a, const WarpProduct& b) {
    return a.rows == b.rows && a.columns == b.columns && a.depth == b.depth &&
           a.element == b.element && a.has_half_c == b.has_half_c &&
           a.has_half_sum == b.has_half_sum;
}

}  // namespace

bool multiply(const std::array<std::uint64_t, 32>& products) {
    Lanes lanes;
    std::ranges::transform(products, lanes.begin(), [](std::uint64_t address) {
        return reinterpret_cast<const WarpProduct*>(address);  // NOLINT(performance-no-int-to-ptr)
    });
    if (!std::ranges::all_of(lanes,
                             [&](const WarpProduct* one) { return are_alike(*one, *lanes[0]); }))
        return false;
    multiply_of_shape(lanes);
    return true;
}

}  // namespace gradverify::simt
