// SPDX-License-Identifier: Apache-2.0
// assert as CUDA has it: within a kernel a failure ends the launch with cudaErrorAssert, outside it
// ends the process. No include guard: NDEBUG may change between two includes.
#pragma GCC system_header

#include_next <assert.h>

#include <cstdio>
#include <cstdlib>

#include "gradverify_simt/state.hpp"

#ifndef NDEBUG
#undef assert
#define assert(...)             \
    ((__VA_ARGS__)              \
         ? static_cast<void>(0) \
         : ::gradverify::simt::unit::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__, __func__))
#endif

#ifndef GRADVERIFY_SIMT_ASSERTION_FAILED
#define GRADVERIFY_SIMT_ASSERTION_FAILED
namespace gradverify::simt::unit {
[[noreturn]] inline void assertion_failed(const char* text, const char* file, int line,
                                          const char* function) {
    if (state.in_kernel) gradverify_simt_trap(710, text, file, line);
    std::fprintf(stderr, "%s:%d: %s: Assertion `%s' failed.\n", file, line, function, text);
    std::abort();
}
}  // namespace gradverify::simt::unit
#endif
