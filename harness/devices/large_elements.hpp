// SPDX-License-Identifier: Apache-2.0
// What is done with each element of a tensor that has no image on the host, as functions that both
// the host and a GPU run: fill it from a small table, compare it with one. A large tensor is copies
// of a small one along an axis; few of the copies hold drawn data, all others the same.
#pragma once

#include <cstdint>

#include "harness/cases/bound.hpp"
#include "harness/numbers/dtype.hpp"

namespace gradverify {

/// Where the copies of a tensor lie in memory. One that all copies share is a single one.
struct CopyLayout {
    std::int64_t inner = 1;     ///< elements from one step along the axis to the next
    std::int64_t per_copy = 1;  ///< steps along the axis that one copy takes
    std::int64_t copies = 1;

    bool operator==(const CopyLayout&) const = default;
};

/// Which copies hold data of their own, in ascending order.
struct DrawnCopies {
    static constexpr int most = 16;
    std::int64_t at[most] = {};
    int count = 0;
};

/// An element of a large tensor in the tables that it is made from: that of the drawn copies, all
/// behind each other, or that of one other copy.
struct TableEntry {
    bool is_drawn = false;
    std::int64_t index = 0;
};

GRADVERIFY_ON_BOTH inline std::int64_t copy_of(const CopyLayout& layout, std::int64_t element) {
    return element / layout.inner / layout.per_copy % layout.copies;
}

GRADVERIFY_ON_BOTH inline TableEntry entry_of(const CopyLayout& layout, const DrawnCopies& drawn,
                                              std::int64_t element) {
    const std::int64_t step = element / layout.inner, within = element % layout.inner;
    const std::int64_t block = step / layout.per_copy, row = step % layout.per_copy;
    const std::int64_t outer = block / layout.copies, copy = block % layout.copies;
    for (int i = 0; i < drawn.count; ++i)
        if (drawn.at[i] == copy)
            return {true,
                    ((outer * drawn.count + i) * layout.per_copy + row) * layout.inner + within};
    return {false, (outer * layout.per_copy + row) * layout.inner + within};
}

namespace detail {

template <class To, class From>
GRADVERIFY_ON_BOTH inline To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

GRADVERIFY_ON_BOTH inline double half_value(std::uint32_t bits) {
    const std::uint32_t exponent = bits >> 10 & 31u, fraction = bits & 1023u;
    const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
    if (exponent == 0) return sign * static_cast<double>(fraction) * 0x1p-24;
    if (exponent == 31)
        return fraction != 0 ? static_cast<double>(__builtin_nan(""))
                             : sign * static_cast<double>(__builtin_inf());
    // The exponent of a double is 1008 more.
    const std::uint64_t wide = static_cast<std::uint64_t>(exponent + 1008) << 52 |
                               static_cast<std::uint64_t>(fraction) << 42;
    return sign * bits_as<double>(wide);
}

GRADVERIFY_ON_BOTH inline double e4m3_value(std::uint32_t bits) {
    const std::uint32_t rest = bits & 127u;
    const double sign = (bits >> 7) != 0 ? -1.0 : 1.0;
    if (rest == 127) return static_cast<double>(__builtin_nan(""));
    if (rest < 8) return sign * static_cast<double>(rest) * 0x1p-9;
    // The exponent of a double is 1016 more.
    return sign * bits_as<double>((static_cast<std::uint64_t>(rest) + (1016u << 3)) << 49);
}

}  // namespace detail

GRADVERIFY_ON_BOTH inline std::uint64_t load_bits(const void* data, std::int64_t i, int bytes) {
    if (bytes == 1) return static_cast<const std::uint8_t*>(data)[i];
    if (bytes == 2) return static_cast<const std::uint16_t*>(data)[i];
    if (bytes == 4) return static_cast<const std::uint32_t*>(data)[i];
    return static_cast<const std::uint64_t*>(data)[i];
}

GRADVERIFY_ON_BOTH inline void store_bits(void* data, std::int64_t i, int bytes,
                                          std::uint64_t bits) {
    if (bytes == 1)
        static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(bits);
    else if (bytes == 2)
        static_cast<std::uint16_t*>(data)[i] = static_cast<std::uint16_t>(bits);
    else if (bytes == 4)
        static_cast<std::uint32_t*>(data)[i] = static_cast<std::uint32_t>(bits);
    else
        static_cast<std::uint64_t*>(data)[i] = bits;
}

/// The number that an element's bits are.
GRADVERIFY_ON_BOTH inline double number_of(DType dtype, std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits);
    switch (dtype) {
        case DType::f16:
            return detail::half_value(low);
        case DType::bf16:
            return static_cast<double>(detail::bits_as<float>(low << 16));
        case DType::f8e4m3:
            return detail::e4m3_value(low);
        case DType::f8e5m2:
            return detail::half_value(low << 8);
        case DType::f32:
            return static_cast<double>(detail::bits_as<float>(low));
        case DType::f64:
            return detail::bits_as<double>(bits);
        case DType::i32:
            return static_cast<double>(static_cast<std::int32_t>(low));
        case DType::i64:
            return static_cast<double>(static_cast<std::int64_t>(bits));
    }
    return 0.0;
}

/// Elements of two alternating kinds: guards, or poison where both are alike.
struct Pattern {
    void* data;
    int bytes;
    std::uint64_t even, odd;

    GRADVERIFY_ON_BOTH std::uint64_t at(std::int64_t i) const { return i % 2 == 0 ? even : odd; }
    GRADVERIFY_ON_BOTH void fill(std::int64_t i) const { store_bits(data, i, bytes, at(i)); }
    GRADVERIFY_ON_BOTH bool differs(std::int64_t i) const {
        return load_bits(data, i, bytes) != at(i);
    }
};

/// A tensor of copies: its elements are bits of the tables.
struct CopiedBits {
    void* data;
    int bytes;
    CopyLayout layout;
    DrawnCopies drawn;
    const std::uint64_t *of_drawn, *of_others;

    GRADVERIFY_ON_BOTH std::uint64_t at(std::int64_t i) const {
        const TableEntry entry = entry_of(layout, drawn, i);
        return (entry.is_drawn ? of_drawn : of_others)[entry.index];
    }
    GRADVERIFY_ON_BOTH void fill(std::int64_t i) const { store_bits(data, i, bytes, at(i)); }
    GRADVERIFY_ON_BOTH bool differs(std::int64_t i) const {
        return load_bits(data, i, bytes) != at(i);
    }
};

/// What an element must be, and how far it may be off.
struct WantedValue {
    double value = 0.0;
    Bound bound;
};

/// A tensor of copies: its elements are near the tables' values.
struct CopiedValues {
    const void* data;
    DType dtype;
    int bytes;
    bool admits_nan;
    CopyLayout layout;
    DrawnCopies drawn;
    const WantedValue *of_drawn, *of_others;

    GRADVERIFY_ON_BOTH bool differs(std::int64_t i) const {
        const TableEntry entry = entry_of(layout, drawn, i);
        const WantedValue want = (entry.is_drawn ? of_drawn : of_others)[entry.index];
        const double got = number_of(dtype, load_bits(data, i, bytes));
        return !is_admitted_nan(admits_nan, got, want.value) &&
               !want.bound.accepts(got, want.value);
    }
};

/// How many elements differ, and where.
struct Differences {
    std::int64_t count = 0;
    std::int64_t first = -1, last = -1;  ///< -1: none
};

}  // namespace gradverify
