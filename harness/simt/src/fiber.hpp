// SPDX-License-Identifier: Apache-2.0
// Fibers: stacks with a guard page, the switch between them, and a pool that keeps them. Knows no
// threads of a block; tells the address sanitizer of every switch.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <memory>
#include <vector>

#include "gradverify_simt/state.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define GRADVERIFY_SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GRADVERIFY_SIMT_ASAN 1
#endif
#endif
#ifdef GRADVERIFY_SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace gradverify::simt {

/// What the frames on a stack wait for, for the report of a deadlock.
struct Wait {
    enum class For { nothing, barrier, warp } kind = For::nothing;
    unsigned mask = 0;
    unit::Place place{};
};

/// A stack and where it stopped; also stands for the OS thread's own stack, without a mapping. All
/// that a switch touches lies in one cache line.
struct alignas(64) Fiber {
    boost::context::detail::fcontext_t context = nullptr;
    char* stack_begin = nullptr;  ///< the lowest usable byte
    std::size_t stack_bytes = 0;
    void* sanitizer_stack = nullptr;
    unsigned number = 0;    ///< in its pool; staggers the tops of stacks
    bool abandoned = true;  ///< its frames are dead: starts anew when taken
    Wait wait;
};

/// Keeps where the fiber that was left stopped; `self` is the one that runs now.
inline void entered([[maybe_unused]] Fiber& self, boost::context::detail::transfer_t from) {
    auto* previous = static_cast<Fiber*>(from.data);
    previous->context = from.fctx;
#ifdef GRADVERIFY_SIMT_ASAN
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(self.sanitizer_stack, &bottom, &bytes);
    previous->stack_begin = static_cast<char*>(const_cast<void*>(bottom));
    previous->stack_bytes = bytes;
#endif
}

/// Stops `from` and goes on where `to` stopped; returns when someone switches back.
inline void switch_fiber(Fiber& from, Fiber& to) {
#ifdef GRADVERIFY_SIMT_ASAN
    __sanitizer_start_switch_fiber(&from.sanitizer_stack, to.stack_begin, to.stack_bytes);
#endif
    entered(from, boost::context::detail::jump_fcontext(to.context, &from));
}

/// Fibers that all run one function, which must never return.
class FiberPool {
  public:
    using Main = void (*)();

    explicit FiberPool(Main main) : main_(main) {}
    ~FiberPool();
    FiberPool(const FiberPool&) = delete;
    FiberPool& operator=(const FiberPool&) = delete;

    /// A fiber that, switched to, begins `main` or goes on after its last `give`.
    Fiber& take() {
        if (free_.empty()) add();
        Fiber& fiber = *free_.back();
        free_.pop_back();
        if (fiber.abandoned) restart(fiber);
        return fiber;
    }
    void give(Fiber& fiber) { free_.push_back(&fiber); }

  private:
    void add();
    void restart(Fiber& fiber);

    Main main_;
    std::vector<std::unique_ptr<Fiber>> all_;
    std::vector<Fiber*> free_;
};

/// Whether the address lies in the guard page of any fiber's stack.
bool is_stack_guard(const void* address) noexcept;

}  // namespace gradverify::simt
