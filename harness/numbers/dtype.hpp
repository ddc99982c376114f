// SPDX-License-Identifier: Apache-2.0
// Decides which element types tensors may have, and the numbers of each type's arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

// CUDA's types are declared here, so that this header needs none of CUDA's.
struct __half;           // NOLINT(bugprone-reserved-identifier)
struct __nv_bfloat16;    // NOLINT(bugprone-reserved-identifier)
struct __nv_fp8_e4m3;    // NOLINT(bugprone-reserved-identifier)
struct __nv_fp8_e5m2;    // NOLINT(bugprone-reserved-identifier)
struct __nv_fp8_e8m0;    // NOLINT(bugprone-reserved-identifier)
struct __nv_fp4x2_e2m1;  // NOLINT(bugprone-reserved-identifier)

namespace gradverify {

/// The element types: name, C++ type, and the numbers of DTypeTraits.
///
/// f16 is IEEE's half, bf16 a float without the lower half of its bits. f8e4m3 has no infinity and
/// one NaN of each sign (OCP's E4M3, often called "fn"); f8e5m2 is a half without its lower byte.
/// f8e8m0 has powers of two alone, and one NaN: the scales of blocks. f4e2m1 has 0, 0.5, 1, 1.5, 2,
/// 3, 4 and 6 of either sign; two lie in a byte, the first in its lower half.
#define GRADVERIFY_DTYPES(X)                                           \
    X(f32, float, 4, 24, 0x1p-24, 0x1p-126, 0x1.fffffep+127)           \
    X(f64, double, 8, 53, 0x1p-53, 0x1p-1022, 0x1.fffffffffffffp+1023) \
    X(i32, std::int32_t, 4, 30, 0.0, 0.0, 0x1.fffffffcp+30)            \
    X(i64, std::int64_t, 8, 63, 0.0, 0.0, 0x1p+63)                     \
    X(f16, __half, 2, 11, 0x1p-11, 0x1p-14, 0x1.ffcp+15)               \
    X(bf16, __nv_bfloat16, 2, 8, 0x1p-8, 0x1p-126, 0x1.fep+127)        \
    X(f8e4m3, __nv_fp8_e4m3, 1, 4, 0x1p-4, 0x1p-6, 448.0)              \
    X(f8e5m2, __nv_fp8_e5m2, 1, 3, 0x1p-3, 0x1p-14, 57344.0)           \
    X(u8, std::uint8_t, 1, 7, 0.0, 0.0, 0x1.fp+7)                      \
    X(f8e8m0, __nv_fp8_e8m0, 1, 1, 0x1p-1, 0x1p-127, 0x1p+127)         \
    X(f4e2m1, __nv_fp4x2_e2m1, 1, 2, 0x1p-2, 1.0, 6.0)

#define GRADVERIFY_ENUMERATOR(name, ...) name,
enum class DType : std::uint8_t { GRADVERIFY_DTYPES(GRADVERIFY_ENUMERATOR) };

#define GRADVERIFY_VALUE(name, ...) DType::name,
constexpr DType all_dtypes[] = {GRADVERIFY_DTYPES(GRADVERIFY_VALUE)};

/// The arithmetic of an element type.
struct DTypeTraits {
    std::string_view name;
    std::string_view cpp_name;
    std::size_t bytes;  ///< of one element, or of two in f4e2m1
    /// Integers of magnitude up to 2^exact_bits are represented exactly.
    int exact_bits;
    /// Largest relative error of one rounding to nearest; 0 for integers.
    double unit_roundoff;
    /// Smallest positive normal number; an operation may lose this much to underflow or flushing.
    double smallest_normal;
    double largest;  ///< finite
};

#define GRADVERIFY_TRAITS(name, type, ...) {#name, #type, __VA_ARGS__},
/// In the order of DType.
inline constexpr DTypeTraits all_traits[] = {GRADVERIFY_DTYPES(GRADVERIFY_TRAITS)};

constexpr const DTypeTraits& traits_of(DType dtype) {
    return all_traits[static_cast<std::size_t>(dtype)];
}

/// Tensor cores round or cut f32 to tf32, which has the same exponents and 11 significant bits.
constexpr int tf32_exact_bits = 11;
constexpr double tf32_unit_truncation = 0x1p-10;

constexpr bool is_floating(DType dtype) { return traits_of(dtype).unit_roundoff > 0.0; }
/// Or fewer.
constexpr bool is_of_8_bits(DType dtype) {
    return is_floating(dtype) && traits_of(dtype).bytes == 1;
}

/// Whether `dtype` has every number that `other` has; both are floating types, or both integers.
constexpr bool holds_all_of(DType dtype, DType other) {
    const DTypeTraits outer = traits_of(dtype), inner = traits_of(other);
    return outer.exact_bits >= inner.exact_bits && outer.largest >= inner.largest &&
           outer.smallest_normal <= inner.smallest_normal;
}

/// The element type of a C++ type; specialise it for a type of your own with the same bits.
template <class T>
struct DTypeOf;
#define GRADVERIFY_DTYPE_OF(name, type, ...) \
    template <>                              \
    struct DTypeOf<type> : std::integral_constant<DType, DType::name> {};
GRADVERIFY_DTYPES(GRADVERIFY_DTYPE_OF)
template <>
struct DTypeOf<bool> : DTypeOf<std::uint8_t> {};

#undef GRADVERIFY_DTYPES
#undef GRADVERIFY_ENUMERATOR
#undef GRADVERIFY_VALUE
#undef GRADVERIFY_TRAITS
#undef GRADVERIFY_DTYPE_OF

}  // namespace gradverify
