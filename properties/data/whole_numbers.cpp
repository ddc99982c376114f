// SPDX-License-Identifier: Apache-2.0
#include "properties/data/whole_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

namespace gradverify {
namespace {

using Numbers = std::span<double>;

void fill_free(Numbers row, const ValueDomain& range, bool is_dense, SplitMix64& random) {
    const auto lowest = static_cast<std::int64_t>(range.lowest);
    const auto highest = static_cast<std::int64_t>(range.highest);
    constexpr std::int64_t most_in_turn = 4096;
    std::vector<double> left;
    for (double& element : row) {
        if (!is_dense || highest - lowest >= most_in_turn) {
            const std::uint64_t roll = random.below(8);
            const std::int64_t value = roll == 0   ? lowest
                                       : roll == 1 ? highest
                                                   : random.between(lowest, highest);
            element = static_cast<double>(value);
            continue;
        }
        if (left.empty())
            for (std::int64_t value = lowest; value <= highest; ++value)
                left.push_back(static_cast<double>(value));
        std::swap(left[random.below(left.size())], left.back());
        element = left.back();
        left.pop_back();
    }
}

double number_between(const ValueDomain& range, SplitMix64& random) {
    return static_cast<double>(random.between(static_cast<std::int64_t>(range.lowest),
                                              static_cast<std::int64_t>(range.highest)));
}

/// Floyd's sample: one number less is left to choose from for each that is chosen.
void fill_distinct(Numbers row, const ValueDomain& range, SplitMix64& random) {
    std::set<double> taken;
    ValueDomain left = range;
    left.highest -= static_cast<double>(row.size());
    for (double& element : row) {
        ++left.highest;
        element = number_between(left, random);
        if (!taken.insert(element).second) taken.insert(element = left.highest);
    }
    for (std::size_t i = row.size(); i > 1; --i) std::swap(row[i - 1], row[random.below(i)]);
}

/// The part's end where all parts are as long as others, but for one element.
double even_end(std::size_t part, std::size_t parts, const ValueDomain& range) {
    return range.lowest + std::floor((range.highest - range.lowest) * static_cast<double>(part) /
                                     static_cast<double>(parts));
}

void fill_offsets(Numbers row, const ValueDomain& range, bool is_dense, SplitMix64& random) {
    enum Kind { one_part, two_ends, even, any };
    const auto kind = is_dense ? any : static_cast<Kind>(random.below(5));
    const double ends[] = {range.lowest, range.highest};
    const double middle = number_between(range, random);
    const auto part = 1 + random.below(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = kind == one_part   ? ends[i >= part]
                 : kind == two_ends ? (random.one_in(2) ? middle : ends[random.below(2)])
                 : kind == even     ? even_end(i, row.size() - 1, range)
                                    : number_between(range, random);
    std::ranges::sort(row);
    row.front() = range.lowest;
    row.back() = range.highest;
}

void fill_row(Numbers row, Arrangement arrangement, const ValueDomain& range, bool is_dense,
              SplitMix64& random) {
    switch (arrangement) {
        case Arrangement::free:
            return fill_free(row, range, is_dense, random);
        case Arrangement::ascending:
            fill_free(row, range, is_dense, random);
            std::ranges::sort(row);
            return;
        case Arrangement::distinct:
        case Arrangement::permutation:
            return fill_distinct(row, range, random);
        case Arrangement::offsets:
            return fill_offsets(row, range, is_dense, random);
    }
}

void fill_simple_row(Numbers row, int turn, Arrangement arrangement, const ValueDomain& range) {
    const double last = static_cast<double>(row.size()) - 1.0;
    const double first = std::clamp(0.0, range.lowest, range.highest);
    for (std::size_t i = 0; i < row.size(); ++i) {
        const auto at = static_cast<double>(i);
        if (arrangement == Arrangement::free)
            row[i] = turn == 1 ? first + std::fmod(at, range.highest - first + 1.0) : range.highest;
        else if (arrangement != Arrangement::ascending && arrangement != Arrangement::offsets)
            row[i] = turn == 1 ? range.highest - last + at : range.highest - at;
        else if (turn == 1)
            row[i] = even_end(i, std::max<std::size_t>(row.size() - 1, 1), range);
        else
            row[i] = i == 0 && arrangement == Arrangement::offsets ? range.lowest : range.highest;
    }
}

/// The whole array is one row where its elements are free.
template <class Function>
void for_each_row(Array<double>& array, Arrangement arrangement, const Function& function) {
    const std::size_t length = arrangement == Arrangement::free || array.sizes.empty()
                                   ? array.data.size()
                                   : static_cast<std::size_t>(array.sizes.back());
    for (std::size_t begin = 0; begin < array.data.size(); begin += length)
        function(Numbers(array.data.data() + begin, length));
}

}  // namespace

void fill_indices(Array<double>& array, Arrangement arrangement, const ValueDomain& range,
                  bool is_dense, SplitMix64 random) {
    for_each_row(array, arrangement,
                 [&](Numbers row) { fill_row(row, arrangement, range, is_dense, random); });
}

void fill_simple_indices(Array<double>& array, int turn, Arrangement arrangement,
                         const ValueDomain& range) {
    if (turn == 0) {
        std::ranges::fill(array.data, NAN);
        return complete(array, arrangement, range);
    }
    for_each_row(array, arrangement,
                 [&](Numbers row) { fill_simple_row(row, turn, arrangement, range); });
}

void put_invalid(Array<double>& array, const ValueDomain& range, DType dtype, SplitMix64 random) {
    // The ends of 64 bits that a double holds.
    const double most = dtype == DType::u8 ? 255.0 : dtype == DType::i32 ? 0x1p31 - 1.0 : 0x1p53;
    const double least = dtype == DType::u8 ? 0.0 : -most - 1.0;
    std::vector<double> outside{range.lowest - 1.0, range.highest + 1.0, least, most};
    std::erase_if(outside, [&](double value) {
        return value < least || value > most || (range.lowest <= value && value <= range.highest);
    });
    if (outside.empty()) return;
    const std::uint64_t always = random.below(array.data.size());
    for (std::size_t i = 0; i < array.data.size(); ++i)
        if (i == always || random.one_in(4)) array.data[i] = outside[random.below(outside.size())];
}

}  // namespace gradverify
