// SPDX-License-Identifier: Apache-2.0
// Decides which problem case i of a row gets: the smallest one, sizes just above blocks, the other
// smallest problems, then by turns varied members of the covering array, sizes of a plan and free
// draws. A function of the kernel, the budget, one random number and i alone. draw.hpp decides how
// one problem is drawn, smaller.hpp which are smaller.
#pragma once

#include <rapidcheck/Gen.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "properties/problems/covering_array.hpp"
#include "properties/problems/draw.hpp"
#include "properties/problems/size_plan.hpp"
#include "properties/problems/solver.hpp"

namespace gradverify {

struct ProblemGeneratorOptions {
    WorkBudget budget{};
    /// The first cases of a row are the kernel's smallest problems, in order, and of the others two
    /// in three are the covering array's while it lasts, if the budget is no less than its own, and
    /// up to one in six are of planned sizes, the first of which come behind the smallest problem.
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
    /// than nine draws in ten; else empty.
    const std::string& why_none() const { return why_none_; }

    /// The problem that `problem_gen` draws for case `index` from a seed. Nothing if `why_none()`.
    std::optional<Problem> draw(std::uint64_t seed, std::int64_t index) const;

    /// The problem of case `index` that a random number draws.
    ///
    /// **Errors** std::invalid_argument if `why_none()`, here and below.
    Problem of_case(std::int64_t index, std::uint64_t number) const;
    /// A free draw; predicates may reject many before it.
    Problem draw_freely(std::uint64_t number) const;

    /// The kernel's smallest problems: all within one step of the smallest distance, at most 64.
    const std::vector<Problem>& edge_problems() const { return edge_problems_; }

    /// Made when first asked for. Only where there is something to draw.
    const CoveringArray& covering_array() const;
    /// Null if no draw has asked for it.
    const CoveringArray* covering_array_if_made() const { return covering_array_; }

    /// What a problem that was drawn costs, as a share of the budget.
    double share_of(const Problem& problem) const { return drawer_->share_of(problem); }

    /// Null when the constraints have no solution.
    const SupportedProblems* supported() const { return supported_.get(); }

  private:
    Problem of_sizes(const GivenSizes& given, std::uint64_t number) const;
    void find_edge_problems();
    void try_draws();

    std::shared_ptr<const SupportedProblems> supported_;
    std::shared_ptr<CoveringArrays> covering_arrays_;
    std::optional<ProblemDrawer> drawer_;
    std::optional<SizePlan> sizes_;  ///< where the covering array is taken
    mutable std::atomic<const CoveringArray*> covering_array_ = nullptr;  ///< once asked for
    std::vector<Problem> edge_problems_;
    bool starts_with_edges_, takes_covering_array_;
    std::string why_none_;
};

/// Why problems are too rare: too few trials drew one that satisfies the constraints, or the
/// predicates accepted too few of these; else empty.
std::string why_too_rare(const KernelDeclaration& kernel, int trials, int drawn, int accepted);

/// A problem with its smaller neighbours, theirs, and so on, made lazily.
///
/// **Ranges** `supported` must live longer.
rc::Shrinkable<Problem> problem_tree(const SupportedProblems& supported, Problem problem);

/// Walks down a shrink tree greedily, as rapidcheck itself does: always to the first child that
/// `fails`, until none does or `may_go_on` says no.
template <class T, class Fails, class MayGoOn>
T walk(rc::Shrinkable<T> node, Fails fails, MayGoOn may_go_on) {
    for (bool moved = true; moved;) {
        moved = false;
        rc::Seq<rc::Shrinkable<T>> children = node.shrinks();
        while (!moved && may_go_on()) {
            auto child = children.next();
            if (!child) break;
            moved = fails(child->value());
            if (moved) node = std::move(*child);
        }
    }
    return node.value();
}

/// Draws the problem of case `index`, or freely; does not depend on rapidcheck's size.
///
/// **Ranges** the generator must live longer.
rc::Gen<Problem> problem_gen(const ProblemGenerator& generator,
                             std::optional<std::int64_t> index = std::nullopt);

}  // namespace gradverify
