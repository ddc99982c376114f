// SPDX-License-Identifier: Apache-2.0
// The sentence for a fault.
#include "harness/simt/faults/fault.hpp"
#include "harness/simt/faults/source_line.hpp"
#include "harness/simt/races/findings.hpp"
#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

// Linux maps nothing below for a process that does not ask: a field or element of a null pointer.
constexpr std::uintptr_t null_page_bytes = 65536;

/// `past the end of w, w[6] of 6`, `before the start of w, w[-1]`, `in w, w[3] of 6`; "" elsewhere.
std::string element_text(const void* address) {
    const NamedBuffer* buffer = nearest(named_buffers(), address, unmapped_zone_bytes);
    if (buffer == nullptr) return "";
    const std::int64_t element = element_of(*buffer, address);
    const auto elements = static_cast<std::int64_t>(buffer->end - buffer->begin) /
                          static_cast<std::int64_t>(buffer->element_bytes);
    const std::string& name = buffer->name;
    const std::string at = name + "[" + std::to_string(element) + "]";
    if (element < 0) return "before the start of " + name + ", " + at;
    return (element < elements ? "in " : "past the end of ") + name + ", " + at + " of " +
           std::to_string(elements);
}

}  // namespace

std::string Fault::what(const std::string& shared_place) const {
    if (signal == SIGFPE) return "an integer division by zero, or one that overflows";
    if (signal == SIGILL)
        return "an instruction that the processor refuses, as after undefined code";
    if (is_without_address)
        return "a vector access at an address that is not aligned for it, or an access where no "
               "memory can be";
    const std::uintptr_t at = number(address);
    const std::string verb = access == Access::read    ? "read"
                             : access == Access::write ? "write"
                                                       : "access";
    if (at < null_page_bytes)
        return verb + " through a null pointer" + (at == 0 ? "" : ", at address " + hex_text(at));
    if (const std::string text = element_text(address); !text.empty()) return verb + " " + text;
    if (!shared_place.empty()) return verb + " " + shared_place;
    if (const std::string known = describe_address(address); !known.empty())
        return verb + " at " + known;
    return verb + " at address " + hex_text(at) + ", where no buffer is";
}

std::string Fault::source() const {
    for (std::size_t i = 0; i < frame_count; ++i) {
        std::string found = source_of(frames[i]);
        // Not in the system's libraries, as in memset.
        if (!found.empty() && !found.starts_with("/usr/")) return found;
    }
    return "";
}

}  // namespace gradverify::simt
