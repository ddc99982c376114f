// SPDX-License-Identifier: Apache-2.0
// Device memory: each allocation in a mapping of its own between unmapped pages, so that a stray
// access faults at once and cannot reach the executor.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "harness/simt/runtime/device_limits.hpp"
#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/runtime/host_access.hpp"
#include "harness/simt/runtime/mapping.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {
namespace {

constexpr std::size_t alignment_bytes = 256;  // what cudaMalloc promises

struct Block {
    Mapping mapping;
    std::size_t bytes;  ///< asked for
    bool is_managed;
};

struct DeviceMemory {
    std::mutex mutex;
    std::map<void*, Block> in_use;
    std::size_t bytes_in_use = 0;
    std::atomic<std::uint64_t> generation{1};
    // Shows a read of unwritten memory, by default as NaN.
    std::atomic<std::uint32_t> fill{~std::uint32_t{0}};
};

// Never destroyed: units may free device memory in static destructors.
DeviceMemory& device_memory() {
    static auto* memory = new DeviceMemory;
    return *memory;
}

}  // namespace

void* allocate_device(std::size_t bytes, bool is_managed) {
    DeviceMemory& memory = device_memory();
    const std::scoped_lock lock(memory.mutex);
    if (bytes > device_memory_bytes - memory.bytes_in_use) return nullptr;
    const std::size_t payload = round_up(bytes == 0 ? 1 : bytes, alignment_bytes);
    Mapping mapping = map_guarded(payload);
    if (!mapping) return nullptr;
    const std::size_t mapping_bytes = mapping.get_deleter().bytes;
    char* pointer = mapping.get() + mapping_bytes - payload;
    std::fill_n(reinterpret_cast<std::uint32_t*>(mapping.get()),
                mapping_bytes / sizeof(std::uint32_t), memory.fill.load());
    if (!is_managed && is_device_memory_closed()) mprotect(mapping.get(), mapping_bytes, PROT_NONE);
    memory.in_use[pointer] = {std::move(mapping), bytes, is_managed};
    ++memory.generation;
    memory.bytes_in_use += mapping_bytes;
    return pointer;
}

void fill_allocations_with(std::uint32_t word) { device_memory().fill = word; }

bool free_device(void* pointer) {
    if (pointer == nullptr) return true;
    DeviceMemory& memory = device_memory();
    const std::scoped_lock lock(memory.mutex);
    const auto found = memory.in_use.find(pointer);
    if (found == memory.in_use.end()) return false;
    memory.bytes_in_use -= found->second.mapping.get_deleter().bytes;
    memory.in_use.erase(found);
    ++memory.generation;
    return true;
}

DeviceAllocation find_allocation(std::uintptr_t page_begin, std::uintptr_t page_end) {
    DeviceMemory& memory = device_memory();
    const std::scoped_lock lock(memory.mutex);
    for (const auto& [pointer, block] : memory.in_use)
        if (range_of(block.mapping).meets(page_begin, page_end))
            return {static_cast<const char*>(pointer), std::max<std::size_t>(block.bytes, 1)};
    return {};
}

std::size_t protect_allocations(int protection) {
    DeviceMemory& memory = device_memory();
    const std::scoped_lock lock(memory.mutex);
    std::size_t count = 0;
    for (const auto& [pointer, block] : memory.in_use) {
        if (block.is_managed) continue;
        mprotect(block.mapping.get(), block.mapping.get_deleter().bytes, protection);
        ++count;
    }
    return count;
}

std::uint64_t device_memory_generation() { return device_memory().generation; }

const char* describe_address(const void* address) {
    DeviceMemory& memory = device_memory();
    const std::scoped_lock lock(memory.mutex);
    const std::uintptr_t at = number(address);
    for (const auto& [pointer, block] : memory.in_use) {
        const auto [begin, end] = range_of(block.mapping);
        if (at >= end && at < end + page_size_bytes())
            return "the unmapped page after a device allocation";
        if (at >= begin - page_size_bytes() && at < begin)
            return "the unmapped page before a device allocation";
    }
    return "";
}

}  // namespace gradverify::simt
