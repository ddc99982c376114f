// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/races/findings.hpp"

#include <utility>

#include "harness/simt/runtime/buffers.hpp"
#include "harness/simt/runtime/errors.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

// More findings help nobody.
constexpr std::size_t findings_kept = 64;
constexpr std::uintptr_t near_bytes = 4095;

}  // namespace

std::string name_of(const std::vector<NamedBuffer>& memory, std::uintptr_t address) {
    const void* const at = pointer_to(address);
    const NamedBuffer* const piece = nearest(memory, at, near_bytes);
    if (piece == nullptr) return "";
    const auto bytes = static_cast<std::size_t>(piece->end - piece->begin);
    const bool is_inside = address >= number(piece->begin) && address < number(piece->end);
    if (is_inside && piece->element_bytes == bytes) return piece->name;
    const bool is_bytes = piece->element_bytes == 0;
    std::string name =
        is_bytes ? "byte " + std::to_string(static_cast<const std::byte*>(at) - piece->begin) +
                       " of " + piece->name
                 : piece->name + "[" + std::to_string(element_of(*piece, at)) + "]";
    if (is_inside) return name;
    const std::size_t units = is_bytes ? bytes : bytes / piece->element_bytes;
    return name + ", but " + piece->name + " has " + std::to_string(units) +
           (is_bytes ? " byte" : " element") + (units == 1 ? "" : "s");
}

bool Findings::is_new(Subject subject) {
    if (found_.size() >= findings_kept) return false;
    if (subject.second_line < subject.first_line) subject.first_line.swap(subject.second_line);
    return known_.insert(std::move(subject)).second;
}

void Findings::keep(Finding finding) {
    note_error(finding.text, false);
    found_.push_back(std::move(finding));
}

std::vector<Finding> Findings::take() {
    known_.clear();
    return std::exchange(found_, {});
}

}  // namespace gradverify::simt
