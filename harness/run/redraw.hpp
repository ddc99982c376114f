// SPDX-License-Identifier: Apache-2.0
// Decides which cases are run once more with other data: those that chance left with nothing to
// compare, as where the few numbers of a small problem were drawn as zeros. Knows no worker.
#pragma once

#include "harness/cases/case.hpp"
#include "harness/cases/outcome.hpp"

namespace gradverify {

/// Whether a case that came to this should be drawn again, after this many `times` before.
bool is_worth_redrawing(const Case& drawn, const Operator& op, const Outcome& outcome, int times);

/// The same problem with other data, and with all outputs asked for where none were.
Case redrawn(Case drawn);

}  // namespace gradverify
