// SPDX-License-Identifier: Apache-2.0
// The switch from one stack to another, in assembly for x86-64 and aarch64. It keeps what a call
// keeps by the ABI, except the floating-point control words, which all stacks share.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define GRADVERIFY_SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GRADVERIFY_SIMT_ASAN 1
#endif
#endif

namespace gradverify::simt {

/// Where a stack stopped: the address of its saved registers.
using StoppedAt = void*;

/// An empty stack, which runs `main` when it is switched to; `main` must not return.
StoppedAt prepare_stack(char* top, void (*main)());

// Both stop here, keep the place in `*left`, and go on at `to`; they return when switched back to.
// The processor predicts that `switch_stack` returns to the same caller, and that
// `switch_stack_elsewhere`, which returns `given` on the other stack, goes where it last went.
void switch_stack(StoppedAt* left, StoppedAt to) __asm__("gradverify_simt_switch_stack");
bool switch_stack_elsewhere(StoppedAt* left, StoppedAt to,
                            bool given) __asm__("gradverify_simt_switch_stack_elsewhere");

/// Prefetches the saved registers and the frames next to them. g++ 12 drops it if it is not
/// inlined.
[[gnu::always_inline]] inline void prefetch_stack(StoppedAt at) {
    const char* saved = static_cast<const char*>(at);
    __builtin_prefetch(saved, 1);
    __builtin_prefetch(saved + 64, 1);
    __builtin_prefetch(saved + 128, 1);
}

}  // namespace gradverify::simt
