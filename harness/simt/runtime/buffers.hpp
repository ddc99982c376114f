// SPDX-License-Identifier: Apache-2.0
// The buffers of the call at hand, and which piece of named memory an address belongs to. Where
// they are mapped, and what they are called, the harness says (simt.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {

/// The piece that holds the address, or else the nearest one that is at most `within` bytes away;
/// null if there is none.
const NamedBuffer* nearest(const std::vector<NamedBuffer>& pieces, const void* address,
                           std::uintptr_t within);
/// Which of its elements an address would be in: -1 for the byte before the first.
std::int64_t element_of(const NamedBuffer& piece, const void* address);

/// Whether any of these bytes is in a buffer.
bool meets_buffer(const void* begin, std::size_t bytes);

/// What a launch's threads run: a function object that holds the arguments, or refers to variables
/// of its caller that do.
struct LaunchBody {
    const void* begin;
    std::size_t bytes;
};
/// Whether its bytes point to a buffer, directly or by a variable of the caller; no further.
bool points_to_buffers(const LaunchBody& body);

/// What `describe_buffers` was told last on this OS thread, and how often it was told.
const std::vector<NamedBuffer>& named_buffers();
std::uint64_t named_buffers_generation();

/// What meets this page: an allocation, or the mapping of a buffer; 0 bytes if none does.
DeviceAllocation find_device_memory(std::uintptr_t page_begin, std::uintptr_t page_end);

}  // namespace gradverify::simt
