// SPDX-License-Identifier: Apache-2.0
// The docs' table of seeded bugs: measures what it takes to kill each, and prints the page.
#pragma once

#include <span>
#include <string>

namespace gradverify {

/// What follows `bug-table` on the command line:
///
///   measure [--without FILE]   a row for each bug, property and device of this machine, but for
///                              those that have one in FILE
///   markdown                   the page with standard input's rows, the last of each
///   missing                    which seeded bugs have no row there for cpu
///   museum                     a row of docs/results/museum.md for each famous bug, on cpu
///
/// Returns the exit code: 1 when `measure` or `museum` sees a bug that is not killed from 19 seeds
/// of 20, or not at its smallest problem, and when `missing` has something to say; 2 for bad usage.
int bug_table_main(std::span<const std::string> arguments);

}  // namespace gradverify
