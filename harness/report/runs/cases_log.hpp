// SPDX-License-Identifier: Apache-2.0
// Decides how a case reads for viewers of property-based tests such as Tyche: as a line of
// Hypothesis's schema of observations.
#pragma once

#include "harness/base/checked_json.hpp"
#include "harness/cases/case.hpp"
#include "harness/cases/outcome.hpp"

namespace gradverify {

/// `run_start`: seconds since 1970. A case that compared nothing but zeros gave up.
ordered_json json_of_case(const Case& checked, const Outcome& outcome, double run_start);

}  // namespace gradverify
