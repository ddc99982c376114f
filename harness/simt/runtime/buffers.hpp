// SPDX-License-Identifier: Apache-2.0
// The buffers of the running call, and which piece of named memory an address belongs to. The
// harness says where they are mapped and what they are called (simt.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

/// The nearest piece at most `within` bytes from the address (0 inside); null if there is none.
const NamedBuffer* nearest(const std::vector<NamedBuffer>& pieces, const void* address,
                           std::uintptr_t within);
/// The index of the element that an address would be in: -1 for the byte before the first.
std::int64_t element_of(const NamedBuffer& piece, const void* address);

/// `past the end of w: w[6], but w has 6 elements`, `before the start of w, w[-1]`, `in w, w[3] of
/// 6`, of the buffer that the address is in or next to; "" elsewhere.
std::string element_text(const void* address);

/// The input that any of these bytes is in; null if none is.
const NamedBuffer* input_in(const void* begin, std::size_t bytes);
/// Whether any of these bytes is in a buffer.
bool meets_buffer(const void* begin, std::size_t bytes);

/// The function object of a launch: it holds the arguments, or refers to its caller's variables.
struct LaunchBody {
    const void* begin;
    std::size_t bytes;
};
/// Whether its bytes point to a buffer, directly or by way of one variable of the caller.
bool points_to_buffers(const LaunchBody& body);

/// The last argument of `describe_buffers`, and the number of its calls.
const std::vector<NamedBuffer>& named_buffers();
std::uint64_t named_buffers_generation();

/// The allocation, or the mapping of a buffer, that meets this page; 0 bytes if none does.
DeviceAllocation find_device_memory(std::uintptr_t page_begin, std::uintptr_t page_end);

}  // namespace gradverify::simt
