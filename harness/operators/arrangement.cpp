// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/arrangement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "harness/base/refuse.hpp"

namespace gradverify {
namespace {

using Row = std::span<double>;

void complete_ascending(Row row, double lowest, double highest) {
    double reached = lowest;
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (std::isnan(row[i])) row[i] = reached;
        if (row[i] < reached)
            refuse("[{}] is {}: no element may be below the one before it, {}", i, row[i], reached);
        reached = row[i];
    }
    if (reached > highest) refuse("[{}] is {}, above {}", row.size() - 1, reached, highest);
}

void complete_offsets(Row row, double lowest, double highest) {
    if (row.empty()) return;
    for (const auto& [end, value] : {std::pair(&row.front(), lowest), {&row.back(), highest}}) {
        if (std::isnan(*end)) *end = value;
        if (*end != value)
            refuse("[{}] is {}: offsets begin at {} and end at {}", end - row.data(), *end, lowest,
                   highest);
    }
    complete_ascending(row, lowest, highest);
}

void complete_distinct(Row row, double lowest) {
    std::set<double> taken;
    for (std::size_t i = 0; i < row.size(); ++i)
        if (!std::isnan(row[i]) && !taken.insert(row[i]).second)
            refuse("[{}] is {}, like one before it: all must differ", i, row[i]);
    const auto take = [&](double& element, double value) {
        if (taken.insert(value).second) element = value;
    };
    for (std::size_t i = 0; i < row.size(); ++i)
        if (std::isnan(row[i])) take(row[i], lowest + static_cast<double>(i));
    double next = lowest;
    for (double& element : row)
        for (; std::isnan(element); ++next) take(element, next);
}

}  // namespace

std::optional<std::string> why_not_arranged(Arrangement arrangement, std::int64_t row,
                                            const ValueDomain& range) {
    const double numbers = range.highest - range.lowest + 1.0;
    if (arrangement == Arrangement::distinct && static_cast<double>(row) > numbers)
        return fmt::format("{} elements can't be distinct numbers of {}", row, numbers);
    if (arrangement == Arrangement::permutation && static_cast<double>(row) != numbers)
        return fmt::format("{} elements can't be a permutation of {} numbers", row, numbers);
    if (arrangement == Arrangement::offsets && row < 2 && numbers != 1.0)
        return fmt::format("offsets from {} to {} are two elements or more, one more than parts",
                           range.lowest, range.highest);
    return std::nullopt;
}

void complete(Array<double>& array, Arrangement arrangement, const ValueDomain& range) {
    if (array.data.empty()) return;
    const auto length = static_cast<std::size_t>(array.sizes.empty() ? 1 : array.sizes.back());
    for (std::size_t begin = 0; begin < array.data.size(); begin += length) {
        const Row row(array.data.data() + begin, length);
        switch (arrangement) {
            case Arrangement::free:
                std::ranges::replace_if(
                    row, [](double value) { return std::isnan(value); },
                    std::clamp(0.0, range.lowest, range.highest));
                break;
            case Arrangement::ascending:
                complete_ascending(row, range.lowest, range.highest);
                break;
            case Arrangement::distinct:
            case Arrangement::permutation:
                complete_distinct(row, range.lowest);
                break;
            case Arrangement::offsets:
                complete_offsets(row, range.lowest, range.highest);
                break;
        }
    }
}

}  // namespace gradverify
