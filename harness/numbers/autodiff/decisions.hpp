// SPDX-License-Identifier: Apache-2.0
// Keeps account of what a forward function's comparisons came to while it ran on one of the
// harness's scalars: which way they went, which were ties, and which rounding could turn. Knows no
// scalar and no operator.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace gradverify {

/// The comparisons of one run.
struct Decisions {
    /// A hash of all outcomes in order: two runs with one trace took the same branches.
    std::uint64_t trace = 0xcbf29ce484222325u;
    std::int64_t ties = 0;       ///< of equal values that move apart
    std::int64_t open = 0;       ///< orders of equal values that inputs do not move here
    std::int64_t undecided = 0;  ///< of values closer to each other than their errors

    void note(bool outcome) { trace = (trace ^ (outcome ? 2u : 1u)) * 0x100000001b3u; }
};

inline thread_local Decisions current_decisions{};

/// Counts from zero until the end of the scope.
class ScopedDecisions {
  public:
    ScopedDecisions() : before_(current_decisions) { current_decisions = {}; }
    ~ScopedDecisions() { current_decisions = before_; }
    ScopedDecisions(const ScopedDecisions&) = delete;
    ScopedDecisions& operator=(const ScopedDecisions&) = delete;

    const Decisions& made() const { return current_decisions; }

  private:
    Decisions before_;
};

/// Rounding may turn a comparison of the forward function, so there is no bound: a correct kernel
/// may take either branch.
class UndecidedComparison : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Equal values were compared, whatever the rounding, and the operator leaves open which branch its
/// gradient follows.
class OpenTie : public UndecidedComparison {
  public:
    using UndecidedComparison::UndecidedComparison;
};

}  // namespace gradverify
