// SPDX-License-Identifier: Apache-2.0
// Fibers: stacks with a guard, the switch between them, and a pool that keeps them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/simt/execute/stack_switch.hpp"

#ifdef GRADVERIFY_SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace gradverify::simt {

/// Where a stopped thread waits, for the report of a deadlock.
struct Wait {
    const char* file = "";
    int line = 0;
    unsigned mask = 0;  ///< of a warp collective; 0 at a barrier
};

/// A stack, also the OS thread's own. Half a cache line, as every switch touches two fibers.
struct alignas(32) Fiber {
    StoppedAt stopped_at = nullptr;  ///< null: has no frames that may go on
    Wait wait;
    std::uint64_t launch = 0;  ///< the one whose threads it ran last
#ifdef GRADVERIFY_SIMT_ASAN
    const void* stack_begin = nullptr;  ///< the lowest usable byte
    std::size_t stack_bytes = 0;
    void* sanitizer_stack = nullptr;
#endif
};

#ifdef GRADVERIFY_SIMT_ASAN
void leaving(Fiber& from, Fiber& to);
/// To be called first on the stack of `self`, when it is switched to.
void arrived(Fiber& self);
#else
inline void leaving(Fiber&, Fiber&) {}
inline void arrived(Fiber&) {}
#endif

/// Stops `from` and goes on where `to` stopped; returns when someone switches back.
[[gnu::always_inline]] inline void switch_fiber(Fiber& from, Fiber& to) {
    leaving(from, to);
    switch_stack(&from.stopped_at, to.stopped_at);
    arrived(from);
}

/// The same where `to` stopped elsewhere than `from`. Returns the `given` of the switch back.
[[gnu::always_inline]] inline bool switch_fiber_elsewhere(Fiber& from, Fiber& to, bool given) {
    leaving(from, to);
#ifdef GRADVERIFY_SIMT_ASAN
    const bool got = switch_stack_elsewhere(&from.stopped_at, to.stopped_at, given);
    arrived(from);
    return got;
#else
    return switch_stack_elsewhere(&from.stopped_at, to.stopped_at, given);  // as a tail call
#endif
}

/// Fibers that all run one function, which must never return. The lowest number is taken first, so
/// that few stacks are touched. No more than `capacity` may be taken at a time.
class FiberPool {
  public:
    using Main = void (*)();
    static constexpr unsigned capacity = 8192;  // the threads of a cooperative launch

    explicit FiberPool(Main main);
    ~FiberPool();
    FiberPool(const FiberPool&) = delete;
    FiberPool& operator=(const FiberPool&) = delete;

    /// The fiber to be taken next. Unless it has stopped somewhere, `prepare` it first.
    Fiber& next() {
        while (free_[first_word_] == 0) ++first_word_;
        return fibers_[first_word_ * 64 + lowest(free_[first_word_])];
    }
    /// Makes `next()` begin `main`; take it and switch to it before preparing another.
    void prepare_next();
    /// Takes `next()` out of the pool; it goes on where it stopped after its last `give`.
    void take_next() {
        const std::uint64_t rest = free_[first_word_] &= free_[first_word_] - 1;
        if (rest != 0) prefetch_stack(fibers_[first_word_ * 64 + lowest(rest)].stopped_at);
    }
    Fiber& take_prepared() {
        Fiber& fiber = next();
        if (fiber.stopped_at == nullptr) prepare_next();
        take_next();
        return fiber;
    }
    void give(Fiber& fiber) {
        const auto number = static_cast<unsigned>(&fiber - fibers_.get());
        free_[number / 64] |= std::uint64_t{1} << (number % 64);
        if (number / 64 < first_word_) first_word_ = number / 64;
    }

    bool has_stack(const void* address) const;
    /// Whether the address lies in the guard pages of a stack.
    bool has_guard(const void* address) const;

  private:
    /// Whether the address is `begin` to `end` bytes from the lowest usable one of any stack.
    bool is_at_stack(const void* address, std::ptrdiff_t begin, std::ptrdiff_t end) const;
    static unsigned lowest(std::uint64_t bits) {
        return static_cast<unsigned>(std::countr_zero(bits));
    }

    Main main_;
    std::unique_ptr<Fiber[]> fibers_;
    unsigned first_word_ = 0;                          // none free in the words before
    std::array<std::uint64_t, capacity / 64> free_{};  // a bit for each that is not taken
    std::array<char*, capacity> stacks_{};             // null until first needed
    std::size_t stacks_end_ = 0;                       // behind the last that was made
};

}  // namespace gradverify::simt
