// SPDX-License-Identifier: Apache-2.0
// Stacks are reserved and touched lazily.
#include "harness/simt/execute/fiber.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <span>

namespace gradverify::simt {
namespace {

// 64 KiB overflowed on a kernel with a large local array. Without the odd page, the tops of stacks
// compete for few entries of the TLB (512 threads up to 2 times slower).
constexpr std::size_t odd_page_bytes = 4096;
#ifdef GRADVERIFY_SIMT_ASAN
constexpr std::size_t stack_bytes =
    std::size_t{1024} * 1024 + odd_page_bytes;  // red zones make frames larger
#else
constexpr std::size_t stack_bytes = std::size_t{256} * 1024 + odd_page_bytes;
#endif
// Tops of stacks at one offset in every page share cache sets: up to 1.6 times slower.
constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t distinct_offsets = 64;

// A multiple of every page size. A frame larger than the guard could step over it.
constexpr std::size_t guard_bytes = std::size_t{64} * 1024;

#ifdef GRADVERIFY_SIMT_ASAN
thread_local Fiber* left = nullptr;
#endif

// The arguments of a fiber that begins.
struct Start {
    Fiber* fiber;
    FiberPool::Main main;
};
thread_local Start starting;

void begin() {
    const Start start = starting;
    arrived(*start.fiber);
    start.main();
    std::terminate();
}

char* make_stack() {
    void* mapping = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    auto* guard = static_cast<char*>(mapping);
    mprotect(guard, guard_bytes, PROT_NONE);
    return guard + guard_bytes;
}

}  // namespace

#ifdef GRADVERIFY_SIMT_ASAN
void leaving(Fiber& from, Fiber& to) {
    left = &from;
    __sanitizer_start_switch_fiber(&from.sanitizer_stack, to.stack_begin, to.stack_bytes);
}

// The sanitizer alone knows where the OS thread's own stack lies.
void arrived(Fiber& self) {
    __sanitizer_finish_switch_fiber(self.sanitizer_stack, &left->stack_begin, &left->stack_bytes);
}
#endif

FiberPool::FiberPool(Main main) : main_(main), fibers_(std::make_unique<Fiber[]>(capacity)) {
    free_.fill(~std::uint64_t{0});
}

FiberPool::~FiberPool() {
    for (char* stack : stacks_) {
        if (stack == nullptr) continue;
        munmap(stack - guard_bytes, stack_bytes + guard_bytes);
    }
}

void FiberPool::prepare_next() {
    Fiber& fiber = next();
    const auto number = static_cast<std::size_t>(&fiber - fibers_.get());
    char*& stack = stacks_[number];
    if (stack == nullptr) stack = make_stack();
    stacks_end_ = std::max(stacks_end_, number + 1);
#ifdef GRADVERIFY_SIMT_ASAN
    __asan_unpoison_memory_region(stack, stack_bytes);
    fiber.stack_begin = stack;
    fiber.stack_bytes = stack_bytes;
    fiber.sanitizer_stack = nullptr;
#endif
    const std::size_t used = stack_bytes - number % distinct_offsets * cache_line_bytes;
    fiber.stopped_at = prepare_stack(stack + used, &begin);
    starting = {&fiber, main_};
}

bool FiberPool::has_stack(const void* address) const {
    return is_at_stack(address, 0, stack_bytes);
}
bool FiberPool::has_guard(const void* address) const {
    return is_at_stack(address, -std::ptrdiff_t{guard_bytes}, 0);
}

bool FiberPool::is_at_stack(const void* address, std::ptrdiff_t begin, std::ptrdiff_t end) const {
    const auto* at = static_cast<const char*>(address);
    return std::ranges::any_of(std::span(stacks_).first(stacks_end_), [&](const char* stack) {
        return stack != nullptr && at >= stack + begin && at < stack + end;
    });
}

}  // namespace gradverify::simt
