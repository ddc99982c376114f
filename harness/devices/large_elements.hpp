// SPDX-License-Identifier: Apache-2.0
// How the host or a GPU fills each element of a tensor that has no image on the host from a small
// table, and compares it with one. A large tensor is copies of a small one along an axis; few of
// the copies hold drawn data, all others the same.
#pragma once

#include <cstdint>

#include "harness/cases/bound.hpp"
#include "harness/numbers/element_bits.hpp"

namespace gradverify {

/// Where the copies of a tensor lie in memory. A tensor that all copies share is one copy.
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

/// The place of an element in the table of all drawn copies, or in the table of one other copy.
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

/// The value that an element must have, and how far it may be off.
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
