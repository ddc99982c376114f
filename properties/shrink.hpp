// SPDX-License-Identifier: Apache-2.0
// Decides what the smallest reproducer of a failure is: first the problem (down the shrink tree,
// then every smaller supported problem in order, so that two seeds end at one problem and the
// result is proven minimal), then the data, then the setting. Does not run kernels: candidates go
// through the runner that it is given.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/property.hpp"
#include "properties/shrink_trials.hpp"

namespace gradverify {

struct ShrinkOptions {
    /// The nearest problems, tried before the tree is walked: most bugs show there already, and
    /// what passes need not be run again to certify.
    std::int64_t near_distance = 2;
    RunBudget near{.runs = 600, .seconds = 3.0};
    /// Walking the shrink tree.
    RunBudget descent{.runs = 4000, .seconds = 10.0};
    /// Running every smaller problem.
    RunBudget certification{.runs = 20000, .seconds = 20.0};
    /// Looking for the next problem to run; see EnumerationLimits.
    std::int64_t enumeration_steps = 10'000'000;
    RunBudget data{.runs = 1000, .seconds = 5.0};
    /// Cases that are run on a candidate problem, since other data may hide the bug.
    int draws = 3;
};

/// What shrinking needs to know of cases beside running them.
struct ShrinkTools {
    /// The non-zero values of a case's tensors. Without it data keeps its seed.
    std::function<std::vector<DataElement>(const Case&)> list_data{};
    /// A case on another problem, for draw 0, 1, ...; `redraw_case` when empty. The values should
    /// be dense: no zero, all different.
    std::function<Case(const Case& found, const Problem& problem, int draw)> redraw{};
};

/// The found case on another problem: draw 0 keeps its seed and setting; the others have seeds of
/// their own, and on the CPU device other orders of threads.
Case redraw_case(const Case& found, const Problem& problem, int draw);

/// Shrinks a failing case of a kernel.
///
/// `minimal` is true only when every smaller supported problem was run with all draws, and each
/// passed, was vacuous or was skipped.
Shrunk shrink_case(const Kernel& kernel, const Case& found, const Outcome& outcome,
                   const CaseRunner& runner, const ShrinkTools& tools = {},
                   const ShrinkOptions& options = {});

}  // namespace gradverify
