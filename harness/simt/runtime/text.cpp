// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/runtime/text.hpp"

#include <cinttypes>
#include <cstdio>

#include "harness/simt/runtime/mapping.hpp"
#include "harness/simt/runtime/source_line.hpp"

namespace gradverify::simt {

std::string line_of(std::uint64_t return_address) {
    std::string line = source_of(pointer_to(return_address - 1));
    return line.empty() ? "an unknown line" : line;
}

std::string line_of(unit::Place place) { return short_place(place.file, place.line); }

std::string text_of(const dim3& index) {
    return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
           std::to_string(index.z) + ")";
}

std::string hex_text(std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%" PRIx64, value);
    return text;
}

}  // namespace gradverify::simt
