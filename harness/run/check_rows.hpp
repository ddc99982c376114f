// SPDX-License-Identifier: Apache-2.0
// Decides how the rows of a run are served: which cases are run, when a row ends, and what its
// verdict is. Runs nothing itself (the pool does) and prints nothing (an observer does).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/suite.hpp"
#include "harness/run/exhaustive.hpp"
#include "harness/run/result.hpp"
#include "harness/workers/pool.hpp"

namespace gradverify {

/// Cases of a failed kernel's other rows under a time limit: enough to see if they fail alike.
inline constexpr std::int64_t cases_beside_a_failure = 100;

struct CheckOptions {
    std::int64_t cases = 1000;             ///< per row
    std::optional<double> seconds;         ///< in total; what comes first ends the run
    std::optional<double> seconds_in_all;  ///< with shrinking; by default that has a quarter more
    /// Drawn cases that each row has before others have more; one that does not get them is `thin`.
    /// A row that runs alone has one.
    std::int64_t at_least = 0;
    double seconds_between_signs = 10.0;  ///< of life
    /// A kernel that has failed is named after this, where its report takes longer.
    double seconds_to_report = 5.0;
    std::uint64_t seed = 0;
    Shard shard;
    bool is_strict = false;         ///< what is imprecise fails
    std::int64_t max_failures = 0;  ///< rows; then no case begins any more; 0: never
    /// Cases that have failed before: those of a row are its first, in the first shard.
    std::vector<Case> known_cases;
    /// The user's own, dealt in turn to each row as its kernel supports them; empty: drawn ones.
    std::vector<Problem> problems;
    /// Files of tensors that are of these problems, one for each operator.
    std::vector<std::string> data_files;
    /// With own problems, instead of `cases`: the cases of each problem that the kernel supports.
    std::optional<std::int64_t> cases_per_problem;
    /// Instead of drawn cases: every supported problem, `cases` and the shard's included.
    std::optional<ExhaustiveLimits> exhaustive;
    /// Whether a row that did not pass does so as the user knows; empty: none does.
    std::function<bool(const RowResult&)> is_known;
};

struct CheckObserver {
    /// A case of a row, as it was drawn.
    std::function<void(const Case&, const Outcome&)> case_ended;
    std::function<void(const RowResult&)> row_ended;
    /// Rows that have run cases and go on, after 1, 2, 4 ... seconds.
    std::function<void(const RowResult&)> row_goes_on;
    /// The rows of one bug, in their order: those of a kernel on a device that fail at one smallest
    /// problem, or for one source line. Rows that fail so later come with `is_more`.
    std::function<void(const std::vector<const RowResult*>&, bool is_more)> bug_found;
    /// A kernel's first failure, as it was found, where its report takes long.
    std::function<void(const Case&, const Outcome&)> failure_waits;
    /// Now and then, however long nothing ends.
    std::function<void(const SignOfLife&)> lives;
    /// Cases done, of how many at most (0: not known), and rows that failed so far.
    std::function<void(std::int64_t done, std::int64_t most, std::int64_t failed)> progressed;
};

/// Serves the rows round robin, one case each first, the suite's first property before the second;
/// a row ends at its first failure or error, the one of lowest index. A failure is shrunk by one
/// worker as soon as every row has had its first case, while the others (or the only one, by turns)
/// run cases. With a time limit each failure has a share of it before any has more, and other rows
/// of a kernel that failed take no more than `cases_beside_a_failure`. Results come in the rows'
/// order.
std::vector<RowResult> check_rows(const Suite& suite, const std::vector<Row>& rows,
                                  const CheckOptions& options, WorkerPool& pool,
                                  const CheckObserver& observer);

}  // namespace gradverify
