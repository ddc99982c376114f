// SPDX-License-Identifier: Apache-2.0
// Device memory: each allocation in a mapping of its own between unmapped pages, so that a stray
// access faults at once and cannot reach the executor. Freed mappings are kept for the next call.
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "harness/simt/execute/fiber.hpp"
#include "harness/simt/runtime/device_limits.hpp"
#include "harness/simt/runtime/device_memory.hpp"
#include "harness/simt/runtime/mapping.hpp"
#include "harness/simt/simt.hpp"

namespace gradverify::simt {
namespace {

constexpr std::size_t alignment_bytes = 256;  // what cudaMalloc promises
constexpr int poison_byte = 0xff;             // NaN: a read of what nobody wrote shows
// Launchers that allocate and free on each call should not pay for a mapping each time.
constexpr std::size_t kept_bytes_limit = std::size_t{64} << 20;

struct Block {
    char* mapping;
    std::size_t mapping_bytes;
    std::size_t bytes;  ///< asked for
};

struct DeviceMemory {
    std::mutex mutex;
    std::map<void*, Block> in_use;
    std::multimap<std::size_t, char*> kept;
    std::size_t bytes_in_use = 0, bytes_kept = 0;
    std::atomic<std::uint64_t> generation{1};
};

// Never destroyed: units may free device memory in static destructors.
DeviceMemory& device_memory() {
    static auto* memory = new DeviceMemory;
    return *memory;
}

// The guards of live allocations, for a signal handler; the first thousands are enough for it.
constexpr std::size_t max_described = 4096;
struct Described {
    std::atomic<const char*> begin{nullptr};
    std::atomic<std::size_t> bytes{0};
};
std::array<Described, max_described> described;

void describe(const char* begin, std::size_t bytes) {
    for (Described& entry : described) {
        const char* expected = nullptr;
        if (entry.begin.load() == nullptr && entry.begin.compare_exchange_strong(expected, begin)) {
            entry.bytes.store(bytes);
            return;
        }
    }
}

void forget(const char* begin) {
    for (Described& entry : described) {
        if (entry.begin.load() == begin) entry.begin.store(nullptr);
    }
}

}  // namespace

void* allocate_device(std::size_t bytes) {
    DeviceMemory& memory = device_memory();
    const std::scoped_lock lock(memory.mutex);
    if (bytes > device_memory_bytes - memory.bytes_in_use) return nullptr;
    const std::size_t payload = round_up(bytes == 0 ? 1 : bytes, alignment_bytes);
    const std::size_t mapping_bytes = round_up(payload, page_size_bytes());
    char* mapping = nullptr;
    if (const auto found = memory.kept.find(mapping_bytes); found != memory.kept.end()) {
        mapping = found->second;
        memory.bytes_kept -= mapping_bytes;
        memory.kept.erase(found);
    } else {
        mapping = map_guarded(mapping_bytes);
    }
    if (mapping == nullptr) return nullptr;
    char* pointer = mapping + mapping_bytes - payload;
    std::memset(mapping, poison_byte, mapping_bytes);
    memory.in_use[pointer] = {mapping, mapping_bytes, bytes};
    ++memory.generation;
    memory.bytes_in_use += mapping_bytes;
    describe(mapping, mapping_bytes);
    return pointer;
}

bool free_device(void* pointer) {
    if (pointer == nullptr) return true;
    DeviceMemory& memory = device_memory();
    const std::scoped_lock lock(memory.mutex);
    const auto found = memory.in_use.find(pointer);
    if (found == memory.in_use.end()) return false;
    const Block block = found->second;
    memory.in_use.erase(found);
    ++memory.generation;
    memory.bytes_in_use -= block.mapping_bytes;
    forget(block.mapping);
    if (memory.bytes_kept + block.mapping_bytes <= kept_bytes_limit) {
        memory.kept.emplace(block.mapping_bytes, block.mapping);
        memory.bytes_kept += block.mapping_bytes;
    } else {
        unmap_guarded(block.mapping, block.mapping_bytes);
    }
    return true;
}

DeviceAllocation find_allocation(std::uintptr_t page_begin, std::uintptr_t page_end) {
    DeviceMemory& memory = device_memory();
    const std::scoped_lock lock(memory.mutex);
    // No two allocations share a page, and none begins in its mapping's last page but one's own.
    auto after = memory.in_use.lower_bound(const_cast<void*>(pointer_to(page_end)));
    for (int candidates = 0; candidates < 2; ++candidates) {
        if (after != memory.in_use.end()) {
            const auto& [pointer, block] = *after;
            const auto mapping = reinterpret_cast<std::uintptr_t>(block.mapping);
            if (mapping < page_end && page_begin < mapping + block.mapping_bytes) {
                return {static_cast<const char*>(pointer), block.bytes == 0 ? 1 : block.bytes};
            }
        }
        if (after == memory.in_use.begin()) break;
        --after;
    }
    return {};
}

std::uint64_t device_memory_generation() { return device_memory().generation; }

const char* describe_address(const void* address) noexcept {
    if (is_stack_guard(address)) return "the stack of a device thread overflowed";
    const auto* at = static_cast<const char*>(address);
    const std::size_t page = page_size_bytes();
    for (const Described& entry : described) {
        const char* begin = entry.begin.load();
        if (begin == nullptr) continue;
        const char* end = begin + entry.bytes.load();
        if (at >= end && at < end + page) return "the unmapped page after a device allocation";
        if (at >= begin - page && at < begin) {
            return "the unmapped page before a device allocation";
        }
    }
    return "";
}

}  // namespace gradverify::simt
