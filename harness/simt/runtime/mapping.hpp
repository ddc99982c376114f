// SPDX-License-Identifier: Apache-2.0
// Addresses as numbers, the stack of this OS thread, and mappings between unmapped addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gradverify::simt {

std::size_t page_size_bytes() noexcept;
std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept;

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

struct Unmap {
    std::size_t bytes = 0, zone_bytes = 0;  ///< whole pages
    void operator()(char* begin) const noexcept;
};
using Mapping = std::unique_ptr<char, Unmap>;
/// What is mapped between the zones.
inline AddressRange range_of(const Mapping& mapping) {
    const std::uintptr_t begin = number(mapping.get());
    return {begin, begin + mapping.get_deleter().bytes};
}
/// At least `bytes` of zeroed memory, from a page's start to a page's end, with `zone_bytes` of
/// unmapped addresses on either side (at least a page); null when there is not enough.
Mapping map_guarded(std::size_t bytes, std::size_t zone_bytes = 0) noexcept;

}  // namespace gradverify::simt
