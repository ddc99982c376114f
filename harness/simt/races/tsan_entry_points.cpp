// SPDX-License-Identifier: Apache-2.0
// Code compiled with -fsanitize=thread calls these in place of the sanitizer's runtime; they pass
// accesses on to the detector. Hidden, so that no other library's calls end here.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gradverify_simt/atomics.hpp"
#include "harness/simt/races/detector.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace {

using gradverify::simt::detecting;
using gradverify::simt::Detector;
using gradverify::simt::number;

#define GRADVERIFY_PC __builtin_return_address(0)

template <unsigned bytes, bool writes>
[[gnu::always_inline]] inline void plain(const void* address, const void* pc) {
    if (Detector* const detector = detecting)
        detector->plain_access<bytes, writes>(number(address), pc);
}

struct Kind {
    bool reads, writes;
    bool is_atomic = false, is_volatile = false;
};
constexpr Kind atomic_load = {.reads = true, .writes = false, .is_atomic = true};
constexpr Kind atomic_store = {.reads = false, .writes = true, .is_atomic = true};
constexpr Kind atomic_update = {.reads = true, .writes = true, .is_atomic = true};

void access(const volatile void* address, std::size_t bytes, const void* pc, Kind kind) {
    if (detecting == nullptr || bytes == 0) return;
    detecting->access(
        {number(address), bytes, pc, kind.reads, kind.writes, kind.is_atomic, kind.is_volatile});
}

void range(const void* address, std::size_t bytes, const void* pc, bool writes) {
    access(address, bytes, pc, {.reads = !writes, .writes = writes});
}

void volatile_access(const void* address, std::size_t bytes, const void* pc, bool writes) {
    // A loop that waits for another thread lets it run.
    if (detecting != nullptr && !writes) gradverify::simt::unit::yield_point();
    access(address, bytes, pc, {.reads = !writes, .writes = writes, .is_volatile = true});
}

}  // namespace

// The names are the compilers'.
// NOLINTBEGIN(bugprone-*,readability-identifier-naming)
extern "C" {
#pragma GCC visibility push(hidden)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define GRADVERIFY_ACCESS(PREFIX, BYTES)                                          \
    void PREFIX##_read##BYTES(void* a) { plain<BYTES, false>(a, GRADVERIFY_PC); } \
    void PREFIX##_write##BYTES(void* a) { plain<BYTES, true>(a, GRADVERIFY_PC); } \
    void PREFIX##_volatile_read##BYTES(void* a) {                                 \
        volatile_access(a, BYTES, GRADVERIFY_PC, false);                          \
    }                                                                             \
    void PREFIX##_volatile_write##BYTES(void* a) { volatile_access(a, BYTES, GRADVERIFY_PC, true); }
GRADVERIFY_ACCESS(__tsan, 1)
GRADVERIFY_ACCESS(__tsan, 2)
GRADVERIFY_ACCESS(__tsan, 4)
GRADVERIFY_ACCESS(__tsan, 8)
GRADVERIFY_ACCESS(__tsan, 16)
GRADVERIFY_ACCESS(__tsan_unaligned, 2)
GRADVERIFY_ACCESS(__tsan_unaligned, 4)
GRADVERIFY_ACCESS(__tsan_unaligned, 8)
GRADVERIFY_ACCESS(__tsan_unaligned, 16)

void __tsan_read_range(void* a, std::size_t bytes) { range(a, bytes, GRADVERIFY_PC, false); }
void __tsan_write_range(void* a, std::size_t bytes) { range(a, bytes, GRADVERIFY_PC, true); }

