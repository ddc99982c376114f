// SPDX-License-Identifier: Apache-2.0
// The mbarrier objects of shared memory (PTX ISA, 9.7.13.15): their 64 bits, and what arrivals,
// transactions and waits do to them.
#pragma once

#include <cstdint>
#include <string>

#include "gradverify_simt/state.hpp"

namespace gradverify::simt {

/// The 64 bits, which are opaque to a kernel; memory that no mbarrier.init wrote is no such object.
struct MbarrierState {
    std::uint64_t pending : 20 = 0;   ///< arrivals that the phase waits for
    std::uint64_t expected : 20 = 0;  ///< arrivals of the next phase
    std::int64_t transactions : 21 = 0;
    std::uint64_t phase : 1 = 0;  ///< its parity
    std::uint64_t mark : 2 = 0;
    static constexpr std::uint64_t valid_mark = 1;
    static constexpr std::uint32_t count_maximum = (1u << 20) - 1;
};
static_assert(sizeof(MbarrierState) == 8);

/// One instruction's mbarrier; an error ends the launch.
class Mbarrier {
  public:
    Mbarrier(void* at, const void* pc, unit::Place place) : at_(at), pc_(pc), place_(place) {}

    void init(std::uint32_t count);
    void invalidate();
    void expect(std::uint32_t bytes);
    /// What was copied, of an operation of the race detector; 0: of none.
    void complete(std::uint32_t bytes, unsigned operation);
    struct Arrival {
        std::uint32_t count = 1;
        std::uint32_t expected_bytes = 0;
        bool drops = false, completes = true, releases = true;
    };
    /// The state before.
    std::uint64_t arrive(const Arrival& arrival);
    /// cp.async.mbarrier.arrive without .noinc: one arrival more is pending.
    void add_pending();
    /// Whether the phase of this parity has ended; gives others the time for it if not. One that
    /// does not suspend says at once that it has not, and gives others the time when it asks again.
    bool wait(bool phase, bool acquires, bool suspends);
    /// cp.async.mbarrier.arrive: what the thread did before is released to who waits for the phase,
    /// in which it arrives later, when the copies are done.
    void release();
    void arrive_later(unsigned operation);

  private:
    [[noreturn]] void fail(const char* what) const;
    /// **Errors** where there is no mbarrier.
    MbarrierState get() const;
    MbarrierState access();
    void put(const MbarrierState& state);
    void put_arrived(MbarrierState state, const Arrival& arrival);
    void add_transactions(MbarrierState& state, std::int64_t bytes) const;
    std::uintptr_t key() const { return reinterpret_cast<std::uintptr_t>(at_); }

    void* at_;
    const void* pc_;
    unit::Place place_;
};

/// "the mbarrier whose phase lacks 1 arrival and 64 bytes"
std::string mbarrier_text(std::uintptr_t address);

}  // namespace gradverify::simt
