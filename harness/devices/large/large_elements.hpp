// SPDX-License-Identifier: Apache-2.0
// How the host or a GPU fills each element of a tensor that has no image on the host from a small
// table, and compares it with one. A large tensor is copies of a small one along an axis; few of
// the copies hold drawn data, all others the same.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/cases/bound.hpp"
#include "harness/numbers/element_bits.hpp"

namespace gradverify {

/// Where the copies of a tensor lie in memory: a row of all copies' runs, then the next row. A
/// tensor that all copies share is one copy.
struct CopyLayout {
    std::int64_t run = 1;  ///< elements of a copy that lie together
    std::int64_t copies = 1;

    std::int64_t row() const { return run * copies; }
};

/// Which copies hold data of their own, in ascending order.
struct DrawnCopies {
    static constexpr int most = 16;
    std::int64_t at[most] = {};
    int count = 0;
};

inline std::int64_t copy_of(const CopyLayout& layout, std::int64_t element) {
    return element / layout.run % layout.copies;
}

/// How the elements of a tensor are shared out. The elements of a strand are alike but in copies
/// with data of their own, so that one look at a table and one division serve many elements.
struct Strands {
    std::int64_t elements = 0;
    std::int64_t count = 0;
    std::int64_t lanes = 1;  ///< strands that share the elements which are alike
};

/// About as many strands as workers, if possible; those of neighbouring workers lie together.
inline Strands strands_of(std::int64_t elements, const CopyLayout& layout, std::int64_t workers) {
    constexpr std::int64_t together = 64;
    if (elements == 0) return {};
    const std::int64_t places = (elements + layout.row() - 1) / layout.row() * layout.run;
    const std::int64_t fewest = workers > 1 ? (together + layout.run - 1) / layout.run : 1;
    const std::int64_t lanes = std::min(std::max(workers / places, fewest), layout.copies);
    return {.elements = elements, .count = places * lanes, .lanes = lanes};
}

// Each content below fills or compares the elements of a strand.

/// Elements of two alternating kinds: guards, or poison where both are alike.
struct Pattern {
    void* data;
    int bytes;
    std::uint64_t even, odd;

    Strands strands(std::int64_t elements, std::int64_t workers) const {
        return strands_of(elements, {.run = 2, .copies = (elements + 1) / 2}, workers);
    }
    GRADVERIFY_ON_BOTH void fill(const Strands& strands, std::int64_t strand) const {
        const std::uint64_t bits = strand % 2 == 0 ? even : odd;
        for (std::int64_t i = strand; i < strands.elements; i += strands.count)
            store_bits(data, i, bytes, bits);
    }
    /// Calls `visit` with each element that differs.
    template <class Visit>
    GRADVERIFY_ON_BOTH void compare(const Strands& strands, std::int64_t strand,
                                    Visit visit) const {
        const std::uint64_t bits = strand % 2 == 0 ? even : odd;
        for (std::int64_t i = strand; i < strands.elements; i += strands.count)
            if (load_bits(data, i, bytes) != bits) visit(i);
    }
};

/// Where the elements of a tensor of copies are in two tables: that of all drawn copies, whose rows
/// hold these alone, and that of one other copy.
struct PlacedCopies {
    CopyLayout layout;
    DrawnCopies drawn;

    /// The element's entry.
    template <class T>
    const T& in(const T* of_drawn, const T* of_others, std::int64_t element) const {
        const std::int64_t row = element / layout.row(), within = element % layout.run;
        const std::int64_t copy = copy_of(layout, element);
        for (int i = 0; i < drawn.count; ++i)
            if (drawn.at[i] == copy) return of_drawn[(row * drawn.count + i) * layout.run + within];
        return of_others[row * layout.run + within];
    }
    Strands strands(std::int64_t elements, std::int64_t workers) const {
        return strands_of(elements, layout, workers);
    }
    /// Calls `visit` with each element of the strand and its entry.
    template <class T, class Visit>
    GRADVERIFY_ON_BOTH void each(const T* of_drawn, const T* of_others, const Strands& strands,
                                 std::int64_t strand, Visit visit) const {
        const std::int64_t row = strand / (layout.run * strands.lanes);
        const std::int64_t within = strand % layout.run;
        const T of_other = of_others[row * layout.run + within];
        int next = 0;
        for (std::int64_t copy = strand / layout.run % strands.lanes; copy < layout.copies;
             copy += strands.lanes) {
            const std::int64_t element = (row * layout.copies + copy) * layout.run + within;
            while (next < drawn.count && drawn.at[next] < copy) ++next;
            if (next < drawn.count && drawn.at[next] == copy)
                visit(element, of_drawn[(row * drawn.count + next) * layout.run + within]);
            else
                visit(element, of_other);
        }
    }
};

/// A tensor of copies: its elements are bits of the tables.
struct CopiedBits : PlacedCopies {
    void* data;
    int bytes;
    const std::uint64_t *of_drawn, *of_others;

    GRADVERIFY_ON_BOTH void fill(const Strands& strands, std::int64_t strand) const {
        each(of_drawn, of_others, strands, strand,
             [&](std::int64_t i, std::uint64_t bits) { store_bits(data, i, bytes, bits); });
    }
    /// Calls `visit` with each element that differs.
    template <class Visit>
    GRADVERIFY_ON_BOTH void compare(const Strands& strands, std::int64_t strand,
                                    Visit visit) const {
        each(of_drawn, of_others, strands, strand, [&](std::int64_t i, std::uint64_t bits) {
            if (load_bits(data, i, bytes) != bits) visit(i);
        });
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

    /// Calls `visit` with each element that differs.
    template <class Visit>
    GRADVERIFY_ON_BOTH void compare(const Strands& strands, std::int64_t strand,
                                    Visit visit) const {
        each(of_drawn, of_others, strands, strand, [&](std::int64_t i, const WantedValue& want) {
            const double got = number_of(dtype, load_bits(data, i, bytes));
            if (!is_admitted_nan(admits_nan, got, want.value) &&
                !want.bound.accepts(got, want.value))
                visit(i);
        });
    }
};

/// How many elements differ, and where.
struct Differences {
    std::int64_t count = 0;
    std::int64_t first = -1, last = -1;  ///< -1: none

    void add(std::int64_t element) {
        if (count == 0 || element < first) first = element;
        last = std::max(last, element);
        ++count;
    }
};

}  // namespace gradverify
