// SPDX-License-Identifier: Apache-2.0
// A slot has a mapping for each power of two of pages that it ever needed: in a larger mapping a
// stray access beyond a small buffer would go unseen.
#include "harness/simt/runtime/buffers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>

#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

/// A fault further away than this is not told as one of a buffer: it may be any buffer's.
constexpr std::uintptr_t near_bytes = std::uintptr_t{1} << 20;

class Slot {
  public:
    std::byte* region(std::size_t bytes, Edge edge) {
        const std::size_t pages = round_up(bytes, page_size_bytes()) / page_size_bytes();
        const auto which = static_cast<std::size_t>(std::bit_width(pages == 0 ? 0 : pages - 1));
        if (which >= mappings_.size()) return nullptr;
        Mapping& mapping = mappings_[which];
        const std::size_t mapped = page_size_bytes() << which;
        if (!mapping) mapping = map_guarded(mapped, unmapped_zone_bytes);
        if (!mapping) mapping = map_guarded(mapped);  // where addresses are limited
        if (!mapping) return nullptr;
        const std::size_t before = edge == Edge::end ? mapped - bytes : 0;
        return reinterpret_cast<std::byte*>(mapping.get() + before);
    }

    DeviceAllocation find(std::uintptr_t page_begin, std::uintptr_t page_end) const {
        for (const Mapping& mapping : mappings_) {
            if (range_of(mapping).meets(page_begin, page_end))
                return {mapping.get(), mapping.get_deleter().bytes};
        }
        return {};
    }

  private:
    std::array<Mapping, 28> mappings_{};  // 2^27 pages are more than the device has
};

struct Buffers {
    std::vector<Slot> slots;
    std::vector<NamedBuffer> named;
    std::uint64_t generation = 0;
};

Buffers& buffers() {
    static auto* const all = new Buffers;  // never destroyed: a thread may outlive it
    return *all;
}

/// Bytes between an address and a piece of memory; 0 inside.
std::uintptr_t distance(std::uintptr_t at, const NamedBuffer& piece) {
    if (at < number(piece.begin)) return number(piece.begin) - at;
    return at < number(piece.end) ? 0 : at - number(piece.end) + 1;
}

/// The first bytes of a host variable, which may be shorter than a pointer.
[[gnu::no_sanitize_address]] std::uintptr_t first_word_at(std::uintptr_t address) {
    using Word [[gnu::may_alias, gnu::aligned(1)]] = std::uintptr_t;
    return *static_cast<const Word*>(pointer_to(address));
}

/// Whether bytes from an address on, of whatever lies there, overlap a buffer.
bool meets(const NamedBuffer& buffer, std::uintptr_t first, std::size_t bytes) {
    return first < number(buffer.end) && number(buffer.begin) < first + bytes;
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

const NamedBuffer* input_in(const void* begin, std::size_t bytes) {
    for (const NamedBuffer& buffer : buffers().named)
        if (buffer.is_input && meets(buffer, number(begin), bytes)) return &buffer;
    return nullptr;
}

bool meets_buffer(const void* begin, std::size_t bytes) {
    return std::ranges::any_of(buffers().named, [&](const NamedBuffer& buffer) {
        return meets(buffer, number(begin), bytes);
    });
}

bool points_to_buffers(const LaunchBody& body) {
    if (named_buffers().empty()) return false;
    const auto is_in_buffer = [](std::uintptr_t at) { return meets_buffer(pointer_to(at), 1); };
    const std::uintptr_t callers_begin = number(__builtin_frame_address(0));
    const std::uintptr_t stack_end = stack_of_os_thread().end;
    for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= body.bytes; i += alignof(void*)) {
        std::uintptr_t word = 0;
        std::memcpy(&word, static_cast<const char*>(body.begin) + i, sizeof word);
        if (is_in_buffer(word)) return true;
        const bool refers = word > callers_begin && word <= stack_end - sizeof word;
        if (refers && is_in_buffer(first_word_at(word))) return true;
    }
    return false;
}

const std::vector<NamedBuffer>& named_buffers() { return buffers().named; }
std::uint64_t named_buffers_generation() { return buffers().generation; }

DeviceAllocation find_device_memory(std::uintptr_t page_begin, std::uintptr_t page_end) {
    DeviceAllocation found = find_allocation(page_begin, page_end);
    for (const Slot& slot : buffers().slots)
        if (found.bytes == 0) found = slot.find(page_begin, page_end);
    return found;
}

const NamedBuffer* nearest(const std::vector<NamedBuffer>& pieces, const void* address,
                           std::uintptr_t within) {
    const NamedBuffer* found = nullptr;
    for (const NamedBuffer& piece : pieces) {
        const std::uintptr_t away = distance(number(address), piece);
        if (away > within || (found != nullptr && away == within)) continue;
        within = away;
        found = &piece;
    }
    return found;
}

std::int64_t element_of(const NamedBuffer& piece, const void* address) {
    const auto bytes = static_cast<std::int64_t>(piece.element_bytes);
    const auto offset = static_cast<std::int64_t>(number(address) - number(piece.begin));
    return (offset - (offset < 0 ? bytes - 1 : 0)) / bytes;
}

std::string element_text(const void* address) {
    const NamedBuffer* buffer = nearest(named_buffers(), address, near_bytes);
    if (buffer == nullptr) return "";
    const std::int64_t element = element_of(*buffer, address);
    const auto elements = static_cast<std::int64_t>(buffer->end - buffer->begin) /
                          static_cast<std::int64_t>(buffer->element_bytes);
    const std::string& name = buffer->name;
    const std::string at = name + "[" + std::to_string(element) + "]";
    if (element < 0) return "before the start of " + name + ", " + at;
    const std::string count = std::to_string(elements);
    if (element < elements) return "in " + name + ", " + at + " of " + count;
    return "past the end of " + name + ": " + at + ", but " + name + " has " + count + " element" +
           (elements == 1 ? "" : "s");
}

}  // namespace gradverify::simt
