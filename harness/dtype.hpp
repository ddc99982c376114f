// SPDX-License-Identifier: Apache-2.0
// Decides which element types tensors may have, and the numbers of each type's arithmetic.
// Does not convert values: storage conversion lives with the buffers. Included by CUDA units: no
// Eigen, no rapidcheck, no doctest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gradverify {

enum class DType : std::uint8_t { f32, f64, i32, i64 };

/// The arithmetic of an element type.
struct DTypeTraits {
    std::string_view name;
    std::size_t bytes;
    /// Integers of magnitude up to 2^exact_bits are represented exactly.
    int exact_bits;
    /// Largest relative error of one rounding to nearest; 0 for integers.
    double unit_roundoff;
    /// Smallest positive normal number; an operation may lose this much to underflow or flushing.
    double smallest_normal;
    double largest;  ///< finite
};

constexpr DTypeTraits traits_of(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return {"f32", 4, 24, 0x1p-24, 0x1p-126, 0x1.fffffep+127};
        case DType::f64:
            return {"f64", 8, 53, 0x1p-53, 0x1p-1022, 0x1.fffffffffffffp+1023};
        case DType::i32:
            return {"i32", 4, 31, 0.0, 0.0, 0x1.fffffffcp+30};
        case DType::i64:
            return {"i64", 8, 63, 0.0, 0.0, 0x1p+63};
    }
    return {"?", 0, 0, 0.0, 0.0, 0.0};
}

constexpr bool is_floating(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
    static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
    static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<std::int32_t> {
    static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::int64_t> {
    static constexpr DType value = DType::i64;
};

}  // namespace gradverify
