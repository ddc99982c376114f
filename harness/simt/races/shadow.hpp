// SPDX-License-Identifier: Apache-2.0
// For each 4 bytes of memory, who wrote and who read them last, and which may be touched. Nothing
// is cleared between launches: the segment of an access, a growing number, shows that it is old.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace gradverify::simt {

/// One access as a cell remembers it.
struct Access {
    std::uint64_t pc : 48 = 0;
    std::uint64_t clock : 16 = 0;  ///< the thread's, from one warp synchronisation to the next
    std::uint32_t segment = 0;     ///< 0: there was none
    std::uint32_t rank : 10 = 0;   ///< of the thread in its block
    std::uint32_t bytes : 4 = 0;   ///< of the cell, a bit each
    std::uint32_t is_atomic : 1 = 0;
    std::uint32_t is_volatile : 1 = 0;
    std::uint32_t block : 4 = 0;        ///< its rank in its cluster
    std::uint32_t fences : 7 = 0;       ///< passed by the thread; 127: or more
    std::uint32_t is_of_block : 1 = 0;  ///< its scope
    /// By the asynchronous operation whose number is in `clock` and `number_high`, which the thread
    /// asked for.
    std::uint32_t is_async : 1 = 0;
    std::uint32_t number_high : 3 = 0;

    static constexpr unsigned last_operation = (1u << 19) - 1;
    unsigned operation() const { return clock | unsigned{number_high} << 16; }
    void set_operation(unsigned number) {
        is_async = 1;
        clock = number & 0xffffu;
        number_high = number >> 16 & 7u;
    }
};

/// The state of 4 bytes, in one cache line.
struct alignas(64) Cell {
    Access write;
    Access read, earlier_read;  ///< of two threads
    /// In shared memory, the block (its first segment) that wrote the bytes of `written`.
    std::uint32_t written_by_block = 0;
    std::uint8_t written = 0;
    /// Threads (rank modulo 32) that wrote the present value, when several did.
    std::uint32_t same_value_writers = 0;
    static constexpr std::uint8_t by_cp_async = 1, is_acquired_map = 2;
    /// Of the last write: whether it is of cp.async, behind which no kernel fences the proxies, or
    /// of a tensor map that a fence of its proxy has acquired since.
    std::uint8_t proxy_state = 0;
};
static_assert(sizeof(Access) == 16 && sizeof(Cell) == 64);

constexpr std::size_t cell_bytes = 4;
constexpr unsigned shadow_page_bits = 12;
constexpr std::size_t shadow_page_bytes = std::size_t{1} << shadow_page_bits;
constexpr std::size_t cells_per_page = shadow_page_bytes / cell_bytes;

constexpr unsigned in_flight_bit = 1u << cell_bytes;

enum class MemoryKind : std::uint8_t {
    unknown,     ///< neither the device's nor a thread's own: a host pointer
    not_mapped,  ///< beside device memory, or near null: an access ends the process
    private_to,  ///< stacks, thread-local and constant data: nothing to check
    global,      ///< device memory, and variables of the program
    shared,
};

/// The last write to 4 bytes of a thread's own memory.
struct RegisterWrite {
    std::uint64_t pc = 0;
    std::uint32_t time = 0;
};

struct ShadowPage {
    std::uintptr_t number = 0;
    std::uint64_t generation = 0;
    MemoryKind kind = MemoryKind::unknown;
    std::unique_ptr<Cell[]> cells;
    /// For each cell the bytes that must not be touched; and, `in_flight_bit` times as high, those
    /// that an asynchronous copy writes, or an asynchronous operation has accessed. In a thread's
    /// own memory: registers.cpp.
    std::array<std::uint8_t, cells_per_page> forbidden{};
    std::vector<RegisterWrite>
        register_writes;  ///< for each cell of a thread's own memory, or empty

    bool is_checked() const { return kind >= MemoryKind::global; }
};

class Shadow {
  public:
    /// Sets a page's kind and, if it is checked, `forbidden`.
    using Classify = std::function<void(ShadowPage&)>;
    explicit Shadow(Classify classify) : classify_(std::move(classify)) {}

    ShadowPage& page_of(std::uintptr_t address) {
        const std::uintptr_t number = address >> shadow_page_bits;
        ShadowPage* const recent = recent_[number % recent_.size()];
        if (recent != nullptr && recent->number == number) [[likely]]
            return *recent;
        return find(number);
    }
    /// Whatever its memory has become since; null where it was never met.
    ShadowPage* known_page(std::uintptr_t address) const {
        const auto found = pages_.find(address >> shadow_page_bits);
        return found == pages_.end() ? nullptr : found->second.get();
    }
    static std::size_t cell_index(std::uintptr_t address) {
        return address % shadow_page_bytes / cell_bytes;
    }

    /// Has every page classified again when it is next met; cells stay.
    void forget_kinds();
    /// Gives back all memory. Segments may restart only after this.
    void clear();
    std::size_t bytes() const { return pages_.size() * cells_per_page * sizeof(Cell); }

    /// Forbids or allows the bytes of a range.
    void set_forbidden(const void* begin, const void* end, bool forbidden);

  private:
    ShadowPage& find(std::uintptr_t number);

    Classify classify_;
    std::uint64_t generation_ = 1;
    std::array<ShadowPage*, 1024> recent_{};
    std::unordered_map<std::uintptr_t, std::unique_ptr<ShadowPage>> pages_;
};

/// `visit(cell, bytes)` for each cell of a range: its address, and a bit for each byte of it.
template <class Visit>
void for_each_cell(std::uintptr_t begin, std::uintptr_t end, Visit visit) {
    for (std::uintptr_t at = begin; at < end;) {
        const std::uintptr_t cell = at / cell_bytes * cell_bytes;
        const auto first = static_cast<unsigned>(at - cell);
        const auto last = static_cast<unsigned>(std::min(end - cell, cell_bytes));
        visit(cell, ((1u << last) - 1u) & ~((1u << first) - 1u));
        at = cell + cell_bytes;
    }
}

/// Forbids or allows the part of a range that lies in this page.
void set_forbidden_in(ShadowPage& page, const void* begin, const void* end, bool forbidden);

}  // namespace gradverify::simt
