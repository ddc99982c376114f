// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/coverage.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/base/random.hpp"

namespace gradverify {

namespace {

constexpr std::size_t pairs_named = 3;

std::uint64_t hash_of(const Problem& problem) {
    auto hash = static_cast<std::uint64_t>(problem.rank());
    for (const std::int64_t value : problem.values())
        hash = SplitMix64(hash ^ static_cast<std::uint64_t>(value)).next();
    return hash;
}

std::vector<SlotCoverage> slots_of(const Kernel& kernel, int rank) {
    const std::vector<int> free = free_slots(*kernel.op, kernel.any(), rank);
    std::vector<SlotCoverage> slots;
    for (const Slot& slot : kernel.op->space.slots(rank))
        slots.emplace_back(slot.name, std::ranges::binary_search(free, std::ssize(slots)));
    return slots;
}

}  // namespace

void SlotCoverage::add(std::int64_t value) {
    smallest_ = std::min(smallest_, value);
    largest_ = std::max(largest_, value);
    remainders_ |= 1U << (static_cast<std::uint64_t>(value) % 32);
    if (value >= 0 && value < 64)
        small_ |= std::uint64_t{1} << value;
    else
        others_.insert(value);
}

void SlotCoverage::add(const SlotCoverage& other) {
    smallest_ = std::min(smallest_, other.smallest_);
    largest_ = std::max(largest_, other.largest_);
    remainders_ |= other.remainders_;
    small_ |= other.small_;
    others_.insert(other.others_.begin(), other.others_.end());
}

int SlotCoverage::remainders_of(int block) const {
    std::uint32_t folded = remainders_;
    for (int half = 16; half >= block; half /= 2) folded |= folded >> half;
    const std::uint32_t low = block == 32 ? ~0U : (1U << block) - 1;
    return std::popcount(folded & low);
}

RankCoverage::RankCoverage(const Kernel& kernel, const Problem& like)
    : slots_(slots_of(kernel, like.rank())),
      pairs_(factors_of(*kernel.op, kernel.any(), like.rank())) {}

void RankCoverage::add(const Problem& problem, bool is_empty) {
    std::size_t first = slots_.size(), second = first;  // the two largest free ones
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        const std::int64_t value = problem[static_cast<int>(i)];
        slots_[i].add(value);
        if (!slots_[i].is_free()) continue;
        const auto is_less = [&](std::size_t other) {
            return other == slots_.size() || problem[static_cast<int>(other)] < value;
        };
        if (is_less(first))
            second = std::exchange(first, i);
        else if (is_less(second))
            second = i;
    }
    pairs_.add(pairs_.levels_of(problem), is_empty);
    if (second == slots_.size()) return;
    const auto [a, b] = std::minmax(first, second);
    add(LargestPair{{a, b}, {problem[static_cast<int>(a)], problem[static_cast<int>(b)]}});
}

void RankCoverage::add(const LargestPair& other) { largest_ = std::max(largest_, other); }

void RankCoverage::add(const RankCoverage& other) {
    if (!std::ranges::equal(slots_, other.slots_, {}, &SlotCoverage::name, &SlotCoverage::name))
        throw std::invalid_argument("the coverage of other parameters can't be added");
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].add(other.slots_[i]);
    pairs_.add(other.pairs_);
    add(other.largest_);
}

void DistinctCount::add(std::uint64_t hash) {
    if (smallest_.size() == most_kept && hash >= *smallest_.rbegin()) return;
    smallest_.insert(hash);
    if (smallest_.size() > most_kept) smallest_.erase(std::prev(smallest_.end()));
}

std::int64_t DistinctCount::count() const {
    if (smallest_.size() < most_kept) return std::ssize(smallest_);
    const double share = std::ldexp(static_cast<double>(*smallest_.rbegin()), -64);
    return std::llround(static_cast<double>(most_kept - 1) / share);
}

void Coverage::add(const Kernel& kernel, const Problem& problem) {
    problems_.add(hash_of(problem));
    ranks_.try_emplace(problem.rank(), kernel, problem)
        .first->second.add(problem, kernel.op->is_empty(problem));
}

void Coverage::add(const Coverage& other) {
    for (const std::uint64_t hash : other.problems_.smallest()) problems_.add(hash);
    for (const auto& [rank, met] : other.ranks_) add(rank, met);
}

void Coverage::add(int rank, RankCoverage of_rank) {
    if (const auto known = ranks_.find(rank); known != ranks_.end())
        known->second.add(of_rank);
    else
        ranks_.emplace(rank, std::move(of_rank));
}

PairsCovered pairs_covered(const Coverage& coverage, const PairsByRank& within_reach) {
    PairsCovered covered;
    for (const auto& [rank, pairs] : within_reach) {
        const auto met = coverage.ranks().find(rank);
        const LevelPairs none(pairs.factors());
        const LevelPairs& here = met == coverage.ranks().end() ? none : met->second.pairs();
        const LevelPairs::Missing missing =
            here.missing_of(pairs, pairs_named - std::min(pairs_named, covered.missed.size()));
        covered.of += pairs.count();
        covered.met += pairs.count() - missing.count;
        covered.missed.insert(covered.missed.end(), missing.first.begin(), missing.first.end());
    }
    return covered;
}

}  // namespace gradverify
