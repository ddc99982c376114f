// SPDX-License-Identifier: Apache-2.0
// Finds out how the work of a formula grows with each size, for an operator that does not say: from
// the elements that the formula asks for at small sizes, and the operations that it records.
#pragma once

#include <utility>
#include <vector>

#include "properties/problems/solver.hpp"

namespace gradverify {

/// A product of powers of the sizes, which is right at those that were tried.
class WorkGrowth {
  public:
    /// Runs the references of the pass and of the forward pass at a few sizes of up to 32. A
    /// formula that refuses the simplest data, as one that compares, has no growth: 0.
    WorkGrowth(const SupportedProblems& problems, const RankDomain& domain);

    /// The elements that one run asks for, and the operations that it records, about. What a
    /// gradient by hand does with numbers of its own is not seen.
    double operator()(const Problem& problem) const;

  private:
    struct Power {
        int slot;
        double exponent;
    };
    std::vector<Power> powers_;
    double factor_ = 0.0;
};

}  // namespace gradverify
