// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/runtime/mapping.hpp"

#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <unistd.h>

namespace gradverify::simt {

std::size_t page_size_bytes() noexcept {
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept {
    return (bytes + multiple - 1) / multiple * multiple;
}

AddressRange stack_of_os_thread() {
    static thread_local const AddressRange stack = [] {
        pthread_attr_t attributes;
        void* begin = nullptr;
        std::size_t bytes = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) return AddressRange{};
        pthread_attr_getstack(&attributes, &begin, &bytes);
        pthread_attr_destroy(&attributes);
        return AddressRange{number(begin), number(begin) + bytes};
    }();
    return stack;
}

Mapping map_guarded(std::size_t bytes, std::size_t zone_bytes) noexcept {
    const std::size_t zone = round_up(zone_bytes == 0 ? 1 : zone_bytes, page_size_bytes());
    const std::size_t inner = round_up(bytes, page_size_bytes());
    void* mapping = mmap(nullptr, inner + 2 * zone, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    char* begin = static_cast<char*>(mapping) + zone;
    if (inner > 0 && mprotect(begin, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(mapping, inner + 2 * zone);
        return nullptr;
    }
    // Else each change of protection would join these pages with the zones, or part them, which
    // takes four times as long.
    madvise(begin, inner, MADV_DONTDUMP);
    // The address sanitizer may still know frames of a stack that lay here.
    ASAN_UNPOISON_MEMORY_REGION(begin, inner);
    return Mapping(begin, Unmap{inner, zone});
}

void Unmap::operator()(char* begin) const noexcept {
    munmap(begin - zone_bytes, bytes + 2 * zone_bytes);
}

}  // namespace gradverify::simt
