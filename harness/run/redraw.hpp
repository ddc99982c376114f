// SPDX-License-Identifier: Apache-2.0
// Decides which cases are run again with other data: chance left them with nothing to compare, such
// as a small problem whose few numbers were all drawn as zeros.
#pragma once

#include "harness/base/random.hpp"
#include "harness/cases/case.hpp"
#include "harness/cases/outcome.hpp"

namespace gradverify {

/// Whether a case with this outcome should be drawn again, after it was `times` times before.
inline bool is_worth_redrawing(const Case& drawn, const Operator& op, const Outcome& outcome,
                               int times) {
    constexpr int times_most = 4;  // a problem whose results are always zero is not run for ever
    return outcome.verdict == Verdict::vacuous && times < times_most && !drawn.data.is_dense &&
           !drawn.data.is_explicit && !drawn.setting.copies && !op.is_empty(drawn.problem);
}

/// The same problem with other data, and with all outputs asked for where none were.
inline Case redrawn(Case drawn) {
    drawn.data.seed = mix_seed(drawn.data.seed, "again") >> 40;
    if (drawn.setting.output_mask == 0) drawn.setting.output_mask = Setting::every_output;
    return drawn;
}

}  // namespace gradverify
