// SPDX-License-Identifier: Apache-2.0
// Counts what a row's problems have covered: values of each parameter, their remainders by the
// usual block sizes, and pairs of levels.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/registry/factors.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// Remainders are counted modulo these.
inline constexpr std::array<int, 5> block_sizes_of_interest{2, 4, 8, 16, 32};

/// The values of one parameter (on an axis, on a side) at one rank.
class SlotCoverage {
  public:
    /// `is_free`: no constraint of the kernel decides it.
    explicit SlotCoverage(std::string name = "", bool is_free = false)
        : name_(std::move(name)), is_free_(is_free) {}

    void add(std::int64_t value);
    void add(const SlotCoverage& other);

    const std::string& name() const { return name_; }
    bool is_free() const { return is_free_; }
    /// How many different ones were met.
    std::int64_t values() const { return std::popcount(small_) + std::ssize(others_); }
    /// **Ranges** after `add`.
    std::int64_t smallest() const { return smallest_; }
    std::int64_t largest() const { return largest_; }
    /// How many remainders modulo a divisor of 32 were met.
    int remainders_of(int block) const;

    static void fields(auto& self, auto& visit) {
        visit.needed("name", self.name_);
        visit.needed("free", self.is_free_);
        visit.word("small", self.small_);
        visit.needed("others", self.others_);
        visit.whole("smallest", self.smallest_);
        visit.whole("largest", self.largest_);
        visit.needed("remainders", self.remainders_);
    }

  private:
    std::string name_;
    bool is_free_;
    std::uint64_t small_ = 0;  ///< bit v: the value v was met
    std::set<std::int64_t> others_;
    std::int64_t smallest_ = std::numeric_limits<std::int64_t>::max(),
                 largest_ = std::numeric_limits<std::int64_t>::min();
    std::uint32_t remainders_ = 0;  ///< bit r: some value was r modulo 32
};

/// Two free parameters of one problem: their slots, and the values. One pair is larger than another
/// where its smaller value is; of equal ones, where its product is: 130 x 257 is more than 1 x
/// 300,001.
struct LargestPair {
    std::array<std::size_t, 2> slots{};
    std::array<std::int64_t, 2> values{};  ///< zeros: there is none

    bool operator<(const LargestPair& other) const {
        return std::minmax({values[0], values[1]}) <
               std::minmax({other.values[0], other.values[1]});
    }
};

class RankCoverage {
  public:
    RankCoverage(const Kernel& kernel, const Problem& like);
    RankCoverage(std::vector<SlotCoverage> slots, LevelPairs pairs, LargestPair largest)
        : slots_(std::move(slots)), pairs_(std::move(pairs)), largest_(largest) {}

    void add(const Problem& problem, bool is_empty);
    /// **Errors** std::invalid_argument where the other one is of other parameters.
    void add(const RankCoverage& other);

    const std::vector<SlotCoverage>& slots() const { return slots_; }
    const LevelPairs& pairs() const { return pairs_; }
    const LargestPair& largest() const { return largest_; }

  private:
    void add(const LargestPair& other);

    std::vector<SlotCoverage> slots_;
    LevelPairs pairs_;
    LargestPair largest_;
};

/// Counts different hashes, exactly up to a thousand; above, within some 3 %, from the smallest
/// ones: as many as there are lie below the largest of these.
class DistinctCount {
  public:
    static constexpr std::size_t most_kept = 1024;

    void add(std::uint64_t hash);
    std::int64_t count() const;
    const std::set<std::uint64_t>& smallest() const { return smallest_; }

  private:
    std::set<std::uint64_t> smallest_;
};

class Coverage {
  public:
    void add(const Kernel& kernel, const Problem& problem);
    /// **Errors** std::invalid_argument where the other one is of another kernel.
    void add(const Coverage& other);
    void add(int rank, RankCoverage of_rank);
    void add_hash(std::uint64_t hash) { problems_.add(hash); }

    /// How many different ones: see DistinctCount.
    std::int64_t problems() const { return problems_.count(); }
    const DistinctCount& hashes() const { return problems_; }
    const std::map<int, RankCoverage>& ranks() const { return ranks_; }

  private:
    DistinctCount problems_;
    std::map<int, RankCoverage> ranks_;
};

/// Pairs of levels of two factors, by rank.
using PairsByRank = std::map<int, LevelPairs>;

/// How many pairs of levels within reach were met, and the first few that were not: `n 1 with c 2`.
struct PairsCovered {
    std::int64_t met = 0, of = 0;
    std::vector<std::string> missed;
};

PairsCovered pairs_covered(const Coverage& coverage, const PairsByRank& within_reach);

}  // namespace gradverify
