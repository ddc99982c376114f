// SPDX-License-Identifier: Apache-2.0
// Decides what a problem costs to verify, and how much a draw may cost. Does not draw.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "properties/problems/solver.hpp"
#include "properties/problems/work_growth.hpp"

namespace gradverify {

/// The most that a drawn problem may cost; each draw has a limit of its own below that.
struct WorkBudget {
    double multiply_adds = 0x1p20;
    /// How much more a few draws of the longest lengths may do: enough for 300,001 elements.
    double longest_factor = 20.0;
    /// Threads times the barriers that each passes, or threads alone without barriers.
    double thread_barriers = 0x1p21;
    double bytes = 0x1p23;  ///< of all tensors
};

struct ProblemCost {
    double multiply_adds = 0.0, thread_barriers = 0.0, bytes = 0.0;
    double elements = 0.0;  ///< of the largest tensor, as a share of what the kernel takes
    int empty_axes = 0;     ///< axes of size zero, over all tensors

    /// The largest of them, as a share of the budget.
    double share_of(const WorkBudget& budget) const;
};

/// The threads of a call that writes this many elements, by what its kernel declares.
double threads_by(const LaunchCost& cost, const Problem& problem, double outputs);

class CostModel {
  public:
    explicit CostModel(const SupportedProblems& problems);
    ProblemCost operator()(const Problem& problem) const;

  private:
    const SupportedProblems* problems_;
    std::vector<std::pair<const TensorSpec*, bool>> tensors_;  ///< and whether the pass writes it
    double bytes_per_element_;
    std::map<int, WorkGrowth> growth_;  ///< by rank, where the operator does not say its work
};

}  // namespace gradverify
