// SPDX-License-Identifier: Apache-2.0
// Arithmetic of PTX by type: floats of 16, 32 and 64 bits and packed pairs, and integers (PTX ISA,
// 9.7.1, 9.7.3 and 9.7.4). A NaN is the one that the GPU makes, except in double.
#pragma once
#pragma GCC system_header

#include <cmath>

#include "gradverify_simt/narrow_float.hpp"
#include "gradverify_simt/ptx/integers.hpp"
#include "gradverify_simt/ptx/registers.hpp"

namespace gradverify::simt::ptx {

using unit::Rounding;
enum class Operation { add, multiply, divide, root, fused };
extern "C" {
/// a + b, a b, a / b, the root of a, or a b + c, rounded as asked.
float gradverify_simt_rounded_float(Operation operation, Rounding rounding, float a, float b,
                                    float c);
double gradverify_simt_rounded_double(Operation operation, Rounding rounding, double a, double b,
                                      double c);
}

template <Modifiers m>
constexpr Rounding rounding_of() {
    if (has(m, m_rz)) return Rounding::toward_zero;
    if (has(m, m_rm)) return Rounding::down;
    return has(m, m_rp) ? Rounding::up : Rounding::nearest;
}

/// The format of a 16-bit float, and its number without what .ftz drops.
template <class T>
using Format = std::conditional_t<std::is_same_v<T, f16>, unit::HalfFormat, unit::Bfloat16Format>;
template <class T, Modifiers m>
inline std::uint16_t normal_or_zero(std::uint16_t bits) {
    constexpr unsigned exponent = std::is_same_v<T, f16> ? 0x7c00u : 0x7f80u;
    return has(m, m_ftz) && (bits & exponent) == 0 ? bits & 0x8000u : bits;
}

/// What an operand is worth, with a subnormal number as zero under .ftz.
template <class T, Modifiers m>
inline auto value(Bits<T> bits) {
    if constexpr (std::is_same_v<T, f64>) {
        return unit::bit_cast<double>(bits);
    } else if constexpr (std::is_same_v<T, f32>) {
        if (has(m, m_ftz) && (bits & 0x7f800000u) == 0) bits &= 0x80000000u;
        return unit::bit_cast<float>(bits);
    } else {
        return Format<T>::to_float(normal_or_zero<T, m>(bits));
    }
}

/// A result's bits: flushed under .ftz, within [0, 1] under .sat, not negative under .relu.
template <class T, Modifiers m>
inline Bits<T> result(std::conditional_t<std::is_same_v<T, f64>, double, float> x) {
    if constexpr (has(m, m_sat)) x = x > 0 ? (x < 1 ? x : 1) : 0;
    if constexpr (has(m, m_relu)) x = x > 0 || x != x ? x : 0;
    if constexpr (std::is_same_v<T, f64>) {
        return unit::bit_cast<std::uint64_t>(x);
    } else if constexpr (std::is_same_v<T, f32>) {
        if (x != x) return 0x7fffffffu;
        return unit::bit_cast<std::uint32_t>(value<f32, m>(unit::bit_cast<std::uint32_t>(x)));
    } else {
        return normal_or_zero<T, m>(Format<T>::from_float(x));
    }
}

/// Both elements of a packed type.
template <class T, class F, class... Packed>
inline Bits<T> each(F function, Packed... packed) {
    const auto low = function(static_cast<std::uint16_t>(packed)...);
    const auto high = function(static_cast<std::uint16_t>(packed >> 16)...);
    return static_cast<Bits<T>>(low | static_cast<std::uint32_t>(high) << 16);
}

template <class T, Modifiers m>
inline Bits<T> rounded(Operation operation, Bits<T> a, Bits<T> b, Bits<T> c = 0) {
    const auto x = value<T, m>(a), y = value<T, m>(b), z = value<T, m>(c);
    constexpr Rounding rounding = rounding_of<m>();
    if constexpr (std::is_same_v<T, f64>)
        return result<T, m>(gradverify_simt_rounded_double(operation, rounding, x, y, z));
    else
        return result<T, m>(gradverify_simt_rounded_float(operation, rounding, x, y, z));
}
template <Modifiers m>
constexpr bool is_directed = has(m, m_rz | m_rm | m_rp);

/// 9.7.1.1, 9.7.3.3, 9.7.4.1 add, and sub and mul likewise.
template <class T, Modifiers m = 0>
inline Bits<T> add_(Bits<T> a, Bits<T> b) {
    if constexpr (is_integer<T>)
        return add_integers<T, m>(a, b);
    else if constexpr (is_pair<T>)
        return each<T>(add_<Element<T>, m>, a, b);
    else if constexpr (is_directed<m>)
        return rounded<T, m>(Operation::add, a, b);
    else
        return result<T, m>(value<T, m>(a) + value<T, m>(b));
}
template <class T, Modifiers m = 0>
inline Bits<T> neg_(Bits<T> a);
template <class T, Modifiers m = 0>
inline Bits<T> sub_(Bits<T> a, Bits<T> b) {
    if constexpr (is_integer<T>)
        return subtract_integers<T, m>(a, b);
    else if constexpr (is_pair<T>)
        return each<T>(sub_<Element<T>, m>, a, b);
    else
        return add_<T, m>(a, static_cast<Bits<T>>(b ^ (Bits<T>{1} << (width<T> - 1))));
}
/// What .ftz does before a result is rounded: by its exact value, if that is below 2^-126.
template <class T, Modifiers m>
inline bool is_flushed(double exact) {
    return std::is_same_v<T, f32> && has(m, m_ftz) && std::fabs(exact) < 0x1p-126;
}
template <class T, Modifiers m = 0>
inline auto mul_(Bits<T> a, Bits<T> b) {
    if constexpr (is_integer<T>)
        return multiply_integers<T, m>(a, b);
    else if constexpr (is_pair<T>)
        return each<T>(mul_<Element<T>, m>, a, b);
    else if (const double exact = double{value<T, m>(a)} * double{value<T, m>(b)};
             is_flushed<T, m>(exact))
        return result<T, m>(std::signbit(exact) ? -0.0f : 0.0f);
    else if constexpr (is_directed<m>)
        return rounded<T, m>(Operation::multiply, a, b);
    else
        return result<T, m>(value<T, m>(a) * value<T, m>(b));
}
/// 9.7.3.6, 9.7.4.4 fma: one rounding; .relu of halves.
template <class T, Modifiers m = 0>
inline Bits<T> fma_(Bits<T> a, Bits<T> b, Bits<T> c) {
    if constexpr (is_pair<T>)
        return each<T>(fma_<Element<T>, m>, a, b, c);
    else if constexpr (is_narrow_float<T>)
        return result<T, m>(unit::fused_to_odd(value<T, m>(a), value<T, m>(b), value<T, m>(c)));
    else if (const double exact =
                 std::fma(double{value<T, m>(a)}, double{value<T, m>(b)}, double{value<T, m>(c)});
             is_flushed<T, m>(exact))
        return result<T, m>(std::signbit(exact) ? -0.0f : 0.0f);
    else if constexpr (is_directed<m>)
        return rounded<T, m>(Operation::fused, a, b, c);
    else
        return result<T, m>(std::fma(value<T, m>(a), value<T, m>(b), value<T, m>(c)));
}
/// 9.7.1.4, 9.7.3.7 mad: of floats it is fma.
template <class T, Modifiers m = 0>
inline auto mad_(Bits<T> a, Bits<T> b,
                 Product<std::conditional_t<is_integer<T>, T, u32>, is_integer<T> ? m : 0> c)
requires(is_integer<T>)
{
    return multiply_add_integers<T, m>(a, b, c);
}
template <class T, Modifiers m = 0>
inline Bits<T> mad_(Bits<T> a, Bits<T> b, Bits<T> c)
requires(!is_integer<T>)
{
    return fma_<T, m>(a, b, c);
}
/// 9.7.1.8, 9.7.3.8 div; .approx, within its range, and .full give the nearest quotient here.
template <class T, Modifiers m = 0>
inline Bits<T> div_(Bits<T> a, Bits<T> b) {
    if constexpr (is_integer<T>)
        return divide_integers<T>(a, b);
    else if constexpr (has(m, m_approx))
        return result<T, m>(__fdividef(value<T, m>(a), value<T, m>(b)));
    else if constexpr (is_directed<m>)
        return rounded<T, m>(Operation::divide, a, b);
    else
        return result<T, m>(value<T, m>(a) / value<T, m>(b));
}

/// 9.7.1.10, 9.7.3.9, 9.7.4.6 abs and neg: of floats the sign bit alone, flushed under .ftz.
template <class T, Modifiers m = 0>
inline Bits<T> abs_(Bits<T> a) {
    if constexpr (is_integer<T>)
        return as<T>(a) < 0 ? static_cast<Bits<T>>(Bits<T>{0} - a) : a;
    else if constexpr (is_pair<T>)
        return each<T>(abs_<Element<T>, m>, a);
    else if constexpr (is_narrow_float<T> || std::is_same_v<T, f64>)
        return static_cast<Bits<T>>(a & static_cast<Bits<T>>(~Bits<T>{0}) >> 1);
    else
        return result<T, m>(std::fabs(value<T, m>(a)));
}
template <class T, Modifiers m>
inline Bits<T> neg_(Bits<T> a) {
    if constexpr (is_integer<T>)
        return static_cast<Bits<T>>(Bits<T>{0} - a);
    else if constexpr (is_pair<T>)
        return each<T>(neg_<Element<T>, m>, a);
    else if constexpr (is_narrow_float<T> || std::is_same_v<T, f64>)
        return static_cast<Bits<T>>(a ^ Bits<T>{1} << (width<T> - 1));
    else
        return result<T, m>(-value<T, m>(a));
}
/// 9.7.3.2 copysign: the sign of a and the size of b.
template <class T, Modifiers m = 0>
inline Bits<T> copysign_(Bits<T> a, Bits<T> b) {
    constexpr Bits<T> sign = Bits<T>{1} << (width<T> - 1);
    return (a & sign) | (b & ~sign);
}

/// 9.7.1.12, 9.7.3.11, 9.7.4.8 min and max: the number of a number and a NaN, unless .NaN; -0 is
/// less than +0. .xorsign.abs compares sizes, and gives the product of the signs.
template <class T, Modifiers m, bool larger>
inline Bits<T> extreme(Bits<T> a, Bits<T> b) {
    if constexpr (is_integer<T>) {
        const bool first = larger ? as<T>(a) > as<T>(b) : as<T>(a) < as<T>(b);
        const Bits<T> taken = first ? a : b;
        return has(m, m_relu) && as<T>(taken) < 0 ? Bits<T>{0} : taken;
    } else if constexpr (is_pair<T>) {
        return each<T>(extreme<Element<T>, m, larger>, a, b);
    } else {
        constexpr Bits<T> sign = static_cast<Bits<T>>(Bits<T>{1} << (width<T> - 1));
        if constexpr (has(m, m_xorsign)) {
            const auto size = static_cast<Bits<T>>(~sign);
            const Bits<T> taken = extreme < T, m & ~m_xorsign, larger > (a & size, b & size);
            return taken > (result<T, 0>(INFINITY))
                       ? taken
                       : static_cast<Bits<T>>(taken | ((a ^ b) & sign));
        }
        const auto x = value<T, m>(a), y = value<T, m>(b);
        const auto nan = x + y;
        if ((x != x && y != y) || (has(m, m_NaN) && (x != x || y != y))) return result<T, 0>(nan);
        if (x != x) return result<T, m>(y);
        if (y != y) return result<T, m>(x);
        const bool first = x == y ? ((a & sign) == 0) == larger : (x > y) == larger;
        return result<T, m>(first ? x : y);
    }
}
template <class T, Modifiers m = 0>
inline Bits<T> min_(Bits<T> a, Bits<T> b) {
    return extreme<T, m, false>(a, b);
}
template <class T, Modifiers m = 0>
inline Bits<T> max_(Bits<T> a, Bits<T> b) {
    return extreme<T, m, true>(a, b);
}

/// A function of floats, of which a GPU has an approximation only: here it is the nearest float.
template <class T, Modifiers m, class F>
inline Bits<T> approximate(Bits<T> a, F function) {
    if constexpr (is_pair<T>)
        return each<T>([&](std::uint16_t x) { return approximate<Element<T>, m>(x, function); }, a);
    else if constexpr (std::is_same_v<T, f64>)
        return result<T, m>(function(value<T, m>(a)));
    else
        return result<T, m>(static_cast<float>(function(double{value<T, m>(a)})));
}
/// 9.7.3.13 rcp and 9.7.3.15 sqrt, rounded as asked, and their approximations.
template <class T, Modifiers m = 0>
inline Bits<T> rcp_(Bits<T> a) {
    if constexpr (is_directed<m>) return rounded<T, m>(Operation::divide, result<T, 0>(1), a);
    return result<T, m>(1 / value<T, m>(a));
}
template <class T, Modifiers m = 0>
inline Bits<T> sqrt_(Bits<T> a) {
    if constexpr (is_directed<m>) return rounded<T, m>(Operation::root, a, a);
    return result<T, m>(std::sqrt(value<T, m>(a)));
}
/// 9.7.3.17 rsqrt, 9.7.3.19 sin, cos, lg2, ex2, tanh; 9.7.4.9 tanh and 9.7.4.10 ex2 of halves.
#define GRADVERIFY_SIMT_APPROXIMATION(NAME, VALUE)                   \
    template <class T, Modifiers m = 0>                              \
    inline Bits<T> NAME(Bits<T> a) {                                 \
        return approximate<T, m>(a, [](double x) { return VALUE; }); \
    }
GRADVERIFY_SIMT_APPROXIMATION(rsqrt_, 1 / std::sqrt(x))
GRADVERIFY_SIMT_APPROXIMATION(sin_, std::sin(x))
GRADVERIFY_SIMT_APPROXIMATION(cos_, std::cos(x))
GRADVERIFY_SIMT_APPROXIMATION(lg2_, std::log2(x))
GRADVERIFY_SIMT_APPROXIMATION(ex2_, std::exp2(x))
GRADVERIFY_SIMT_APPROXIMATION(tanh_, std::tanh(x))
#undef GRADVERIFY_SIMT_APPROXIMATION

/// 9.7.3.1 testp.
template <class T, Modifiers m>
inline bool testp_(Bits<T> a) {
    const auto x = value<T, 0>(a);
    if (has(m, m_finite)) return std::isfinite(x);
    if (has(m, m_infinite)) return std::isinf(x);
    if (has(m, m_number)) return x == x;
    if (has(m, m_notanumber)) return x != x;
    return has(m, m_normal) ? std::isnormal(x) : std::fpclassify(x) == FP_SUBNORMAL;
}

/// 9.7.6.2 setp: the comparison; it is unordered where an operand is a NaN.
template <class T, Modifiers m>
inline bool compare(Bits<T> a, Bits<T> b) {
    const auto decide = [](auto x, auto y) {
        const bool unordered = x != x || y != y;
        if (has(m, m_num)) return !unordered;
        if (has(m, m_nan)) return unordered;
        if (unordered) return has(m, m_equ | m_neu | m_ltu | m_leu | m_gtu | m_geu);
        if (has(m, m_eq | m_equ)) return x == y;
        if (has(m, m_ne | m_neu)) return x != y;
        if (has(m, m_lt | m_ltu | m_lo)) return x < y;
        if (has(m, m_le | m_leu | m_ls)) return x <= y;
        if (has(m, m_gt | m_gtu | m_hi)) return x > y;
        return x >= y;
    };
    if constexpr (is_integer<T>)
        return decide(as<T>(a), as<T>(b));
    else
        return decide(value<T, m>(a), value<T, m>(b));
}
template <Modifiers m>
inline bool combined(bool compared, bool c) {
    if (has(m, m_and)) return compared && c;
    if (has(m, m_or)) return compared || c;
    return has(m, m_xor) ? compared != c : compared;
}
template <class T, Modifiers m>
inline bool setp_(Bits<T> a, Bits<T> b, bool c = true) {
    return combined<m>(compare<T, m>(a, b), c);
}
/// The q of p|q.
template <class T, Modifiers m>
inline bool setp_opposite(Bits<T> a, Bits<T> b, bool c = true) {
    return combined<m>(!compare<T, m>(a, b), c);
}
/// 9.7.6.1 set: all ones, or 1.0.
template <class D, class T, Modifiers m>
inline Bits<D> set_(Bits<T> a, Bits<T> b, bool c = true) {
    if (!setp_<T, m>(a, b, c)) return 0;
    if constexpr (is_integer<D>)
        return static_cast<Bits<D>>(~Bits<D>{0});
    else
        return result<D, 0>(1);
}
/// 9.7.6.3 selp, 9.7.6.4 slct.
template <class T, Modifiers = 0>
inline Bits<T> selp_(Bits<T> a, Bits<T> b, bool c) {
    return c ? a : b;
}
template <class T, class C, Modifiers m = 0>
inline Bits<T> slct_(Bits<T> a, Bits<T> b, Bits<C> c) {
    if constexpr (is_integer<C>)
        return as<C>(c) >= 0 ? a : b;
    else
        return value<C, m>(c) >= 0 ? a : b;
}

}  // namespace gradverify::simt::ptx
