// SPDX-License-Identifier: Apache-2.0
// What the executor itself asks of device memory: which allocation an address belongs to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradverify::simt {

/// As `allocate_device` gave it: from the pointer on, as many bytes as were asked for.
struct DeviceAllocation {
    const char* begin = nullptr;
    std::size_t bytes = 0;  ///< 0: there is none
};
/// The allocation whose mapping meets this page.
DeviceAllocation find_allocation(std::uintptr_t page_begin, std::uintptr_t page_end);

/// What lies at this address: an overflowed stack of this OS thread's kernels, or a page beside an
/// allocation; "" if neither.
const char* describe_address(const void* address);

/// Another number after each allocation and each release.
std::uint64_t device_memory_generation();

}  // namespace gradverify::simt
