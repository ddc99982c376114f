// SPDX-License-Identifier: Apache-2.0
// The conversions of PTX (PTX ISA, 9.7.9.21 cvt and 9.7.9.22 cvt.pack): between any two types, with
// every rounding. Each value is exact in a long double, or is an integer.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/ptx/floats.hpp"

namespace gradverify::simt::ptx {

template <class T>
constexpr bool is_eight_bit_pair = std::is_same_v<T, e4m3x2> || std::is_same_v<T, e5m2x2>;
template <class T>
using EightBits = std::conditional_t<std::is_same_v<T, e4m3x2>, unit::E4m3Format, unit::E5m2Format>;

/// To an integer in a floating-point type.
template <Modifiers m, class F>
inline F to_integral(F x) {
    if constexpr (has(m, m_rni))
        return std::nearbyint(x);
    else if constexpr (has(m, m_rmi))
        return std::floor(x);
    else if constexpr (has(m, m_rpi))
        return std::ceil(x);
    else if constexpr (has(m, m_rzi))
        return std::trunc(x);
    else
        return x;
}

/// Out of range it saturates; a NaN is 0, or the top bit where one of the types has 64 bits.
template <class D, class S, class F>
inline Bits<D> to_integer(F x) {
    using Limits = std::numeric_limits<Value<D>>;
    if (x != x) {
        const bool has_64_bits = std::is_same_v<S, f64> || width<D> == 64;
        return has_64_bits ? static_cast<Bits<D>>(Bits<D>{1} << (width<D> - 1)) : Bits<D>{0};
    }
    if (x >= static_cast<F>(Limits::max())) return static_cast<Bits<D>>(Limits::max());
    if (x <= static_cast<F>(Limits::min())) return static_cast<Bits<D>>(Limits::min());
    return static_cast<Bits<D>>(static_cast<Value<D>>(x));
}

/// `nearest` is `exact` rounded to nearest.
template <class F, class Exact>
inline F directed_from(F nearest, Exact exact, Rounding rounding) {
    const auto back = static_cast<long double>(nearest), of = static_cast<long double>(exact);
    const bool down = rounding == Rounding::down || (rounding == Rounding::toward_zero && of > 0);
    const bool up = rounding == Rounding::up || (rounding == Rounding::toward_zero && of < 0);
    if (down && back > of) return std::nextafter(nearest, -std::numeric_limits<F>::infinity());
    if (up && back < of) return std::nextafter(nearest, std::numeric_limits<F>::infinity());
    return nearest;
}
/// A float that rounds to any narrower format as `exact` does.
template <class Exact>
inline float to_odd(Exact exact) {
    if constexpr (std::is_same_v<Exact, float>) return exact;
    if constexpr (std::is_same_v<Exact, double>) return unit::to_odd_float(exact);
    const auto cut = directed_from(static_cast<float>(exact), exact, Rounding::toward_zero);
    const bool is_exact = static_cast<long double>(cut) == static_cast<long double>(exact);
    return is_exact ? cut : unit::bit_cast<float>(unit::bit_cast<std::uint32_t>(cut) | 1u);
}

/// .satfinite of a half: the largest number in place of an infinity.
template <class T, Modifiers m>
inline std::uint16_t narrow(float x) {
    if constexpr (has(m, m_sat)) x = x > 0 ? (x < 1 ? x : 1) : 0;
    if constexpr (has(m, m_relu)) x = x > 0 || x != x ? x : 0;
    const std::uint16_t bits = Format<T>::from_float(x, rounding_of<m>());
    constexpr std::uint16_t infinity = std::is_same_v<T, f16> ? 0x7c00 : 0x7f80;
    if (has(m, m_satfinite) && (bits & 0x7fffu) == infinity)
        return static_cast<std::uint16_t>(bits - 1);
    return bits;
}

/// 11 digits: .rna away from zero at ties, .rn to even, .rz cuts.
template <Modifiers m>
inline std::uint32_t to_tf32(std::uint32_t bits) {
    const float x = unit::bit_cast<float>(bits);
    if (x != x) return 0x7fffffffu;
    if (has(m, m_relu) && (bits >> 31 != 0)) return 0;
    if (std::isinf(x)) return has(m, m_satfinite) ? (bits & 0x80000000u) | 0x7f7fe000u : bits;
    if (has(m, m_rna)) bits += 0x1000u;
    if (has(m, m_rn)) bits += 0xfffu + (bits >> 13 & 1u);
    bits &= 0xffffe000u;
    const bool overflows = has(m, m_satfinite) && (bits & 0x7fffffffu) == 0x7f800000u;
    return overflows ? (bits & 0x80000000u) | 0x7f7fe000u : bits;
}

template <class D, Modifiers m>
inline std::uint8_t to_eight_bits(float x) {
    if (has(m, m_relu) && !(x > 0) && x == x) x = 0;
    return EightBits<D>::from_float(x, has(m, m_satfinite));
}

template <class D, class S, Modifiers m>
inline Bits<D> from_value(auto x) {
    using X = decltype(x);
    if constexpr (is_integer<D>) {
        return to_integer<D, S>(to_integral<m>(x));
    } else if constexpr (is_narrow_float<D>) {
        if constexpr (!std::is_integral_v<X>) x = to_integral<m>(x);
        return narrow<D, m>(to_odd(x));
    } else {
        using F = Value<D>;
        if constexpr (!std::is_integral_v<X>) x = to_integral<m>(x);
        if constexpr (is_directed<m>)
            return result<D, m>(directed_from(static_cast<F>(x), x, rounding_of<m>()));
        else
            return result<D, m>(static_cast<F>(x));
    }
}

template <class D, class S, Modifiers m = 0>
inline Bits<D> cvt_(Bits<S> a) {
    if constexpr (std::is_same_v<D, tf32>) {
        return to_tf32<m>(a);
    } else if constexpr (is_eight_bit_pair<S>) {
        const auto element = [](std::uint16_t byte) {
            const float x = EightBits<S>::to_float(static_cast<std::uint8_t>(byte));
            return narrow<f16, m>(x);
        };
        return element(a & 0xffu) | std::uint32_t{element(static_cast<std::uint16_t>(a >> 8))}
                                        << 16;
    } else if constexpr (is_eight_bit_pair<D>) {
        const auto element = [](std::uint32_t half) {
            return to_eight_bits<D, m>(value<Element<S>, 0>(static_cast<std::uint16_t>(half)));
        };
        return static_cast<std::uint16_t>(element(a) | element(a >> 16) << 8);
    } else if constexpr (is_integer<S> && is_integer<D>) {
        using Limits = std::numeric_limits<Value<D>>;
        const auto x = static_cast<__int128>(as<S>(a));
        if (has(m, m_sat) && x > __int128{Limits::max()})
            return static_cast<Bits<D>>(Limits::max());
        if (has(m, m_sat) && x < __int128{Limits::min()})
            return static_cast<Bits<D>>(Limits::min());
        return static_cast<Bits<D>>(as<S>(a));
    } else if constexpr (is_integer<S>) {
        return from_value<D, S, m>(as<S>(a));
    } else if constexpr (std::is_same_v<D, S> && is_narrow_float<D> && !has(m, ~m_rn)) {
        return a;
    } else {
        constexpr Modifiers of_source = std::is_same_v<S, f32> ? m : 0;  // .ftz is of f32 alone
        return from_value<D, S, m>(value<S, of_source>(a));
    }
}
/// Two numbers into a packed type, the first one into its upper half.
template <class D, class S, Modifiers m = 0>
inline Bits<D> cvt_(Bits<S> a, Bits<S> b) {
    if constexpr (is_eight_bit_pair<D>)
        return static_cast<std::uint16_t>(to_eight_bits<D, m>(value<S, m>(b)) |
                                          to_eight_bits<D, m>(value<S, m>(a)) << 8);
    else
        return static_cast<Bits<D>>(narrow<Element<D>, m>(value<S, m>(b)) |
                                    std::uint32_t{narrow<Element<D>, m>(value<S, m>(a))} << 16);
}
/// cvt.pack: a and b saturated into the lower half, and c moved up (or into its place).
template <class D, class S, Modifiers = 0>
inline std::uint32_t cvt_pack_(std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
    const std::uint32_t low = cvt_<D, S, m_sat>(b), high = cvt_<D, S, m_sat>(a);
    const std::uint32_t both = low | high << width<D>;
    return width<D> == 16 ? both : both | c << 16;
}

}  // namespace gradverify::simt::ptx
