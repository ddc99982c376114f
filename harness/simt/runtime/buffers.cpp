// SPDX-License-Identifier: Apache-2.0
// A slot has a mapping for each power of two of pages that it ever needed, so that a small buffer
// never lies in a large mapping, where a stray access far off would go unseen.
#include "harness/simt/runtime/buffers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <utility>

#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

class Slot {
  public:
    Slot() = default;
    Slot(Slot&& other) noexcept : mappings_(std::exchange(other.mappings_, {})) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
        for (std::size_t i = 0; i < mappings_.size(); ++i)
            if (mappings_[i] != nullptr)
                unmap_guarded(mappings_[i], bytes_of(i), unmapped_zone_bytes);
    }

    std::byte* region(std::size_t bytes, Edge edge) {
        const std::size_t pages = round_up(bytes, page_size_bytes()) / page_size_bytes();
        const auto which = static_cast<std::size_t>(std::bit_width(pages == 0 ? 0 : pages - 1));
        if (which >= mappings_.size()) return nullptr;
        char*& mapping = mappings_[which];
        if (mapping == nullptr) mapping = map_guarded(bytes_of(which), unmapped_zone_bytes);
        if (mapping == nullptr) return nullptr;
        const std::size_t before = edge == Edge::end ? bytes_of(which) - bytes : 0;
        return reinterpret_cast<std::byte*>(mapping + before);
    }

    DeviceAllocation find(std::uintptr_t page_begin, std::uintptr_t page_end) const {
        for (std::size_t i = 0; i < mappings_.size(); ++i) {
            if (mappings_[i] == nullptr) continue;
            const auto begin = reinterpret_cast<std::uintptr_t>(mappings_[i]);
            if (begin < page_end && page_begin < begin + bytes_of(i))
                return {mappings_[i], bytes_of(i)};
        }
        return {};
    }

  private:
    static std::size_t bytes_of(std::size_t which) { return page_size_bytes() << which; }

    std::array<char*, 28> mappings_{};  // 2^27 pages are more than the device has
};

struct Buffers {
    std::vector<Slot> slots;
    std::vector<NamedBuffer> named;
    std::uint64_t generation = 0;
};

Buffers& buffers() {
    thread_local Buffers all;
    return all;
}

/// Bytes between an address and a buffer; 0 inside.
std::uintptr_t distance(std::uintptr_t at, const NamedBuffer& buffer) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer.begin);
    const auto end = reinterpret_cast<std::uintptr_t>(buffer.end);
    if (at < begin) return begin - at;
    return at < end ? 0 : at - end + 1;
}

}  // namespace

std::byte* buffer_region(std::size_t slot, std::size_t bytes, Edge edge) {
    std::vector<Slot>& slots = buffers().slots;
    if (slot >= slots.size()) slots.resize(slot + 1);
    return slots[slot].region(bytes, edge);
}

void describe_buffers(std::vector<NamedBuffer> named) {
    buffers().named = std::move(named);
    ++buffers().generation;
}

bool meets_buffer(const void* begin, std::size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(begin);
    return std::ranges::any_of(buffers().named, [&](const NamedBuffer& buffer) {
        return std::less<>()(first, buffer.end) && std::less<>()(buffer.begin, first + bytes);
    });
}

const std::vector<NamedBuffer>& named_buffers() { return buffers().named; }
std::uint64_t named_buffers_generation() { return buffers().generation; }

DeviceAllocation find_region(std::uintptr_t page_begin, std::uintptr_t page_end) {
    for (const Slot& slot : buffers().slots)
        if (const DeviceAllocation found = slot.find(page_begin, page_end); found.bytes > 0)
            return found;
    return {};
}

std::optional<ElementAddress> element_at(const void* address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const NamedBuffer* nearest = nullptr;
    for (const NamedBuffer& buffer : buffers().named)
        if (nearest == nullptr || distance(at, buffer) < distance(at, *nearest)) nearest = &buffer;
    if (nearest == nullptr || distance(at, *nearest) > unmapped_zone_bytes) return std::nullopt;
    const auto bytes = static_cast<std::int64_t>(nearest->element_bytes);
    const auto from_begin =
        static_cast<std::int64_t>(at - reinterpret_cast<std::uintptr_t>(nearest->begin));
    // Towards minus infinity, so that the byte before the start is of element -1.
    const std::int64_t element = (from_begin - (from_begin < 0 ? bytes - 1 : 0)) / bytes;
    return ElementAddress{nearest, element, (nearest->end - nearest->begin) / bytes};
}

std::string ElementAddress::print() const {
    const std::string& name = buffer->name;
    const std::string at = name + "[" + std::to_string(element) + "]";
    if (element < 0) return "before the start of " + name + ", " + at;
    return (element < elements ? "in " : "past the end of ") + name + ", " + at + " of " +
           std::to_string(elements);
}

}  // namespace gradverify::simt
