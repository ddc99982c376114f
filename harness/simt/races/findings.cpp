// SPDX-License-Identifier: Apache-2.0
#include "harness/simt/races/findings.hpp"

#include <algorithm>
#include <utility>

#include "harness/simt/faults/source_line.hpp"
#include "harness/simt/runtime/mapping.hpp"

namespace gradverify::simt {
namespace {

// One launch with a wrong index has its lines in a few findings; more are no help to anyone.
constexpr std::size_t findings_kept = 64;
constexpr std::uintptr_t near_bytes = 4096;

std::string element(const MemoryNames::Range& range, std::int64_t offset_bytes) {
    if (range.element_bytes == 0)
        return "byte " + std::to_string(offset_bytes) + " of " + range.name;
    const auto size = static_cast<std::int64_t>(range.element_bytes);
    // Rounds towards minus infinity: the byte before the first is of element -1.
    const std::int64_t index = (offset_bytes - (offset_bytes < 0 ? size - 1 : 0)) / size;
    return range.name + "[" + std::to_string(index) + "]";
}

}  // namespace

void MemoryNames::add(Range range) {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), range.begin,
                         [](std::uintptr_t at, const Range& other) { return at < other.begin; });
    ranges_.insert(after, std::move(range));
}

std::string MemoryNames::of(std::uintptr_t address) const {
    const Range* nearest = nullptr;
    std::uintptr_t distance = near_bytes;
    for (const Range& range : ranges_) {
        if (address >= range.begin && address < range.begin + range.bytes) {
            if (range.element_bytes == range.bytes) return range.name;
            return element(range, static_cast<std::int64_t>(address - range.begin));
        }
        const std::uintptr_t away = address < range.begin
                                        ? range.begin - address
                                        : address - (range.begin + range.bytes) + 1;
        if (away >= distance) continue;
        distance = away;
        nearest = &range;
    }
    if (nearest == nullptr) return "";
    const bool is_bytes = nearest->element_bytes == 0;
    const std::size_t units = is_bytes ? nearest->bytes : nearest->bytes / nearest->element_bytes;
    return element(*nearest, static_cast<std::int64_t>(address - nearest->begin)) + ", but " +
           nearest->name + " has " + std::to_string(units) + (is_bytes ? " byte" : " element") +
           (units == 1 ? "" : "s");
}

bool Findings::is_new(Subject subject) {
    if (found_.size() >= findings_kept) return false;
    if (subject.second_line < subject.first_line) subject.first_line.swap(subject.second_line);
    return known_
        .emplace(subject.kind, std::move(subject.first_line), std::move(subject.second_line))
        .second;
}

std::vector<Finding> Findings::take() {
    known_.clear();
    return std::exchange(found_, {});
}

std::string line_of(std::uint64_t return_address) {
    // The call is before it.
    std::string line = source_of(pointer_to(return_address - 1));
    return line.empty() ? "an unknown line" : line;
}

std::string line_of(unit::Place place) {
    return std::string(place.file) + ":" + std::to_string(place.line);
}

std::string text_of(const dim3& index) {
    return "(" + std::to_string(index.x) + ", " + std::to_string(index.y) + ", " +
           std::to_string(index.z) + ")";
}

}  // namespace gradverify::simt