// A unit's own calls of these get the prefix gradverify_simt when the unit is closed.
#define GRADVERIFY_BLOCKS(PREFIX)                                           \
    void* PREFIX##_memcpy(void* to, const void* from, std::size_t bytes) {  \
        range(from, bytes, GRADVERIFY_PC, false);                           \
        range(to, bytes, GRADVERIFY_PC, true);                              \
        return std::memcpy(to, from, bytes);                                \
    }                                                                       \
    void* PREFIX##_memmove(void* to, const void* from, std::size_t bytes) { \
        range(from, bytes, GRADVERIFY_PC, false);                           \
        range(to, bytes, GRADVERIFY_PC, true);                              \
        return std::memmove(to, from, bytes);                               \
    }                                                                       \
    void* PREFIX##_memset(void* to, int value, std::size_t bytes) {         \
        range(to, bytes, GRADVERIFY_PC, true);                              \
        return std::memset(to, value, bytes);                               \
    }
GRADVERIFY_BLOCKS(gradverify_simt)
GRADVERIFY_BLOCKS(__tsan)

// Sequential consistency is allowed whatever order the code asks for.
#define GRADVERIFY_FETCH(BITS, T, NAME)                                 \
    T __tsan_atomic##BITS##_fetch_##NAME(volatile T* a, T value, int) { \
        access(a, sizeof(T), GRADVERIFY_PC, atomic_update);             \
        return __atomic_fetch_##NAME(a, value, __ATOMIC_SEQ_CST);       \
    }
#define GRADVERIFY_COMPARE_EXCHANGE(BITS, T, NAME)                                              \
    int __tsan_atomic##BITS##_compare_exchange_##NAME(volatile T* a, T* expected, T value, int, \
                                                      int) {                                    \
        access(a, sizeof(T), GRADVERIFY_PC, atomic_update);                                     \
        return __atomic_compare_exchange_n(a, expected, value, false, __ATOMIC_SEQ_CST,         \
                                           __ATOMIC_SEQ_CST);                                   \
    }
#define GRADVERIFY_ATOMICS(BITS, T)                                                              \
    T __tsan_atomic##BITS##_load(const volatile T* a, int) {                                     \
        access(a, sizeof(T), GRADVERIFY_PC, atomic_load);                                        \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                             \
    }                                                                                            \
    void __tsan_atomic##BITS##_store(volatile T* a, T value, int) {                              \
        access(a, sizeof(T), GRADVERIFY_PC, atomic_store);                                       \
        __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                            \
    }                                                                                            \
    T __tsan_atomic##BITS##_exchange(volatile T* a, T value, int) {                              \
        access(a, sizeof(T), GRADVERIFY_PC, atomic_update);                                      \
        return __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST);                                  \
    }                                                                                            \
    GRADVERIFY_FETCH(BITS, T, add)                                                               \
    GRADVERIFY_FETCH(BITS, T, sub)                                                               \
    GRADVERIFY_FETCH(BITS, T, and)                                                               \
    GRADVERIFY_FETCH(BITS, T, or)                                                                \
    GRADVERIFY_FETCH(BITS, T, xor)                                                               \
    GRADVERIFY_FETCH(BITS, T, nand)                                                              \
    GRADVERIFY_COMPARE_EXCHANGE(BITS, T, strong)                                                 \
    GRADVERIFY_COMPARE_EXCHANGE(BITS, T, weak)                                                   \
    T __tsan_atomic##BITS##_compare_exchange_val(volatile T* a, T expected, T value, int, int) { \
        access(a, sizeof(T), GRADVERIFY_PC, atomic_update);                                      \
        __atomic_compare_exchange_n(a, &expected, value, false, __ATOMIC_SEQ_CST,                \
                                    __ATOMIC_SEQ_CST);                                           \
        return expected;                                                                         \
    }
GRADVERIFY_ATOMICS(8, std::uint8_t)
GRADVERIFY_ATOMICS(16, std::uint16_t)
GRADVERIFY_ATOMICS(32, std::uint32_t)
GRADVERIFY_ATOMICS(64, std::uint64_t)

void __tsan_atomic_thread_fence(int) {
    if (detecting != nullptr) detecting->fence(false);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

#pragma GCC visibility pop
}
// NOLINTEND(bugprone-*,readability-identifier-naming)
