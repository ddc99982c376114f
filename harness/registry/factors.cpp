// SPDX-License-Identifier: Apache-2.0
#include "harness/registry/factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <numeric>
#include <set>
#include <stdexcept>

namespace gradverify {

namespace {

using Values = std::span<const std::int64_t>;

/// Two warps, or a block's side.
constexpr std::int64_t large_from = 63;

// For images and counts. Tails of tiles, vectors and warps begin and end beside powers of two.
const std::vector<std::string> size_levels{"0",
                                           "1",
                                           "2 or 3",
                                           "4, 8, 16 or 32",
                                           "7, 15 or 31",
                                           "5, 9, 17 or 33",
                                           "another below 63",
                                           "63 or more"};

int size_level(Values values) {
    const auto value = static_cast<std::uint64_t>(values[0]);
    if (values[0] <= 1) return static_cast<int>(value);
    if (values[0] <= 3) return 2;
    if (values[0] >= large_from) return 7;
    if (std::has_single_bit(value)) return 3;
    if (std::has_single_bit(value + 1)) return 4;
    if (std::has_single_bit(value - 1)) return 5;
    return 6;
}

// For filters, strides, dilations and paddings: kernels have special paths for small ones.
const std::vector<std::string> step_levels{"0", "1", "2", "3", "4 to 7", "8 or more"};

int step_level(Values values) {
    if (values[0] <= 3) return static_cast<int>(values[0]);
    return values[0] < 8 ? 4 : 5;
}

Factor of_slot(const ParameterSpace& space, int rank, int slot) {
    const ParameterSpec& spec = space.spec(rank, slot);
    const bool is_size = spec.kind == ParameterKind::scalar || spec.carries_rank;
    return {.name = space.slot(rank, slot).name,
            .levels = is_size ? size_levels : step_levels,
            .slots = {slot},
            .level_of_nothing = is_size && spec.default_value > 0 ? 0 : -1,
            .level_of_values = is_size ? size_level : step_level};
}

/// A parameter's slots on one axis, or its only slot.
std::vector<int> slots_on(const ParameterSpace& space, int rank, const std::string& parameter,
                          int axis) {
    std::vector<int> slots = space.find(parameter, rank);
    std::erase_if(slots, [&](int slot) {
        const int of = space.slot(rank, slot).axis;
        return of >= 0 && of != axis;
    });
    return slots;
}

void add_declared(const FactorSpec& spec, const ParameterSpace& space, int rank,
                  std::vector<Factor>& factors) {
    const bool has_axes = std::ranges::any_of(spec.parameters, [&](const std::string& parameter) {
        const std::vector<int> slots = space.find(parameter, rank);
        return !slots.empty() && space.slot(rank, slots.front()).axis >= 0;
    });
    for (int axis = 0; axis < (has_axes ? rank : 1); ++axis) {
        Factor factor{
            .name = spec.name, .levels = spec.levels, .level_of_values = spec.level_of_values};
        if (has_axes) factor.name += " on axis " + std::to_string(axis);
        for (const std::string& parameter : spec.parameters)
            std::ranges::copy(slots_on(space, rank, parameter, axis),
                              std::back_inserter(factor.slots));
        factors.push_back(std::move(factor));
    }
}

/// Throws before anything is allocated for bits that nobody has told.
std::vector<Factor> of_as_many_words(std::vector<Factor> factors, std::size_t words) {
    std::size_t levels = 0;
    for (const Factor& factor : factors) levels += factor.levels.size();
    if (levels * ((levels + 63) / 64) != words)
        throw std::invalid_argument("pairs of levels: not as many bits as these factors have");
    return factors;
}

}  // namespace

int Factor::level_of(const Problem& problem) const {
    std::array<std::int64_t, most_factor_values> values{};
    for (std::size_t i = 0; i < slots.size(); ++i) values[i] = problem[slots[i]];
    return level_of_values({values.data(), slots.size()});
}

std::vector<Factor> factors_of(const Operator& op, const KernelDeclaration& kernel, int rank) {
    std::vector<Factor> factors;
    for (const int slot : free_slots(op, kernel, rank))
        factors.push_back(of_slot(op.space, rank, slot));
    for (const FactorSpec& spec : op.factors) add_declared(spec, op.space, rank, factors);
    return factors;
}

std::vector<int> free_slots(const Operator& op, const KernelDeclaration& kernel, int rank) {
    std::vector<int> leader(op.space.slots(rank).size());
    std::iota(leader.begin(), leader.end(), 0);
    std::vector<int> fixed;
    std::vector<Constraint> all = op.constraints;
    all.insert(all.end(), kernel.constraints.begin(), kernel.constraints.end());
    for (const Constraint& constraint : all)
        for (const auto& [slot, other] : slots_of(constraint, op.space, rank)) {
            if (constraint.kind == Constraint::Kind::range &&
                constraint.minimum == constraint.maximum)
                fixed.push_back(slot);
            if (constraint.kind != Constraint::Kind::same_as) continue;
            const auto [first, second] = std::minmax(leader[static_cast<std::size_t>(slot)],
                                                     leader[static_cast<std::size_t>(other)]);
            std::ranges::replace(leader, int{second}, int{first});
        }
    std::set<int> free(leader.begin(), leader.end());
    for (const int slot : fixed) free.erase(leader[static_cast<std::size_t>(slot)]);
    return {free.begin(), free.end()};
}

LevelPairs::LevelPairs(std::vector<Factor> factors) : factors_(std::move(factors)) {
    first_level_.reserve(factors_.size());
    for (const Factor& factor : factors_) {
        first_level_.push_back(levels_);
        levels_ += static_cast<int>(factor.levels.size());
    }
    words_ = (static_cast<std::size_t>(levels_) + 63) / 64;
    met_.resize(static_cast<std::size_t>(levels_) * words_);
}

LevelPairs::LevelPairs(std::vector<Factor> factors, std::vector<std::uint64_t> bits)
    : LevelPairs(of_as_many_words(std::move(factors), bits.size())) {
    met_ = std::move(bits);
    for (const std::uint64_t word : met_) count_ += std::popcount(word);
}

std::size_t LevelPairs::number_of(std::size_t factor, int level) const {
    return static_cast<std::size_t>(first_level_[factor]) + static_cast<std::size_t>(level);
}

std::vector<int> LevelPairs::levels_of(const Problem& problem) const {
    std::vector<int> levels;
    levels.reserve(factors_.size());
    for (const Factor& factor : factors_) levels.push_back(factor.level_of(problem));
    return levels;
}

template <class Visit>
void LevelPairs::for_new(std::span<const int> levels, bool is_empty, Visit visit) const {
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const bool is_of_nothing = !is_empty || levels[i] == factors_[i].level_of_nothing;
        const std::size_t row = number_of(i, levels[i]) * words_;
        for (std::size_t j = i + 1; j < levels.size(); ++j) {
            const std::size_t other = number_of(j, levels[j]);
            const std::uint64_t bit = std::uint64_t{1} << other % 64;
            if ((met_[row + other / 64] & bit) != 0) continue;
            if (is_of_nothing || levels[j] == factors_[j].level_of_nothing)
                visit(row + other / 64, bit);
        }
    }
}

