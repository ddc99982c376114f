// SPDX-License-Identifier: Apache-2.0
// Inline PTX in C++: registers are unsigned integers, whose bits an instruction reads as its type
// says. An instruction is a template of its types and modifiers, named as in PTX.
#pragma once
#pragma GCC system_header

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gradverify_simt/language.hpp"

namespace gradverify::simt::ptx {

template <class OfBits, class OfValue>
struct Type {
    using Bits = OfBits;
    using Value = OfValue;
};
struct Half {};
struct Bfloat16 {};
template <class Of>
struct Pair {};
struct Opaque {};

// Types (PTX ISA, 5.2).
struct u8 : Type<std::uint8_t, std::uint8_t> {};
struct u16 : Type<std::uint16_t, std::uint16_t> {};
struct u32 : Type<std::uint32_t, std::uint32_t> {};
struct u64 : Type<std::uint64_t, std::uint64_t> {};
struct s8 : Type<std::uint8_t, std::int8_t> {};
struct s16 : Type<std::uint16_t, std::int16_t> {};
struct s32 : Type<std::uint32_t, std::int32_t> {};
struct s64 : Type<std::uint64_t, std::int64_t> {};
struct b8 : Type<std::uint8_t, std::uint8_t> {};
struct b16 : Type<std::uint16_t, std::uint16_t> {};
struct b32 : Type<std::uint32_t, std::uint32_t> {};
struct b64 : Type<std::uint64_t, std::uint64_t> {};
struct b128 : Type<unsigned __int128, unsigned __int128> {};
struct f32 : Type<std::uint32_t, float> {};
struct f64 : Type<std::uint64_t, double> {};
struct f16 : Type<std::uint16_t, Half> {};
struct bf16 : Type<std::uint16_t, Bfloat16> {};
struct f16x2 : Type<std::uint32_t, Pair<f16>> {};
struct bf16x2 : Type<std::uint32_t, Pair<bf16>> {};
struct tf32 : Type<std::uint32_t, Opaque> {};
struct e4m3x2 : Type<std::uint16_t, Opaque> {};
struct e5m2x2 : Type<std::uint16_t, Opaque> {};
struct pred : Type<bool, bool> {};

template <class T>
using Bits = typename T::Bits;
template <class T>
using Value = typename T::Value;
template <class T>
constexpr bool is_integer = std::is_integral_v<Value<T>>;
template <class T>
constexpr bool is_pair = std::is_same_v<T, f16x2> || std::is_same_v<T, bf16x2>;
template <class T>
constexpr bool is_narrow_float = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;
template <class T>
constexpr int width = static_cast<int>(sizeof(Bits<T>)) * 8;

/// The element of a packed type.
template <class T>
struct ElementOf;
template <>
struct ElementOf<f16x2> {
    using Is = f16;
};
template <>
struct ElementOf<bf16x2> {
    using Is = bf16;
};
template <class T>
using Element = typename ElementOf<T>::Is;

/// An instruction's modifiers, a bit each.
using Modifiers = std::uint64_t;
// clang-format off
#define GRADVERIFY_SIMT_MODIFIERS(F) \
    F(rn) F(rz) F(rm) F(rp) F(rna) F(rni) F(rzi) F(rmi) F(rpi) F(ftz) F(sat) F(satfinite) \
    F(relu) F(approx) F(full) F(lo) F(hi) F(wide) F(NaN) F(xorsign) F(abs) F(eq) F(ne) F(lt) \
    F(le) F(gt) F(ge) F(ls) F(hs) F(equ) F(neu) F(ltu) F(leu) F(gtu) F(geu) F(num) F(nan) \
    F(and) F(or) F(xor) F(l) F(r) F(clamp) F(wrap) F(f4e) F(b4e) F(rc8) F(ecl) F(ecr) F(rc16) \
    F(shiftamt) F(finite) F(infinite) F(number) F(notanumber) F(normal) F(subnormal)
// clang-format on
enum class ModifierBit : unsigned {
#define GRADVERIFY_SIMT_MODIFIER(NAME) of_##NAME,
    GRADVERIFY_SIMT_MODIFIERS(GRADVERIFY_SIMT_MODIFIER)
#undef GRADVERIFY_SIMT_MODIFIER
};
#define GRADVERIFY_SIMT_MODIFIER(NAME) \
    constexpr Modifiers m_##NAME = Modifiers{1} << static_cast<unsigned>(ModifierBit::of_##NAME);
GRADVERIFY_SIMT_MODIFIERS(GRADVERIFY_SIMT_MODIFIER)
#undef GRADVERIFY_SIMT_MODIFIER
#undef GRADVERIFY_SIMT_MODIFIERS
constexpr bool has(Modifiers all, Modifiers any_of) { return (all & any_of) != 0; }

/// An operand that is a number: it has the width that the instruction asks for.
struct Integer {
    std::uint64_t bits;
    template <class T>
    constexpr operator T() const {
        return static_cast<T>(bits);
    }
};
/// A real number's bits, as a float's or a double's.
struct Real {
    double value;
    constexpr operator std::uint32_t() const {
        return unit::bit_cast<std::uint32_t>(static_cast<float>(value));
    }
    constexpr operator std::uint64_t() const { return unit::bit_cast<std::uint64_t>(value); }
};

/// The register of an operand of the asm statement, and back; `T` is the C++ variable's type.
template <class R, class T>
inline R get(const T& value) {
    if constexpr (std::is_pointer_v<T>) {
        return static_cast<R>(reinterpret_cast<std::uintptr_t>(value));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        return static_cast<R>(value);
    } else if constexpr (std::is_array_v<T>) {
        return static_cast<R>(reinterpret_cast<std::uintptr_t>(&value[0]));
    } else {
        static_assert(sizeof(R) == sizeof(T), "asm: an operand has another size than its register");
        return __builtin_bit_cast(R, value);
    }
}
template <class R, class T>
inline void put(T& to, R bits) {
    if constexpr (std::is_pointer_v<std::remove_volatile_t<T>>) {
        to = reinterpret_cast<T>(static_cast<std::uintptr_t>(bits));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        to = static_cast<T>(bits);
    } else {
        static_assert(sizeof(R) == sizeof(T), "asm: an operand has another size than its register");
        to = __builtin_bit_cast(std::remove_volatile_t<T>, bits);
    }
}

/// mov of a vector into one register, the first part lowest (PTX ISA, 9.7.9.6 mov).
template <class T, class... Parts>
inline Bits<T> pack(Parts... parts) {
    constexpr int part_bits = width<T> / static_cast<int>(sizeof...(Parts));
    constexpr auto mask =
        static_cast<Bits<T>>(static_cast<Bits<T>>(~Bits<T>{0}) >> (width<T> - part_bits));
    Bits<T> packed = 0;
    int at = 0;
    ((packed = static_cast<Bits<T>>(packed | (static_cast<Bits<T>>(parts) & mask) << at),
      at += part_bits),
     ...);
    return packed;
}
template <class T, class... Parts>
inline void unpack(Bits<T> packed, Parts&... parts) {
    constexpr int part_bits = width<T> / static_cast<int>(sizeof...(Parts));
    constexpr auto mask =
        static_cast<Bits<T>>(static_cast<Bits<T>>(~Bits<T>{0}) >> (width<T> - part_bits));
    int at = 0;
    ((parts = static_cast<Parts>(packed >> at & mask), at += part_bits), ...);
}
template <class T>
inline Bits<T> mov_(Bits<T> a) {
    return a;
}

}  // namespace gradverify::simt::ptx
