// SPDX-License-Identifier: Apache-2.0
// A mapping between unmapped addresses. Decides neither contents nor who owns it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradverify::simt {

std::size_t page_size_bytes() noexcept;
std::size_t round_up(std::size_t bytes, std::size_t multiple) noexcept;

/// The detector computes with addresses, which its compiled callers gave as pointers.
inline const void* pointer_to(std::uintptr_t address) {
    return reinterpret_cast<const void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// At least `bytes` of zeroed memory, from a page's start to a page's end, with `zone_bytes` of
/// unmapped addresses on either side (at least a page); nullptr when there is not so much.
char* map_guarded(std::size_t bytes, std::size_t zone_bytes = 0) noexcept;
/// Of `map_guarded`, with what was given to it.
void unmap_guarded(char* mapping, std::size_t bytes, std::size_t zone_bytes = 0) noexcept;

}  // namespace gradverify::simt
