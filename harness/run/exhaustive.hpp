// SPDX-License-Identifier: Apache-2.0
// Decides which cases `check --exhaustive` serves to a row, the dense ones of every supported
// problem in order, and how far a row got. Runs nothing; the suite knows order and dense cases.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "harness/cases/suite.hpp"

namespace gradverify {

/// The share of every row that one machine takes: cases with i % count == index.
struct Shard {
    static constexpr std::int64_t most = 1'000'000;
    std::int64_t index = 0, count = 1;
    bool operator==(const Shard&) const = default;
};

/// How far an exhaustive row goes, and which problems are its own.
struct ExhaustiveLimits {
    std::optional<std::int64_t> distance;  ///< of a problem from the default one, at most
    std::optional<std::int64_t> cases;     ///< at most, over all shards
    Shard shard;                           ///< of the problems in their order
};

/// How far an exhaustive row got.
struct ExhaustiveCover {
    std::int64_t problems = 0;  ///< run to the end: each with all its dense cases
    std::int64_t compared = 0;  ///< problems that compared a value other than zero
    /// Every supported problem (of the shard) up to this distance is among them; -1: at none.
    std::int64_t distance = -1;
    std::int64_t beyond = 0;  ///< problems that are farther than that
    bool is_all = false;      ///< the kernel supports no other
    bool gave_up = false;     ///< the kernel's predicate left no further problem to be found
    std::int64_t shards = 0;  ///< in all, where there are several

    /// `all 12,345 problems up to distance 7`
    std::string print() const;
    /// Adds another shard's, which may have got farther: to the least distance they have all.
    void add(const ExhaustiveCover& other);
    bool operator==(const ExhaustiveCover&) const = default;

    static void fields(auto& self, auto& visit) {
        visit.needed("problems", self.problems);
        visit.needed("compared", self.compared);
        visit.whole("distance", self.distance);
        visit.needed("beyond", self.beyond);
        visit.needed("all", self.is_all);
        visit("shards", self.shards);
        visit("gave_up", self.gave_up);
    }
};

/// Hands out the cases of a row and keeps the account of their answers.
class ExhaustiveWalk {
  public:
    struct Step {
        Case dense;
        std::int64_t index = 0;  ///< of the case over all shards; ascending
    };

    ExhaustiveWalk(const Suite& suite, Row row, const ExhaustiveLimits& limits);

    /// The next case, if there is one within the limits. Throws what a user's predicate throws.
    std::optional<Step> next();
    /// A case that was handed out was answered, and has neither failed nor errored.
    void answered(std::int64_t index, Verdict verdict);

    /// Problems before the case's, over all shards.
    std::int64_t problems_before(std::int64_t index) const { return index / draws_; }
    ExhaustiveCover cover() const;

  private:
    /// A problem whose cases are not all answered.
    struct Open {
        std::int64_t distance = 0, answers = 0;
        bool compared = false;
    };
    /// The problems at one distance.
    struct Ring {
        std::int64_t handed_out = 0, done = 0, compared = 0;
    };

    bool start_next_problem();

    const Suite* suite_;
    Row row_;
    ExhaustiveLimits limits_;
    Suite::ProblemsInOrder problems_;
    std::int64_t problem_index_ = -1;  ///< the problem that is being handed out
    std::deque<Case> cases_;           ///< its cases that are yet to be handed out
    std::int64_t draws_ = 1;           ///< cases of each problem
    std::int64_t reached_ = 0;         ///< every problem nearer than this was handed out
    bool at_end_ = false, is_all_ = false, gave_up_ = false;
    std::map<std::int64_t, Open> open_;  ///< by the problem's index
    std::map<std::int64_t, Ring> rings_;
};

/// Certifies a failure that shrinking had no time to certify: the walk that found it has run all
/// smaller problems.
/// **Ranges** `index` is the case's; no shard was left out.
void certify(Shrunk& failure, const Case& found, const ExhaustiveWalk& walk, std::int64_t index);

}  // namespace gradverify
