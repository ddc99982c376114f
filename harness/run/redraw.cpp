// SPDX-License-Identifier: Apache-2.0
#include "harness/run/redraw.hpp"

#include "harness/base/random.hpp"

namespace gradverify {

namespace {

// A problem whose results are always zero is not run for ever.
constexpr int times_most = 4;

}  // namespace

bool is_worth_redrawing(const Case& drawn, const Operator& op, const Outcome& outcome, int times) {
    return outcome.verdict == Verdict::vacuous && times < times_most && !drawn.data.is_dense &&
           !drawn.data.is_explicit && !drawn.setting.copies && !op.is_empty(drawn.problem);
}

Case redrawn(Case drawn) {
    drawn.data.seed = mix_seed(drawn.data.seed, "again") >> 40;
    if (drawn.setting.output_mask == 0) drawn.setting.output_mask = Setting::every_output;
    return drawn;
}

}  // namespace gradverify
