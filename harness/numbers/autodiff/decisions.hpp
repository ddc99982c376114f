// SPDX-License-Identifier: Apache-2.0
// Counts a forward function's comparisons while it runs on one of the harness's scalars: which way
// they went, which were ties, and which rounding could turn.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <stdexcept>

namespace gradverify {

/// The comparisons of one run.
struct Decisions {
    /// A hash of all outcomes in order: two runs with one trace took the same branches.
    std::uint64_t trace = 0xcbf29ce484222325u;
    std::int64_t ties = 0;       ///< equal values that move apart
    std::int64_t open = 0;       ///< equal values that do not move at this point
    std::int64_t undecided = 0;  ///< values closer to each other than their errors
    std::int64_t jumps = 0;      ///< numbers that lie on a jump of a step function
    bool has_places = false;     ///< numbers have become indices

    /// Where a place jumps the branch does, and what is computed from there.
    std::int64_t ties_and_jumps() const { return ties + (has_places ? jumps : 0); }

    void note(bool outcome) { trace = (trace ^ (outcome ? 2u : 1u)) * 0x100000001b3u; }
    /// Between which jumps of a step function the argument lies, by its value there.
    void note_step(double value) {
        trace = (trace ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3u;
    }
};

[[gnu::tls_model("initial-exec")]] inline thread_local Decisions current_decisions{};

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

/// Rounding may turn a comparison, so a correct kernel may take either branch, and has no bound.
class UndecidedComparison : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Exactly equal values were compared, and the operator leaves the branch of its gradient open.
class OpenTie : public UndecidedComparison {
  public:
    using UndecidedComparison::UndecidedComparison;
};

}  // namespace gradverify