std::int64_t LevelPairs::count_new(std::span<const int> levels, bool is_empty) const {
    std::int64_t found = 0;
    if (is_empty) {
        for_new(levels, is_empty, [&](std::size_t, std::uint64_t) { ++found; });
        return found;
    }
    // The levels of the factors behind the one in hand.
    std::vector<std::uint64_t> later(words_);
    for (std::size_t i = levels.size(); i-- > 0;) {
        const std::size_t level = number_of(i, levels[i]);
        for (std::size_t word = level / 64; word < words_; ++word)
            found += std::popcount(later[word] & ~met_[level * words_ + word]);
        later[level / 64] |= std::uint64_t{1} << level % 64;
    }
    return found;
}

std::int64_t LevelPairs::add(std::span<const int> levels, bool is_empty) {
    const std::int64_t before = count_;
    for_new(levels, is_empty, [&](std::size_t word, std::uint64_t bit) {
        met_[word] |= bit;
        ++count_;
    });
    return count_ - before;
}

void LevelPairs::add(const LevelPairs& other) {
    const auto is_same = [](const Factor& a, const Factor& b) {
        return a.name == b.name && a.levels == b.levels;
    };
    if (!std::ranges::equal(factors_, other.factors_, is_same))
        throw std::invalid_argument("pairs of levels of other factors can't be added");
    count_ = 0;
    for (std::size_t i = 0; i < met_.size(); ++i) count_ += std::popcount(met_[i] |= other.met_[i]);
}

std::int64_t LevelPairs::count_of(int factor, int other, const LevelPairs& within) const {
    std::int64_t count = 0;
    const auto levels = [&](int of) {
        return static_cast<int>(factors_[static_cast<std::size_t>(of)].levels.size());
    };
    for (int a = 0; a < levels(factor); ++a)
        for (int b = 0; b < levels(other); ++b)
            count += is_met(factor, a, other, b) && within.is_met(factor, a, other, b) ? 1 : 0;
    return count;
}

bool LevelPairs::is_met(int factor, int level, int other, int level_of_other) const {
    if (factor > other) return is_met(other, level_of_other, factor, level);
    const std::size_t row = number_of(static_cast<std::size_t>(factor), level) * words_;
    const std::size_t at = number_of(static_cast<std::size_t>(other), level_of_other);
    return (met_[row + at / 64] >> at % 64 & 1) != 0;
}

LevelPairs::Missing LevelPairs::missing_of(const LevelPairs& other, std::size_t names) const {
    Missing missing;
    const auto visit = [&](int i, int j) {
        const Factor &first = factors_[static_cast<std::size_t>(i)],
                     &second = factors_[static_cast<std::size_t>(j)];
        for (int a = 0; a < static_cast<int>(first.levels.size()); ++a)
            for (int b = 0; b < static_cast<int>(second.levels.size()); ++b) {
                if (is_met(i, a, j, b) || !other.is_met(i, a, j, b)) continue;
                ++missing.count;
                if (missing.first.size() < names)
                    missing.first.push_back(fmt::format(
                        "{} {} with {} {}", first.name, first.levels[static_cast<std::size_t>(a)],
                        second.name, second.levels[static_cast<std::size_t>(b)]));
            }
    };
    for (int i = 0; i < static_cast<int>(factors_.size()); ++i)
        for (int j = i + 1; j < static_cast<int>(factors_.size()); ++j) visit(i, j);
    return missing;
}

}  // namespace gradverify
