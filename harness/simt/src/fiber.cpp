// SPDX-License-Identifier: Apache-2.0
// Stacks are reserved and touched lazily; the switch is Boost.Context's.
#include "harness/simt/src/fiber.hpp"

#include <sys/mman.h>

#include <atomic>
#include <new>

namespace gradverify::simt {
namespace {

// 64 KiB overflowed on a kernel with a large local array.
#ifdef GRADVERIFY_SIMT_ASAN
constexpr std::size_t stack_bytes = 1024 * 1024;  // red zones make frames larger
#else
constexpr std::size_t stack_bytes = std::size_t{256} * 1024;
#endif
// Tops of stacks at one offset in every page would share cache sets: up to 1.6 times slower.
constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t distinct_offsets = 32;

// More than a page: a frame larger than the guard could step over it where the compiler does not
// probe the stack. A multiple of every page size.
constexpr std::size_t guard_bytes = std::size_t{64} * 1024;

// One entry per stack ever made, readable from a signal handler.
constexpr std::size_t max_guards = 65536;
std::atomic<char*> guards[max_guards];
std::atomic<std::size_t> guard_count{0};

void remember_guard(char* guard) {
    const std::size_t i = guard_count.fetch_add(1);
    if (i < max_guards) guards[i].store(guard);
}

struct Start {
    Fiber* fiber;
    FiberPool::Main main;
};
// The first switch to a fiber carries the fiber that was left; what to start is handed over here.
thread_local Start starting;

void begin(boost::context::detail::transfer_t from) {
    const Start start = starting;
    start.fiber->sanitizer_stack = nullptr;
    entered(*start.fiber, from);
    start.main();
    std::terminate();
}

}  // namespace

FiberPool::~FiberPool() {
    for (const auto& fiber : all_) {
        char* mapping = fiber->stack_begin - guard_bytes;
        for (std::size_t i = 0; i < guard_count.load() && i < max_guards; ++i) {
            if (guards[i].load() == mapping) guards[i].store(nullptr);
        }
        munmap(mapping, fiber->stack_bytes + guard_bytes);
    }
}

void FiberPool::add() {
    const std::size_t bytes = stack_bytes + guard_bytes;
    void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    auto* begin = static_cast<char*>(mapping);
    mprotect(begin, guard_bytes, PROT_NONE);
    remember_guard(begin);
    auto fiber = std::make_unique<Fiber>();
    fiber->stack_begin = begin + guard_bytes;
    fiber->stack_bytes = stack_bytes;
    fiber->number = static_cast<unsigned>(all_.size());
    all_.push_back(std::move(fiber));
    free_.reserve(all_.size());
    free_.push_back(all_.back().get());
}

void FiberPool::restart(Fiber& fiber) {
#ifdef GRADVERIFY_SIMT_ASAN
    __asan_unpoison_memory_region(fiber.stack_begin, fiber.stack_bytes);
#endif
    const std::size_t offset = fiber.number % distinct_offsets * cache_line_bytes;
    char* top = fiber.stack_begin + fiber.stack_bytes - offset;
    fiber.context = boost::context::detail::make_fcontext(top, fiber.stack_bytes - offset, begin);
    fiber.abandoned = false;
    starting = {&fiber, main_};
}

bool is_stack_guard(const void* address) noexcept {
    const auto* at = static_cast<const char*>(address);
    for (std::size_t i = 0; i < guard_count.load() && i < max_guards; ++i) {
        const char* guard = guards[i].load();
        if (guard != nullptr && at >= guard && at < guard + guard_bytes) return true;
    }
    return false;
}

}  // namespace gradverify::simt
