// SPDX-License-Identifier: Apache-2.0
// Decides which problem case i of a row gets: the smallest problems first, then by turns one of
// those that bring every two levels together, with values of its own, and a free draw. A function
// of the kernel, the budget, one random number and i alone. rapidcheck's generators take the number
// from it; draw.hpp decides how one problem is drawn, and smaller.hpp which ones are smaller.
#pragma once

#include <rapidcheck/Gen.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "properties/problems/covering_array.hpp"
#include "properties/problems/draw.hpp"
#include "properties/problems/solver.hpp"

namespace gradverify {

struct ProblemGeneratorOptions {
    WorkBudget budget{};
    /// The first cases of a row are the kernel's smallest problems, in order, and of the others two
    /// in three are the covering array's while it lasts, if the budget is no less than its own.
    bool edge_problems = true;
    /// Where arrays are kept, so that other kernels find them.
    std::shared_ptr<CoveringArrays> covering_arrays = std::make_shared<CoveringArrays>();
};

class ProblemGenerator {
  public:
    /// Never throws for what a kernel declares; see `why_none`.
    ProblemGenerator(const Operator& op, const PassSpec& pass, const KernelDeclaration& kernel,
                     ProblemGeneratorOptions options = {});

    /// Why nothing can be drawn: constraints without a solution, or a predicate that rejects more
    /// than nine draws in ten. Empty when all is well.
    const std::string& why_none() const { return why_none_; }

    /// The problem that `problem_gen` draws for case `index` from a seed. Nothing if `why_none()`.
    std::optional<Problem> draw(std::uint64_t seed, std::int64_t index) const;

    /// The problem of case `index` that a random number draws.
    ///
    /// **Errors** std::invalid_argument if `why_none()`, here and below.
    Problem of_case(std::int64_t index, std::uint64_t number) const;
    /// A draw, whatever the index; from as many raw draws as the predicates reject.
    Problem draw_freely(std::uint64_t number) const;

    /// The kernel's smallest problems: all within one step of the smallest distance, at most 64.
    const std::vector<Problem>& edge_problems() const { return edge_problems_; }

    /// The problems that bring every two levels together; made when first asked for. Only where
    /// there is something to draw.
    const CoveringArray& covering_array() const;
    /// The same if a draw has asked for them, else null: making them takes a while.
    const CoveringArray* covering_array_if_made() const { return covering_array_; }

    /// Null when the constraints have no solution.
    const SupportedProblems* supported() const { return supported_.get(); }

  private:
    void find_edge_problems();
    void try_draws();

    std::shared_ptr<const SupportedProblems> supported_;
    std::shared_ptr<CoveringArrays> covering_arrays_;
    std::optional<ProblemDrawer> drawer_;
    mutable const CoveringArray* covering_array_ = nullptr;  ///< once it was asked for
    std::vector<Problem> edge_problems_;
    bool starts_with_edges_, takes_covering_array_;
    std::string why_none_;
};

/// Why problems are too rare to be drawn: that many trials drew so few that satisfy the
/// constraints, or the predicates accepted so few of these. Empty if they are not.
std::string why_too_rare(const KernelDeclaration& kernel, int trials, int drawn, int accepted);

/// A problem with its smaller neighbours, theirs, and so on; none is made before it is asked for.
///
/// **Ranges** `supported` must live longer.
rc::Shrinkable<Problem> problem_tree(const SupportedProblems& supported, Problem problem);

/// Draws the problem of case `index`, or freely. The size that rapidcheck grows over a run is not
/// used: a case must not depend on how many cases there are.
///
/// **Ranges** the generator must live longer.
rc::Gen<Problem> problem_gen(const ProblemGenerator& generator,
                             std::optional<std::int64_t> index = std::nullopt);

}  // namespace gradverify
