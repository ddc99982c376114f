// SPDX-License-Identifier: Apache-2.0
// The switch from one stack to another: our own assembly on x86-64 and aarch64, which keeps what
// the ABI says a call keeps (but the floating-point control words, which all stacks share), and
// Boost.Context elsewhere and under the sanitizers. Knows no fibers.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define GRADVERIFY_SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GRADVERIFY_SIMT_ASAN 1
#endif
#if __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define GRADVERIFY_SIMT_BOOST_SWITCH 1
#endif
#endif
#if defined(GRADVERIFY_SIMT_ASAN) || defined(__SANITIZE_THREAD__) || \
    !(defined(__x86_64__) || defined(__aarch64__)) || !defined(__LP64__)
#undef GRADVERIFY_SIMT_BOOST_SWITCH
#define GRADVERIFY_SIMT_BOOST_SWITCH 1
#endif

#ifdef GRADVERIFY_SIMT_BOOST_SWITCH
#include <boost/context/detail/fcontext.hpp>
#endif

namespace gradverify::simt {

/// Where a stack stopped: the address of its saved registers.
using StoppedAt = void*;

/// An empty stack that runs `main`, which must not return, when it is switched to next. Before
/// another is prepared on this OS thread, switch to it.
StoppedAt prepare_stack(char* top, std::size_t bytes, void (*main)());

// Both stop here, keep where in `*left`, and go on at `to`; they return when switched back to.
// They differ in what the processor predicts: `switch_stack` returns to the caller of the stack
// that it left, `switch_stack_elsewhere` goes where it went the last time. The latter also takes
// what it is to return on the other stack, where the stack stopped in such a call.
#ifdef GRADVERIFY_SIMT_BOOST_SWITCH
extern constinit thread_local bool given_to_stack;
inline void switch_stack(StoppedAt* left, StoppedAt to) {
    const boost::context::detail::transfer_t from = boost::context::detail::jump_fcontext(to, left);
    *static_cast<StoppedAt*>(from.data) = from.fctx;
}
inline bool switch_stack_elsewhere(StoppedAt* left, StoppedAt to, bool given) {
    given_to_stack = given;
    switch_stack(left, to);
    return given_to_stack;
}
#else
extern "C" void gradverify_simt_switch_stack(StoppedAt* left, StoppedAt to);
extern "C" bool gradverify_simt_switch_stack_elsewhere(StoppedAt* left, StoppedAt to, bool given);
inline void switch_stack(StoppedAt* left, StoppedAt to) { gradverify_simt_switch_stack(left, to); }
inline bool switch_stack_elsewhere(StoppedAt* left, StoppedAt to, bool given) {
    return gradverify_simt_switch_stack_elsewhere(left, to, given);
}
#endif

/// A hint: the saved registers and the frames next to them will be wanted soon. Always inlined, as
/// g++ 12 takes a function of mere hints for one without effect, and drops its calls.
[[gnu::always_inline]] inline void prefetch_stack(StoppedAt at) {
    const char* saved = static_cast<const char*>(at);
    __builtin_prefetch(saved, 1);
    __builtin_prefetch(saved + 64, 1);
    __builtin_prefetch(saved + 128, 1);
}

}  // namespace gradverify::simt
