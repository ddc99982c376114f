// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "harness/base/text.hpp"
#include "harness/cases/compare.hpp"

namespace gradverify {

namespace {

// More places along an axis than these, in no order, are no pattern.
constexpr std::size_t most_listed = 3;

using Indices = std::set<std::int64_t>;

/// By axis, the indices at which something is wrong.
std::vector<Indices> wrong_indices(const WrongMap& map) {
    std::vector<Indices> wrong(map.sizes.size());
    for (std::size_t i = 0; i < map.marks.size(); ++i) {
        if (map.marks[i] != '#') continue;
        const Sizes index = unflatten(static_cast<std::int64_t>(i), map.sizes);
        for (std::size_t axis = 0; axis < index.size(); ++axis) wrong[axis].insert(index[axis]);
    }
    return wrong;
}

std::string name_of_axis(std::size_t axis, std::size_t rank) {
    if (rank == 1) return "element";
    if (axis + 1 == rank) return "column";
    if (axis + 2 == rank) return "row";
    return fmt::format("index of axis {}", axis);
}

std::string ordinal(std::int64_t number) {
    const std::int64_t last = number % 10, teens = number % 100 / 10;
    const char* const ending = teens == 1  ? "th"
                               : last == 1 ? "st"
                               : last == 2 ? "nd"
                               : last == 3 ? "rd"
                                           : "th";
    return fmt::format("{}{}", number, ending);
}

/// The distance of each from the next; 0 where it varies.
std::int64_t step_of(const Indices& indices) {
    const std::int64_t step = *std::next(indices.begin()) - *indices.begin();
    const bool is_even = std::ranges::adjacent_find(indices, [&](std::int64_t a, std::int64_t b) {
                             return b - a != step;
                         }) == indices.end();
    return is_even ? step : 0;
}

/// Empty for all of them, nothing where they follow no rule.
std::optional<std::string> words_of(const Indices& indices, std::int64_t size,
                                    const std::string& axis) {
    const std::int64_t first = *indices.begin(), last = *indices.rbegin(),
                       count = std::ssize(indices);
    if (count == size) return "";
    if (count == 1 && last == size - 1) return "the last " + axis;
    if (count == 1 && first == 0) return "the first " + axis;
    if (count == 1) return fmt::format("{} {}", axis, first);
    const std::int64_t step = step_of(indices);
    if (step == 1 && last == size - 1) return fmt::format("every {} from {} on", axis, first);
    if (step == 1 && first == 0) return fmt::format("every {} up to {}", axis, last);
    if (step == 1) return fmt::format("every {} from {} to {}", axis, first, last);
    // Two are a period only where a third does not fit.
    if (step > 1 && first < step && last + step >= size && (count > 2 || first > 0))
        return fmt::format("every {} {} from {} on", ordinal(step), axis, first);
    if (indices.size() > most_listed) return std::nullopt;
    return fmt::format("{}s {}", axis, fmt::join(indices, ", "));
}

}  // namespace

std::string pattern_of(const WrongMap& map) {
    if (map.marks.empty() || map.wrong < 2 || map.wrong == map.total) return {};
    const std::vector<Indices> wrong = wrong_indices(map);
    std::int64_t elements = 1;
    for (const Indices& indices : wrong) elements *= std::ssize(indices);
    if (elements != map.wrong) return {};  // an index of one axis tells nothing without the others
    std::vector<std::string> axes;
    for (std::size_t axis = wrong.size(); axis-- > 0;) {
        const auto words = words_of(wrong[axis], map.sizes[axis], name_of_axis(axis, wrong.size()));
        if (!words) return {};
        if (!words->empty()) axes.push_back(*words);
    }
    return joined(axes, ", in ");
}

}  // namespace gradverify
