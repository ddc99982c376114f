// SPDX-License-Identifier: Apache-2.0
// Decides which failures of a run are known: those that an earlier run's result file lists. A known
// failure is accepted; one that is listed and does not show any more is a mistake of the list.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/run/check.hpp"

namespace gradverify {

class Baseline {
  public:
    /// No known failures.
    Baseline() = default;
    /// Reads what `check --json FILE` wrote: each verdict that is failed, vacuous or errored. Lines
    /// of other kinds and passed rows are passed over, so that a whole result file will do.
    ///
    /// **Errors** UsageError that names the file and the line.
    static Baseline read(const std::string& path);

    /// Whether the row failed as the list says: the same kernel, property, device and verdict, and,
    /// where both shrunk problems are certified, the same problem. Anything else is a new failure.
    bool knows(const RowResult& result) const;

    /// One sentence for each listed failure whose row passed in this run, or failed in another way.
    std::vector<std::string> gone(const std::vector<RowResult>& results) const;

  private:
    struct Known {
        std::string verdict;
        std::string problem;  ///< certified as the smallest; empty: any
    };
    using Key = std::tuple<std::string, std::string, std::string>;
    static Key key_of(const RowResult& result);

    std::map<Key, Known> known_;
};

}  // namespace gradverify
