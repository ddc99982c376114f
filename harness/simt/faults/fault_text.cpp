// SPDX-License-Identifier: Apache-2.0
// The sentence for a fault.
#include <charconv>
#include <cstdint>

#include "harness/simt/faults/fault.hpp"
#include "harness/simt/faults/source_line.hpp"
#include "harness/simt/runtime/buffers.hpp"

namespace gradverify::simt {
namespace {

// What Linux never maps for a process that does not ask; a field or element of a null pointer.
constexpr std::uintptr_t null_page_bytes = 65536;

std::string hexadecimal(std::uintptr_t value) {
    char digits[2 * sizeof value];
    const auto result = std::to_chars(std::begin(digits), std::end(digits), value, 16);
    return "0x" + std::string(digits, result.ptr);
}

const char* text_of(Fault::Access access) {
    switch (access) {
        case Fault::Access::read:
            return "read";
        case Fault::Access::write:
            return "write";
        case Fault::Access::unknown:
            break;
    }
    return "access";
}

}  // namespace

std::string Fault::what(const std::string& shared_place) const {
    if (signal == SIGFPE) return "an integer division by zero, or one that overflows";
    if (signal == SIGILL)
        return "an instruction that the processor refuses, as after undefined code";
    if (is_without_address)
        return "a vector access at an address that is not aligned for it, or an access where no "
               "memory can be";
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const std::string verb = text_of(access);
    if (at < null_page_bytes)
        return verb + " through a null pointer" +
               (at == 0 ? "" : ", at address " + hexadecimal(at));
    if (const auto element = element_at(address)) return verb + " " + element->print();
    if (!shared_place.empty()) return verb + " " + shared_place;
    if (const std::string known = describe_address(address); !known.empty())
        return verb + " at " + known;
    return verb + " at address " + hexadecimal(at) + ", where no buffer is";
}

std::string Fault::source() const {
    for (std::size_t i = 0; i < frame_count; ++i) {
        std::string found = source_of(frames[i]);
        // Out of the system's libraries, as of memset, which have no lines of ours.
        if (!found.empty() && !found.starts_with("/usr/")) return found;
    }
    return "";
}

}  // namespace gradverify::simt
