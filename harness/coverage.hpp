// SPDX-License-Identifier: Apache-2.0
// Decides what is told of the problems that a row has run, so that one sees what it could have
// missed: values of each parameter, their remainders by the usual block sizes, and pairs. Counts
// only; takes a few microseconds a problem.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "harness/registry.hpp"

namespace gradverify {

/// Remainders are counted modulo these.
inline constexpr std::array<int, 5> block_sizes_of_interest{2, 4, 8, 16, 32};

/// What was met of one parameter of one rank (on an axis, on a side).
struct SlotCoverage {
    std::set<std::int64_t> values;
    std::uint32_t remainders = 0;  ///< bit r: some value was r modulo 32

    /// How many remainders modulo a divisor of 32 were met.
    int remainders_of(int block) const;
};

/// The problems of one rank.
class RankCoverage {
  public:
    explicit RankCoverage(const Problem& like);

    void add(const Problem& problem);

    const std::vector<SlotCoverage>& slots() const { return slots_; }
    /// Both parameters were away from their defaults in one problem.
    bool met_together(int slot, int other) const;
    /// Different pairs of values of two parameters, over all pairs of parameters; values from 15 on
    /// count as one.
    std::int64_t pairs_of_values() const;
    /// The largest value of each parameter, as one problem prints.
    const Problem& largest() const { return largest_; }

  private:
    // Small values are where kernels take different paths; from here on they count as one.
    static constexpr int classes = 16;
    using Pairs = std::bitset<static_cast<std::size_t>(classes) * classes>;

    static std::size_t class_of(std::int64_t value);
    std::size_t position(int slot, int other) const;

    std::vector<std::int64_t> defaults_;
    std::vector<SlotCoverage> slots_;
    std::vector<Pairs> pairs_;    ///< by position
    std::vector<bool> together_;  ///< by position
    Problem largest_;
};

/// The problems of a row, or of several.
class Coverage {
  public:
    void add(const Problem& problem);

    std::int64_t problems() const { return static_cast<std::int64_t>(seen_.size()); }
    const std::map<int, RankCoverage>& ranks() const { return ranks_; }

  private:
    std::unordered_set<std::uint64_t> seen_;  ///< hashes of the problems
    std::map<int, RankCoverage> ranks_;
};

/// The slots that the operator's and the kernel's constraints leave free: neither held at one
/// value nor equal to a slot before.
std::vector<int> free_slots(const Kernel& kernel, int rank);

/// Pairs of parameters: how many there are, and which were never away from their defaults together.
struct PairsCovered {
    std::int64_t met = 0, of = 0;
    std::vector<std::string> missed;  ///< `groups with dilation_h`
};

PairsCovered pairs_covered(const Kernel& kernel, const Coverage& coverage);

}  // namespace gradverify
