// SPDX-License-Identifier: Apache-2.0
// Decides how it is said how far a run is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/run/result.hpp"

namespace gradverify {

struct Progress {
    std::int64_t done = 0, most = 0;  ///< cases; 0: not known
    std::int64_t failed = 0;          ///< rows
    double seconds = 0.0;             ///< so far
    std::optional<double> limit;      ///< of time

    /// `1,200 of 50,000 cases, 850 a second, 40 s left, 2 rows failed`
    std::string print() const;
};

/// `40 s: 12,345 cases, 310 of 2,298 rows have all of theirs, none failed; longest now:
/// toy.forward/plain, repeatable on cpu, 12 s`
std::string print(const SignOfLife& sign);

}  // namespace gradverify
