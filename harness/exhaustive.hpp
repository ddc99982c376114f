// SPDX-License-Identifier: Apache-2.0
// Decides which cases `check --exhaustive` serves to a row: the dense cases of every supported
// problem, in the order of problems, up to a distance; and how far a row got. Runs nothing, and
// knows neither how problems follow each other nor what a dense case holds (the suite does).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "harness/property.hpp"

namespace gradverify {

/// How far an exhaustive row goes.
struct ExhaustiveOptions {
    /// No problem farther than this. Without it: as far as the cases below reach.
    std::optional<std::int64_t> distance;
    /// Without a distance: the largest whose problems take no more cases than this, at least that
    /// of the nearest problem. Nothing: no end but that of the time.
    std::optional<std::int64_t> cases;
    /// Of the problems, those with index % count == this one's.
    std::int64_t shard = 0, shards = 1;
};

/// How far an exhaustive row got.
struct ExhaustiveCover {
    /// Every supported problem up to this distance was run (those of the shard); -1: none was.
    std::int64_t distance = -1;
    std::int64_t problems = 0;  ///< those up to this distance
    bool is_all = false;        ///< the kernel supports no other

    /// `all 12,345 problems up to distance 7`
    std::string print() const;
    bool operator==(const ExhaustiveCover&) const = default;
};

/// Hands out the cases of a row.
class ExhaustiveWalk {
  public:
    ExhaustiveWalk(const Suite& suite, const Row& row, const ExhaustiveOptions& options);

    /// The next case; nothing when there is none within the limits.
    std::optional<Case> next();

    /// How many cases it hands out; nothing when it did not count that far.
    std::optional<std::int64_t> cases_in_all() const { return cases_in_all_; }
    /// Problems of this shard that were handed out before that of this case, counted from 0.
    std::int64_t problems_before(std::int64_t case_index) const { return case_index / draws_; }
    /// How far one got who ran all that was handed out.
    ExhaustiveCover covered() const;

  private:
    void plan(const ExhaustiveOptions& options);
    void advance();

    const Suite* suite_;
    Row row_;
    std::int64_t shard_, shards_;
    std::int64_t draws_ = 1;
    std::int64_t farthest_ = 0;
    std::optional<std::int64_t> cases_in_all_;
    Suite::ProblemsInOrder problems_;
    Suite::NextProblem ahead_;              ///< the next problem of any shard
    std::int64_t ahead_index_ = 0;          ///< of that problem, over all shards
    std::deque<Case> pending_;              ///< of the problem that is being handed out
    std::vector<std::int64_t> handed_out_;  ///< problems by distance
};

struct RowResult;

/// Lines that say how far the rows of each kernel got; empty without exhaustive rows.
std::string exhaustive_lines(const std::vector<RowResult>& results);

}  // namespace gradverify
