// SPDX-License-Identifier: Apache-2.0
// Decides what a row's cases come to together: what is noted of one that passed, and the verdict of
// a row that neither a failure nor an error has ended.
#pragma once

#include "harness/run/result.hpp"

namespace gradverify {

/// Sets verdict and message of a row of this run, which may have been interrupted.
void decide_verdict(RowResult& result);

/// `draws_its_own`: the row's problems are unlike those of all others.
void note_passed(RowResult& result, const Case& drawn, const Outcome& outcome, bool draws_its_own);

}  // namespace gradverify
