// SPDX-License-Identifier: Apache-2.0
// Decides whether a problem fails: runs its dense cases, with the found case's call before it, and
// remembers the answer. Where these don't show the failure on the found problem, `is_canonical` is
// false, and the found case's own data and setting are tried as well.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "properties/shrinking/trials.hpp"

namespace gradverify {

class ProblemTrials {
  public:
    /// Runs the dense cases of the found problem; one that fails becomes the smallest of `trials`.
    ProblemTrials(const Kernel& kernel, const Case& found, ShrinkTrials& trials);

    /// Runs the problem's cases until one fails, unless it is known whether one does. What passes,
    /// is vacuous or is skipped has not failed.
    bool fails(const Problem& problem);
    /// Whether it fails; nothing when it was not run, or when a run of it errored.
    std::optional<bool> known(const Problem& problem) const;
    /// The same; nothing also when no run of it compared a value other than zero.
    std::optional<bool> shown(const Problem& problem) const;

    /// Whether dense cases show the failure on the found problem.
    bool is_canonical() const { return is_canonical_; }
    /// No run errored.
    bool is_clean() const { return is_clean_; }
    /// The most runs that one problem takes.
    std::int64_t runs_per_problem() const;
    /// Whether dense cases alone show that the problem fails.
    bool fails_canonically(const Problem& problem);

  private:
    enum class Seen { nothing, passed, failed, errored };

    std::vector<Case> dense(const Problem& problem) const;

    const Kernel& kernel_;
    const Case found_;
    ShrinkTrials& trials_;
    std::map<Problem, Seen> seen_;
    bool is_canonical_ = false;
    bool is_clean_ = true;
};

}  // namespace gradverify
