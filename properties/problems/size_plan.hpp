// SPDX-License-Identifier: Apache-2.0
// Decides which sizes a row meets for sure, those at which kernels with tiles break: each size just
// above a block, every two sizes of several tiles together, and one more than a grid's axis takes.
// How often the dear ones come follows from what they cost. draw.hpp draws their problems.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "properties/problems/cost.hpp"
#include "properties/problems/solver.hpp"

namespace gradverify {

/// A class of slots whose value is to lie in a range.
struct GivenSize {
    int which;
    std::int64_t least, most;
};

/// One or two sizes, sometimes more, of a problem whose others are small.
struct GivenSizes {
    std::size_t domain;  ///< in SupportedProblems
    std::vector<GivenSize> sizes;
    double share;  ///< what they cost at least: `share_of_budget`

    /// Whether some size is of a range.
    bool has_choice() const {
        return std::ranges::any_of(sizes, [](const GivenSize& s) { return s.least < s.most; });
    }
};

class SizePlan {
  public:
    /// What the cheap ones may cost at most.
    static constexpr double cheap_share = 0.04;

    SizePlan(const SupportedProblems& problems, const WorkBudget& budget);

    /// For a row's first cases: 33, 65, 129, 257, 513 and 1,025 of each size, as far as few do.
    const std::vector<GivenSizes>& first() const { return first_; }
    /// The other ones by turns, the cheapest first. Null in turns that a dear one is paid with.
    const GivenSizes* at_turn(std::int64_t turn) const;

  private:
    struct Turn {
        std::int64_t at;
        GivenSizes given;
    };

    std::vector<GivenSizes> first_;
    std::vector<Turn> turns_;
    std::int64_t cycle_ = 1;  ///< after as many turns it begins anew: then all of it is paid
};

/// By which planned sizes are priced. An element costs far more than a product: it is drawn, copied
/// and compared.
WorkBudget share_of_budget(const WorkBudget& budget, double share);

/// What a draw may cost at most if it is one of the few dear ones.
WorkBudget dear_budget(const WorkBudget& budget);

}  // namespace gradverify
