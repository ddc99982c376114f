// SPDX-License-Identifier: Apache-2.0
// Operands of tf32 lose their lower 13 bits, which the hardware does not look at; a kernel that
// rounds them first, by __float_to_tf32, loses nothing here. Sums are formed in float, one product
// after the other, and rounded to half once where the accumulator is of half.
#include "harness/simt/src/warp_product.hpp"

#include <algorithm>
#include <bit>

#include "gradverify_simt/narrow_float.hpp"
#include "gradverify_simt/state.hpp"

namespace gradverify::simt {
namespace {

using unit::WarpProduct;
using Element = WarpProduct::Element;
using Lanes = std::array<const WarpProduct*, 32>;
constexpr std::size_t most_elements = 512;  // of a matrix: the first of 32x8x16

template <class To, class From, class Convert>
void gather(const Lanes& lanes, const void* WarpProduct::*matrix, int elements, To* to,
            Convert convert) {
    const int own = elements / 32;
    for (const WarpProduct* lane : lanes) {
        const auto* from = static_cast<const From*>(lane->*matrix);
        for (int i = 0; i < own; ++i) *to++ = convert(from[i]);
    }
}

float truncated_to_tf32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    // Not of NaN, which could become infinite.
    return value != value ? value : std::bit_cast<float>(bits & 0xffffe000u);
}

void gather_floats(const Lanes& lanes, const void* WarpProduct::*matrix, int elements, float* to) {
    switch (lanes[0]->element) {
        case Element::half:
            return gather<float, std::uint16_t>(lanes, matrix, elements, to,
                                                &unit::HalfFormat::to_float);
        case Element::bfloat16:
            return gather<float, std::uint16_t>(lanes, matrix, elements, to,
                                                &unit::Bfloat16Format::to_float);
        default:
            return gather<float, float>(lanes, matrix, elements, to, &truncated_to_tf32);
    }
}

template <class T>
void add_product(const WarpProduct& of, const T* a, const T* b, T* sum) {
    for (int i = 0; i < of.rows; ++i)
        for (int k = 0; k < of.depth; ++k) {
            const T factor = a[i * of.depth + k];
            for (int j = 0; j < of.columns; ++j)
                sum[i * of.columns + j] += factor * b[k * of.columns + j];
        }
}

void multiply_floats(const Lanes& lanes) {
    const WarpProduct& of = *lanes[0];
    const int elements = of.rows * of.columns, own = elements / 32;
    std::array<float, most_elements> a, b, sum;
    gather_floats(lanes, &WarpProduct::a, of.rows * of.depth, a.data());
    gather_floats(lanes, &WarpProduct::b, of.depth * of.columns, b.data());
    const auto as_it_is = [](float value) { return value; };
    if (of.has_half_c)
        gather<float, std::uint16_t>(lanes, &WarpProduct::c, elements, sum.data(),
                                     &unit::HalfFormat::to_float);
    else
        gather<float, float>(lanes, &WarpProduct::c, elements, sum.data(), as_it_is);
    add_product(of, a.data(), b.data(), sum.data());
    const float* from = sum.data();
    for (const WarpProduct* lane : lanes) {
        if (of.has_half_sum)
            std::transform(from, from + own, static_cast<std::uint16_t*>(lane->sum),
                           [](float value) { return unit::HalfFormat::from_float(value); });
        else
            std::copy_n(from, own, static_cast<float*>(lane->sum));
        from += own;
    }
}

void multiply_doubles(const Lanes& lanes) {
    const WarpProduct& of = *lanes[0];
    const int elements = of.rows * of.columns, own = elements / 32;
    std::array<double, most_elements> a, b, sum;
    const auto as_it_is = [](double value) { return value; };
    gather<double, double>(lanes, &WarpProduct::a, of.rows * of.depth, a.data(), as_it_is);
    gather<double, double>(lanes, &WarpProduct::b, of.depth * of.columns, b.data(), as_it_is);
    gather<double, double>(lanes, &WarpProduct::c, elements, sum.data(), as_it_is);
    add_product(of, a.data(), b.data(), sum.data());
    const double* from = sum.data();
    for (const WarpProduct* lane : lanes) {
        std::copy_n(from, own, static_cast<double*>(lane->sum));
        from += own;
    }
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
    if (lanes[0]->element == Element::float64)
        multiply_doubles(lanes);
    else
        multiply_floats(lanes);
    return true;
}

}  // namespace gradverify::simt
