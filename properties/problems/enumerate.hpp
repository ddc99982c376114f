// SPDX-License-Identifier: Apache-2.0
// Decides which supported problem comes next in the order of problems: walks the domains by
// distance, then by padding, then from the left, without making the problems in between.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "properties/problems/solver.hpp"

namespace gradverify {

struct EnumerationLimits {
    /// No problem farther from the default one than this.
    std::int64_t distance = std::int64_t{1} << 50;
    /// Values looked at, at most a microsecond each: a predicate may reject problems without end.
    std::int64_t steps = 10'000'000;
    /// If given, only problems in its box: of its rank, with each parameter between its default and
    /// its value. Must outlive the enumerator's construction only.
    const Problem* box = nullptr;
};

class ProblemEnumerator {
  public:
    explicit ProblemEnumerator(const SupportedProblems& problems, EnumerationLimits limits = {});

    /// The next problem in the order; nothing when there is none within the limits.
    std::optional<Problem> next();

    /// The limit on steps counts from here on.
    void renew_steps() { steps_ = 0; }

    /// The limit on steps ended it.
    bool gave_up() const { return gave_up_; }

  private:
    /// Padding is counted apart, since it comes second in the order.
    enum Kind { other = 0, padding = 1 };
    static constexpr std::size_t kinds[] = {other, padding};
    using Budget = std::array<std::int64_t, 2>;

    /// What holds of a slot before any value is chosen.
    struct Level {
        int which = 0;          ///< the slot's class
        bool is_first = false;  ///< the first slot of its class: it chooses the value
        bool is_right = false;  ///< counts by its difference from the slot before
        Kind kind = other;
        std::int64_t usual = 0;             ///< default value
        Budget least{};                     ///< what its class costs at least, if it is the first
        Budget least_after{};               ///< the same for all later levels
        std::array<bool, 2> can_grow{};     ///< it may cost more than that
        std::array<bool, 2> grows_after{};  ///< some later level may
        std::int64_t lowest = 0, highest = 0;  ///< values that it may take
    };
    struct Walk {
        const RankDomain* domain = nullptr;
        std::vector<Level> levels{};
        std::int64_t nearest = 0, farthest = 0;  ///< no problem has a distance outside
        Budget least{};                          ///< the parts of `nearest`
        bool padding_grows = false;              ///< it may be more than its least
    };
    struct Position {
        std::int64_t value = 0, last = 0;  ///< the next value to try, and the last
        Budget rest{};                     ///< of the distance, before this level's cost
    };

    Walk make_walk(const RankDomain& domain) const;
    Level make_level(const RankDomain& domain, int slot) const;
    Budget class_cost(const RankDomain& domain, int which, std::int64_t value) const;
    bool start_next_walk();
    void enter(std::size_t level, Budget rest);
    std::optional<Budget> advance(std::size_t level);
    std::optional<Budget> after(std::size_t level, std::int64_t value);
    std::optional<Problem> next_in_walk();

    const SupportedProblems* problems_;
    EnumerationLimits limits_;
    std::vector<Walk> walks_;
    std::int64_t distance_ = 0, padding_ = 0, farthest_ = 0;
    Budget least_{};                 ///< of all walks
    std::int64_t padding_most_ = 0;  ///< of all walks
    std::size_t walk_ = 0;           ///< of distance_ and padding_, the next to start
    const Walk* current_ = nullptr;
    std::size_t depth_ = 0;
    std::vector<Position> positions_;
    std::optional<Assignment> values_;  ///< of the current walk
    std::int64_t steps_ = 0;
    bool gave_up_ = false;
};

/// How many supported problems come before this one; `most` when there are more, or when that
/// took too many steps to tell.
std::int64_t count_before(const SupportedProblems& problems, const Problem& problem,
                          std::int64_t most, std::int64_t steps = EnumerationLimits{}.steps);

}  // namespace gradverify
