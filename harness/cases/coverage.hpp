// SPDX-License-Identifier: Apache-2.0
// Counts what a row's problems have covered: values of each parameter, their remainders by the
// usual block sizes, and pairs of levels.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "harness/registry/factors.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// Remainders are counted modulo these.
inline constexpr std::array<int, 5> block_sizes_of_interest{2, 4, 8, 16, 32};

/// The values of one parameter (on an axis, on a side) at one rank.
class SlotCoverage {
  public:
    void add(std::int64_t value);

    /// How many different ones were met.
    std::int64_t values() const { return std::popcount(small_) + std::ssize(others_); }
    /// **Ranges** after `add`.
    std::int64_t smallest() const { return smallest_; }
    std::int64_t largest() const { return largest_; }
    /// How many remainders modulo a divisor of 32 were met.
    int remainders_of(int block) const;

  private:
    std::uint64_t small_ = 0;  ///< bit v: the value v was met
    std::unordered_set<std::int64_t> others_;
    std::int64_t smallest_ = std::numeric_limits<std::int64_t>::max(),
                 largest_ = std::numeric_limits<std::int64_t>::min();
    std::uint32_t remainders_ = 0;  ///< bit r: some value was r modulo 32
};

class RankCoverage {
  public:
    RankCoverage(const Kernel& kernel, const Problem& like);

    void add(const Problem& problem, bool is_empty);

    const std::vector<SlotCoverage>& slots() const { return slots_; }
    const LevelPairs& pairs() const { return pairs_; }

  private:
    std::vector<SlotCoverage> slots_;
    LevelPairs pairs_;
};

class Coverage {
  public:
    void add(const Kernel& kernel, const Problem& problem);

    std::int64_t problems() const { return static_cast<std::int64_t>(seen_.size()); }
    const std::map<int, RankCoverage>& ranks() const { return ranks_; }

  private:
    std::unordered_set<std::uint64_t> seen_;  ///< hashes of the problems
    std::map<int, RankCoverage> ranks_;
};

/// Pairs of levels of two factors, by rank.
using PairsByRank = std::map<int, LevelPairs>;

/// How many of the pairs of levels within reach were met, and the first few that were not: `groups
/// 3 with dilation_h 2`.
struct PairsCovered {
    std::int64_t met = 0, of = 0;
    std::vector<std::string> missed;
};

PairsCovered pairs_covered(const Coverage& coverage, const PairsByRank& within_reach);

}  // namespace gradverify
