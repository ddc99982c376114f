// SPDX-License-Identifier: Apache-2.0
// One call of the kernel's checked variant, in the case's order of threads and blocks. Its findings
// depend little on that order, and not on whether the values are right.
#include "properties/properties.hpp"

namespace gradverify {

Outcome free_of_races(CaseContext& context) {
    const CallResult result = context.caller.call_checked(context.inputs.of(context.pass()));
    if (!result.findings.empty()) return Outcome::failed(result.findings.front());
    if (const auto failure = failed_or_unordered(result)) return *failure;
    return {.verdict = result.accesses_checked > 0 ? Verdict::passed : Verdict::vacuous};
}

}  // namespace gradverify
