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

/// Where an element lies among the copies, as a number of digits, the innermost last.
struct CopyPlace {
    std::int64_t outer = 0, copy = 0, row = 0, within = 0;

    bool operator==(const CopyPlace&) const = default;
};

GRADVERIFY_ON_BOTH inline CopyPlace place_of(const CopyLayout& layout, std::int64_t element) {
    const std::int64_t step = element / layout.inner, block = step / layout.per_copy;
    return {.outer = block / layout.copies,
            .copy = block % layout.copies,
            .row = step % layout.per_copy,
            .within = element % layout.inner};
}

/// The place that is as many elements further as `by` is from the first: digits are added, with
/// carries, where place_of() divides.
GRADVERIFY_ON_BOTH inline CopyPlace behind(const CopyLayout& layout, CopyPlace place,
                                           const CopyPlace& by) {
    const auto carry = [](std::int64_t& digit, std::int64_t base, std::int64_t& next) {
        if (digit < base) return;
        digit -= base;
        ++next;
    };
    place.within += by.within;
    place.row += by.row;
    place.copy += by.copy;
    place.outer += by.outer;
    carry(place.within, layout.inner, place.row);
    carry(place.row, layout.per_copy, place.copy);
    carry(place.copy, layout.copies, place.outer);
    return place;
}

GRADVERIFY_ON_BOTH inline std::int64_t copy_of(const CopyLayout& layout, std::int64_t element) {
    return place_of(layout, element).copy;
}

GRADVERIFY_ON_BOTH inline TableEntry entry_of(const CopyLayout& layout, const DrawnCopies& drawn,
                                              const CopyPlace& at) {
    for (int i = 0; i < drawn.count && drawn.at[i] <= at.copy; ++i)
        if (drawn.at[i] == at.copy)
            return {true, ((at.outer * drawn.count + i) * layout.per_copy + at.row) * layout.inner +
                              at.within};
    return {false, (at.outer * layout.per_copy + at.row) * layout.inner + at.within};
}

// Each content below fills or compares an element, whose place is stepped from one to the next.

/// Elements of two alternating kinds: guards, or poison where both are alike.
struct Pattern {
    void* data;
    int bytes;
    std::uint64_t even, odd;

    using Place = int;  ///< 1 in odd places
    GRADVERIFY_ON_BOTH Place place_of(std::int64_t i) const { return static_cast<int>(i % 2); }
    GRADVERIFY_ON_BOTH Place behind(Place place, Place by) const { return place ^ by; }

    GRADVERIFY_ON_BOTH std::uint64_t at(Place place) const { return place == 0 ? even : odd; }
    GRADVERIFY_ON_BOTH void fill(std::int64_t i, Place place) const {
        store_bits(data, i, bytes, at(place));
    }
    GRADVERIFY_ON_BOTH bool differs(std::int64_t i, Place place) const {
        return load_bits(data, i, bytes) != at(place);
    }
};

/// Where the elements of a tensor of copies are in its tables.
struct PlacedCopies {
    CopyLayout layout;
    DrawnCopies drawn;

    using Place = CopyPlace;
    GRADVERIFY_ON_BOTH Place place_of(std::int64_t i) const {
        return gradverify::place_of(layout, i);
    }
    GRADVERIFY_ON_BOTH Place behind(const Place& place, const Place& by) const {
        return gradverify::behind(layout, place, by);
    }
    /// The element's entry in one of two tables.
    template <class T>
    GRADVERIFY_ON_BOTH const T& in(const T* of_drawn, const T* of_others, const Place& at) const {
        const TableEntry entry = entry_of(layout, drawn, at);
        return (entry.is_drawn ? of_drawn : of_others)[entry.index];
    }
};

/// A tensor of copies: its elements are bits of the tables.
struct CopiedBits : PlacedCopies {
    void* data;
    int bytes;
    const std::uint64_t *of_drawn, *of_others;

    GRADVERIFY_ON_BOTH std::uint64_t at(const Place& place) const {
        return in(of_drawn, of_others, place);
    }
    GRADVERIFY_ON_BOTH void fill(std::int64_t i, const Place& place) const {
        store_bits(data, i, bytes, at(place));
    }
    GRADVERIFY_ON_BOTH bool differs(std::int64_t i, const Place& place) const {
        return load_bits(data, i, bytes) != at(place);
    }
};

/// The value that an element must have, and how far it may be off.
struct WantedValue {
    double value = 0.0;
    Bound bound;
};

/// A tensor of copies: its elements are near the tables' values.
struct CopiedValues : PlacedCopies {
    const void* data;
    DType dtype;
    int bytes;
    bool admits_nan;
    const WantedValue *of_drawn, *of_others;

    GRADVERIFY_ON_BOTH bool differs(std::int64_t i, const Place& place) const {
        const WantedValue want = in(of_drawn, of_others, place);
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
