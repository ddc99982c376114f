// SPDX-License-Identifier: Apache-2.0
// Looks for a seeded bug as a run does, by cases of its row until one fails, and checks that it is
// killed, shrunk to its smallest problem, and failing when replayed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "harness/cases/suite.hpp"
#include "harness/workers/pool.hpp"
#include "properties/tests/seeded_bugs/lists.hpp"

namespace gradverify {

struct FirstFailure {
    Case found;
    Outcome outcome;
    std::int64_t cases = 0;  ///< run, this one included
};

/// The first failing case of a row, if there is one.
///
/// **Errors** std::runtime_error when a case cannot be drawn, or has no verdict.
std::optional<FirstFailure> first_failure(const Suite& suite, const Row& row, std::uint64_t seed,
                                          WorkerPool& pool, std::int64_t cases_maximum);

/// The row of a bug on a device, if its property can see the bug there.
///
/// **Errors** std::invalid_argument when the registry has no such kernel or property.
std::optional<Row> row_of(const SeededBug& bug, const std::string& device);

/// How hard a bug is looked for, and what is asked of it besides its smallest problem.
struct Hunt {
    std::int64_t cases_maximum = 1000;
    bool begins_above = false;  ///< from one of two seeds it is found at a larger problem
    bool is_replayed = true;    ///< its last line fails again in another process
    std::uint64_t seeds = 2;    ///< how many, from 1 on
};

/// Checks that a bug is killed from this seed, and shrunk to its smallest problem. Returns whether
/// it was found at a larger one, or can't be found on this device.
bool hunt_down(const Suite& suite, const SeededBug& bug, const std::string& device,
               std::uint64_t seed, const Hunt& hunt);
/// Hunts each bug from these seeds on every device that sees it, without the list of edge problems.
void hunt_down_all(std::span<const SeededBug> bugs, const Hunt& hunt);

/// One worker of this executable.
WorkerPoolOptions one_suite_worker();

}  // namespace gradverify
