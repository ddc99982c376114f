// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/runtime/host_copies.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "harness/simt/simt.hpp"

namespace gradverify::simt {
namespace {

struct PinnedMemory {
    std::mutex mutex;
    std::map<const std::byte*, std::size_t> bytes_from;
};
// Never destroyed: units may free pinned memory in static destructors.
PinnedMemory& pinned_memory() {
    static auto* memory = new PinnedMemory;
    return *memory;
}

}  // namespace

void pin(void* begin, std::size_t bytes) {
    PinnedMemory& memory = pinned_memory();
    const std::scoped_lock lock(memory.mutex);
    memory.bytes_from[static_cast<std::byte*>(begin)] = bytes;
    lend_to_kernels(begin, bytes);
}

void unpin(void* begin) {
    PinnedMemory& memory = pinned_memory();
    const std::scoped_lock lock(memory.mutex);
    memory.bytes_from.erase(static_cast<std::byte*>(begin));
    lend_to_kernels(begin, 0);
}

bool is_pinned(const void* address) {
    PinnedMemory& memory = pinned_memory();
    const std::scoped_lock lock(memory.mutex);
    const auto* const at = static_cast<const std::byte*>(address);
    const auto behind = memory.bytes_from.upper_bound(at);
    if (behind == memory.bytes_from.begin()) return false;
    const auto& [begin, bytes] = *std::prev(behind);
    return at < begin + bytes;
}

void HostCopies::see_as_device() {
    check_sources();
    for (Copy& copy : copies_)
        if (copy.is_to_host) copy.swap();
}

void HostCopies::see_as_host() {
    // In the opposite order, as copies may overlap.
    for (auto copy = copies_.rbegin(); copy != copies_.rend(); ++copy)
        if (copy->is_to_host) copy->swap();
    remember_sources();
}

void HostCopies::check_sources() {
    for (const Copy& copy : copies_) {
        if (copy.is_to_host || !changed_.empty() ||
            std::memcmp(copy.host, copy.bytes.data(), copy.bytes.size()) == 0)
            continue;
        changed_ = copy.name +
                   ": the host changed its source, which is pinned memory, before it waited for "
                   "the copy";
    }
}

void HostCopies::remember_sources() {
    for (Copy& copy : copies_)
        if (!copy.is_to_host) std::memcpy(copy.bytes.data(), copy.host, copy.bytes.size());
}

std::string HostCopies::take_changed() { return std::exchange(changed_, ""); }

}  // namespace gradverify::simt
