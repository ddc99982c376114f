// SPDX-License-Identifier: Apache-2.0
#include "harness/cases/coverage.hpp"

#include <algorithm>
#include <bit>

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

int SlotCoverage::remainders_of(int block) const {
    std::uint32_t folded = remainders_;
    for (int half = 16; half >= block; half /= 2) folded |= folded >> half;
    const std::uint32_t low = block == 32 ? ~0U : (1U << block) - 1;
    return std::popcount(folded & low);
}

RankCoverage::RankCoverage(const Kernel& kernel, const Problem& like)
    : slots_(like.values().size()), pairs_(factors_of(*kernel.op, kernel.any(), like.rank())) {}

void RankCoverage::add(const Problem& problem, bool is_empty) {
    for (int i = 0; i < static_cast<int>(slots_.size()); ++i)
        slots_[static_cast<std::size_t>(i)].add(problem[i]);
    pairs_.add(pairs_.levels_of(problem), is_empty);
}

void Coverage::add(const Kernel& kernel, const Problem& problem) {
    if (!seen_.insert(hash_of(problem)).second) return;
    ranks_.try_emplace(problem.rank(), kernel, problem)
        .first->second.add(problem, kernel.op->is_empty(problem));
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
