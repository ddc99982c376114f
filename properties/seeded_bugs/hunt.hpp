// SPDX-License-Identifier: Apache-2.0
// Looks for a seeded bug as a run does: draws cases of its row until one fails. Decides no
// expectation.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/property.hpp"
#include "harness/worker_pool.hpp"
#include "properties/seeded_bugs/list.hpp"

namespace gradverify {

struct FirstFailure {
    Case found;
    Outcome outcome;
    std::int64_t cases = 0;  ///< run, this one included
};

/// The first failing case of a row, within so many cases.
///
/// **Errors** std::runtime_error when a case cannot be drawn.
std::optional<FirstFailure> first_failure(const Suite& suite, const Row& row, std::uint64_t seed,
                                          WorkerPool& pool, std::int64_t cases_maximum);

/// The row of a bug on a device; nothing where its property can't be asked or the bug can't be
/// seen.
///
/// **Errors** std::invalid_argument when the registry has no such kernel or property.
std::optional<Row> row_of(const SeededBug& bug, const std::string& device);

/// One worker of this executable.
WorkerPoolOptions one_suite_worker();

}  // namespace gradverify
