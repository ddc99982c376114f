// SPDX-License-Identifier: Apache-2.0
// The docs' table of seeded bugs: measures what it takes to kill each, and prints the page.
#pragma once

#include <span>
#include <string>

#include "properties/tests/seeded_bugs/lists.hpp"

namespace gradverify {

/// What it takes to kill a bug, as a table has it.
struct BugCell {
    std::string text;
    std::string elsewhere;  ///< a problem where it ended that is not the smallest
    bool is_well;           ///< killed from 19 seeds of 20, and always at its smallest problem
};
/// Hunts a bug from 20 seeds on a device that sees it.
BugCell measure_bug(const SeededBug& bug, const std::string& device);

/// What follows `bug-table` on the command line:
///
///   measure [--without FILE]   a row for each bug, property and device of this machine, but for
///                              those that have one in FILE
///   markdown                   the page with standard input's rows, the last of each
///   missing                    which seeded bugs have no row there for cpu
///
/// Returns the exit code: 1 when `measure` sees a bug that is not killed from 19 seeds of 20, or
/// not at its smallest problem, and when `missing` has something to say; 2 for bad usage.
int bug_table_main(std::span<const std::string> arguments);

}  // namespace gradverify
