// SPDX-License-Identifier: Apache-2.0
// The buffers of the call at hand: which of them an address belongs to, and which element of it
// that would be. Where they are mapped, and what they are called, the harness says (simt.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

/// An address by way of a buffer: in it, or near enough to be meant as its element.
struct ElementAddress {
    const NamedBuffer* buffer = nullptr;  ///< until the next `describe_buffers`
    std::int64_t element = 0;             ///< negative before the start
    std::int64_t elements = 0;            ///< of the buffer

    /// `past the end of w, w[6] of 6`, `before the start of w, w[-1]` or `in w, w[3] of 6`
    std::string print() const;
};

/// The nearest buffer, if its end is less than `unmapped_zone_bytes` away.
std::optional<ElementAddress> element_at(const void* address);

/// Whether any of these bytes is in a buffer.
bool meets_buffer(const void* begin, std::size_t bytes);

/// What `describe_buffers` was told last on this OS thread, and how often it was told.
const std::vector<NamedBuffer>& named_buffers();
std::uint64_t named_buffers_generation();

/// The mapping of a buffer that meets this page: where it begins, and its bytes; 0 bytes if none.
DeviceAllocation find_region(std::uintptr_t page_begin, std::uintptr_t page_end);

}  // namespace gradverify::simt
