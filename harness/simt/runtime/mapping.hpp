// SPDX-License-Identifier: Apache-2.0
// Addresses as numbers, the stack of this OS thread, and mappings between unmapped addresses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradverify::simt {

std::size_t page_size_bytes() noexcept;
std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept;

// The detector computes with addresses, which its compiled callers gave as pointers.
inline std::uintptr_t number(const volatile void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
}
inline const void* pointer_to(std::uintptr_t address) {
    return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

struct AddressRange {
    std::uintptr_t begin = 0, end = 0;
    bool meets(std::uintptr_t other_begin, std::uintptr_t other_end) const {
        return begin < other_end && other_begin < end;
    }
};
/// Empty where the system does not say.
AddressRange stack_of_os_thread();

/// At least `bytes` of zeroed memory, from a page's start to a page's end, with `zone_bytes` of
/// unmapped addresses on either side (at least a page); nullptr when there is not so much.
char* map_guarded(std::size_t bytes, std::size_t zone_bytes = 0) noexcept;
/// Takes what `map_guarded` gave, with what was given to it.
void unmap_guarded(char* mapping, std::size_t bytes, std::size_t zone_bytes = 0) noexcept;

}  // namespace gradverify::simt
