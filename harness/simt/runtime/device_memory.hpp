// SPDX-License-Identifier: Apache-2.0
// Which allocation of device memory an address belongs to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradverify::simt {

/// The bytes that `allocate_device` gave: as many as were asked for.
struct DeviceAllocation {
    const char* begin = nullptr;
    std::size_t bytes = 0;  ///< 0: there is none
};
/// The allocation whose mapping meets this page.
DeviceAllocation find_allocation(std::uintptr_t page_begin, std::uintptr_t page_end);

/// Sets the protection of all that is not managed memory; their number.
std::size_t protect_allocations(int protection);

/// Names the guard of a stack of this OS thread's kernels, or a page beside an allocation; else "".
const char* describe_address(const void* address);

/// Changes with each allocation and each release.
std::uint64_t device_memory_generation();

}  // namespace gradverify::simt
