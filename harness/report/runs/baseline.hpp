// SPDX-License-Identifier: Apache-2.0
// Decides which failures are known: those that an earlier run's result file lists. They are
// accepted; a listed failure that does not show any more is a mistake of the list.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/report/files/record.hpp"

namespace gradverify {

class Baseline {
  public:
    /// Knows no failure.
    Baseline() = default;
    /// Takes the failed, vacuous and errored rows of a file that `check --json` wrote.
    /// **Errors** UsageError that names the file and the line.
    static Baseline read(const std::string& path);

    /// Whether the list has the row's kernel, property, device and verdict and, where both smallest
    /// problems are certified, its problem.
    bool knows(const RowRecord& record) const;

    /// One sentence for each listed failure whose row passed in this run, or failed in another way.
    std::vector<std::string> gone(const std::vector<RowRecord>& records) const;

  private:
    struct Known {
        std::string verdict;
        std::string problem;  ///< certified as the smallest; empty: any
    };

    std::map<RowName, Known> known_;
};

}  // namespace gradverify
