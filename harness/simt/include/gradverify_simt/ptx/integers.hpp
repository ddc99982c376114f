// SPDX-License-Identifier: Apache-2.0
// Integer, logic and shift instructions of PTX (PTX ISA, 9.7.1, 9.7.2 and 9.7.8).
#pragma once
#pragma GCC system_header

#include "gradverify_simt/intrinsics.hpp"
#include "gradverify_simt/ptx/registers.hpp"

namespace gradverify::simt::ptx {

/// The integer type of twice the width.
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>>;

/// std::make_unsigned knows no integer of 128 bits.
template <class T>
using UnsignedWide = Wide<std::make_unsigned_t<T>>;

template <class T>
inline Value<T> as(Bits<T> bits) {
    return static_cast<Value<T>>(bits);
}
template <class T>
inline Wide<Value<T>> wide(Bits<T> bits) {
    return static_cast<Wide<Value<T>>>(as<T>(bits));
}
/// `value`, or the nearest number of the type where it saturates.
template <class T, Modifiers m>
inline Bits<T> saturated(Wide<Value<T>> value) {
    using Limits = std::numeric_limits<Value<T>>;
    if (has(m, m_sat) && value > Wide<Value<T>>{Limits::max()})
        value = Wide<Value<T>>{Limits::max()};
    if (has(m, m_sat) && value < Wide<Value<T>>{Limits::min()})
        value = Wide<Value<T>>{Limits::min()};
    return static_cast<Bits<T>>(value);
}

template <class T, Modifiers m>
inline Bits<T> add_integers(Bits<T> a, Bits<T> b) {
    return saturated<T, m>(wide<T>(a) + wide<T>(b));
}
template <class T, Modifiers m>
inline Bits<T> subtract_integers(Bits<T> a, Bits<T> b) {
    return saturated<T, m>(wide<T>(a) - wide<T>(b));
}

/// What mul and mad give: the lower half, the upper half, or all.
template <class T, Modifiers m>
using Product =
    std::conditional_t<has(m, m_wide),
                       UnsignedWide<std::conditional_t<width<T> == 64, std::int32_t, Value<T>>>,
                       Bits<T>>;
template <class T, Modifiers m>
inline Product<T, m> multiply_integers(Bits<T> a, Bits<T> b) {
    using W = UnsignedWide<Value<T>>;
    const auto product = static_cast<W>(static_cast<W>(wide<T>(a)) * static_cast<W>(wide<T>(b)));
    if constexpr (has(m, m_hi)) return static_cast<Bits<T>>(product >> width<T>);
    return static_cast<Product<T, m>>(product);
}
/// 9.7.1.4 mad, with its saturating sum for mad.hi.sat.s32.
template <class T, Modifiers m>
inline Product<T, m> multiply_add_integers(Bits<T> a, Bits<T> b, Product<T, m> c) {
    const Product<T, m> product = multiply_integers<T, m>(a, b);
    if constexpr (has(m, m_sat)) return add_integers<T, m_sat>(product, c);
    return static_cast<Product<T, m>>(product + c);
}
/// 9.7.1.5 mul24 and 9.7.1.6 mad24: products of the lower 24 bits.
template <class T, Modifiers m>
inline Bits<T> mul24_(Bits<T> a, Bits<T> b) {
    const auto of = [](Bits<T> x) {
        return static_cast<std::uint64_t>(std::int64_t{static_cast<Value<T>>(x << 8)} >> 8);
    };
    const std::uint64_t product = of(a) * of(b);
    return static_cast<Bits<T>>(has(m, m_hi) ? product >> 16 : product);
}
template <class T, Modifiers m>
inline Bits<T> mad24_(Bits<T> a, Bits<T> b, Bits<T> c) {
    if constexpr (has(m, m_sat)) return add_integers<T, m_sat>(mul24_<T, m>(a, b), c);
    return mul24_<T, m>(a, b) + c;
}

/// 9.7.1.8 div, 9.7.1.9 rem: by zero both are all ones.
template <class T>
inline Bits<T> divide_integers(Bits<T> a, Bits<T> b) {
    if (b == 0) return static_cast<Bits<T>>(~Bits<T>{0});
    return static_cast<Bits<T>>(wide<T>(a) / wide<T>(b));
}
template <class T, Modifiers = 0>
inline Bits<T> rem_(Bits<T> a, Bits<T> b) {
    return static_cast<Bits<T>>(b == 0 ? ~Bits<T>{0} : wide<T>(a) % wide<T>(b));
}
/// 9.7.1.7 sad.
template <class T, Modifiers = 0>
inline Bits<T> sad_(Bits<T> a, Bits<T> b, Bits<T> c) {
    const bool is_less = as<T>(a) < as<T>(b);
    return static_cast<Bits<T>>(c + (is_less ? b - a : a - b));
}

/// 9.7.1.14 popc, 9.7.1.15 clz, 9.7.1.16 bfind, 9.7.1.17 fns, 9.7.1.18 brev.
template <class T, Modifiers = 0>
inline std::uint32_t popc_(Bits<T> a) {
    return static_cast<std::uint32_t>(__builtin_popcountll(a));
}
template <class T, Modifiers = 0>
inline std::uint32_t clz_(Bits<T> a) {
    if (a == 0) return static_cast<std::uint32_t>(width<T>);
    return static_cast<std::uint32_t>(__builtin_clzll(a) - 64 + width<T>);
}
template <class T, Modifiers m>
inline std::uint32_t bfind_(Bits<T> a) {
    if (as<T>(a) < 0) a = static_cast<Bits<T>>(~a);
    if (a == 0) return ~0u;
    const std::uint32_t zeros = clz_<T>(a);
    return has(m, m_shiftamt) ? zeros : static_cast<std::uint32_t>(width<T>) - 1u - zeros;
}
template <class T, Modifiers = 0>
inline std::uint32_t fns_(std::uint32_t mask, std::uint32_t base, std::uint32_t offset) {
    return __fns(mask, base, static_cast<int>(offset));
}
template <class T, Modifiers = 0>
inline Bits<T> brev_(Bits<T> a) {
    return static_cast<Bits<T>>(__brevll(a) >> (64 - width<T>));
}
/// A place or length of bfe and bfi. The ISA leaves more than 8 bits open: hardware drops them for
/// 32-bit types, and keeps them for 64.
template <class T>
unsigned bits_operand(std::uint32_t x) {
    return width<T> == 64 ? std::min(x, 255u) : x & 255u;
}
/// 9.7.1.19 bfe: bits beyond the top are the sign's.
template <class T, Modifiers = 0>
inline Bits<T> bfe_(Bits<T> a, std::uint32_t b, std::uint32_t c) {
    const unsigned position = bits_operand<T>(b), length = bits_operand<T>(c);
    if (length == 0) return 0;
    const unsigned top = std::min(position + length - 1u, static_cast<unsigned>(width<T>) - 1u);
    const bool is_signed = std::is_signed_v<Value<T>>;
    const Bits<T> fill = is_signed && (a >> top & 1u) != 0 ? static_cast<Bits<T>>(~Bits<T>{0}) : 0;
    Bits<T> field = fill;
    for (unsigned i = 0; i < std::min(length, static_cast<unsigned>(width<T>)); ++i) {
        if (position + i >= static_cast<unsigned>(width<T>)) break;
        const Bits<T> bit = Bits<T>{1} << i;
        field = (a >> (position + i) & 1u) != 0 ? field | bit : field & ~bit;
    }
    return field;
}
/// 9.7.1.20 bfi.
template <class T, Modifiers = 0>
inline Bits<T> bfi_(Bits<T> a, Bits<T> b, std::uint32_t c, std::uint32_t d) {
    const unsigned position = bits_operand<T>(c), length = bits_operand<T>(d);
    Bits<T> field = b;
    for (unsigned i = 0; i < length && position + i < static_cast<unsigned>(width<T>); ++i) {
        const Bits<T> bit = Bits<T>{1} << (position + i);
        const bool is_set = i < static_cast<unsigned>(width<T>) && (a >> i & 1u) != 0;
        field = is_set ? field | bit : field & ~bit;
    }
    return field;
}
/// 9.7.1.23 dp4a; the types of a and b need not agree.
template <class A, class B, Modifiers = 0>
inline std::uint32_t dp4a_(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const auto byte = [](auto type, std::uint32_t x, int at) {
        const auto bits = static_cast<std::uint8_t>(x >> at);
        using V = Value<decltype(type)>;
        return std::is_signed_v<V> ? static_cast<std::int8_t>(bits) : static_cast<int>(bits);
    };
    for (int at = 0; at < 32; at += 8)
        c += static_cast<std::uint32_t>(byte(A(), a, at) * byte(B(), b, at));
    return c;
}

/// 9.7.8.1 and, or, xor, cnot, not.
#define GRADVERIFY_SIMT_BITWISE(NAME, PARAMETERS, VALUE) \
    template <class T, Modifiers = 0>                    \
    inline Bits<T> NAME PARAMETERS {                     \
        return static_cast<Bits<T>>(VALUE);              \
    }
GRADVERIFY_SIMT_BITWISE(and_, (Bits<T> a, Bits<T> b), a& b)
GRADVERIFY_SIMT_BITWISE(or_, (Bits<T> a, Bits<T> b), a | b)
GRADVERIFY_SIMT_BITWISE(xor_, (Bits<T> a, Bits<T> b), a ^ b)
GRADVERIFY_SIMT_BITWISE(cnot_, (Bits<T> a), a == 0)
#undef GRADVERIFY_SIMT_BITWISE
template <class T, Modifiers = 0>
inline Bits<T> not_(Bits<T> a) {
    if constexpr (std::is_same_v<T, pred>)
        return !a;
    else
        return static_cast<Bits<T>>(~a);
}
/// 9.7.8.6 lop3: the bit of the table at the index that the three bits make.
template <class T, Modifiers = 0>
inline Bits<T> lop3_(Bits<T> a, Bits<T> b, Bits<T> c, std::uint32_t table) {
    Bits<T> result = 0;
    for (unsigned i = 0; i < 8; ++i) {
        if ((table >> i & 1u) == 0) continue;
        result |= ((i & 4u) != 0 ? a : ~a) & ((i & 2u) != 0 ? b : ~b) & ((i & 1u) != 0 ? c : ~c);
    }
    return result;
}
/// 9.7.8.7 shf: both shift the 64 bits b:a.
template <class T, Modifiers m>
inline std::uint32_t shf_(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t shift = has(m, m_wrap) ? c & 31u : std::min(c, 32u);
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    return static_cast<std::uint32_t>(has(m, m_l) ? both << shift >> 32 : both >> shift);
}
/// 9.7.8.8 shl and 9.7.8.9 shr: an amount beyond the width counts as the width.
template <class T, Modifiers = 0>
inline Bits<T> shl_(Bits<T> a, std::uint32_t b) {
    return b >= static_cast<unsigned>(width<T>) ? 0 : static_cast<Bits<T>>(a << b);
}
template <class T, Modifiers = 0>
inline Bits<T> shr_(Bits<T> a, std::uint32_t b) {
    if (b < static_cast<unsigned>(width<T>)) return static_cast<Bits<T>>(as<T>(a) >> b);
    return as<T>(a) < 0 ? static_cast<Bits<T>>(~Bits<T>{0}) : 0;
}
/// 9.7.9.7 prmt, with its modes.
template <class T, Modifiers m>
inline std::uint32_t prmt_(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const unsigned s = c & 3u;
    const auto select = [&](auto index) {
        std::uint32_t selector = 0;
        for (unsigned i = 0; i < 4; ++i) selector |= (index(i) & 7u) << (4u * i);
        return __byte_perm(a, b, selector);
    };
    if constexpr (has(m, m_f4e)) return select([=](unsigned i) { return s + i; });
    if constexpr (has(m, m_b4e)) return select([=](unsigned i) { return s - i; });
    if constexpr (has(m, m_rc8)) return select([=](unsigned) { return s; });
    if constexpr (has(m, m_ecl)) return select([=](unsigned i) { return std::max(s, i); });
    if constexpr (has(m, m_ecr)) return select([=](unsigned i) { return std::min(s, i); });
    if constexpr (has(m, m_rc16))
        return select([=](unsigned i) { return (s & 1u) * 2u + (i & 1u); });
    return __byte_perm(a, b, c);
}

}  // namespace gradverify::simt::ptx
