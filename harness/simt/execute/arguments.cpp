// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/execute/arguments.hpp"

#include <cstring>

#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

/// What a variable of the host begins with. It may be shorter than a pointer.
[[gnu::no_sanitize_address]] std::uintptr_t first_word_at(std::uintptr_t address) {
    using Word [[gnu::may_alias, gnu::aligned(1)]] = std::uintptr_t;
    return *static_cast<const Word*>(pointer_to(address));
}

bool is_in_buffer(std::uintptr_t address) { return meets_buffer(pointer_to(address), 1); }

}  // namespace

bool LaunchBody::points_to_buffers() const {
    if (named_buffers().empty()) return false;
    const std::uintptr_t callers_begin = number(__builtin_frame_address(0));
    const std::uintptr_t stack_end = stack_of_os_thread().end;
    for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= bytes; i += alignof(void*)) {
        std::uintptr_t word = 0;
        std::memcpy(&word, static_cast<const char*>(begin) + i, sizeof word);
        if (is_in_buffer(word)) return true;
        const bool refers = word > callers_begin && word <= stack_end - sizeof word;
        if (refers && is_in_buffer(first_word_at(word))) return true;
    }
    return false;
}

}  // namespace gradverify::simt
