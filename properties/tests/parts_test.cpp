// SPDX-License-Identifier: Apache-2.0
// Gradients that are summed in many parts, of which several threads add some, or in several rounds:
// drawn problems are too small.
#include <doctest/doctest.h>

#include "properties/tests/verdicts.hpp"

namespace gradverify {

using namespace testing;

TEST_CASE("dw in many parts is right, and the threads that add them wait for each other") {
    for (const char* property : {"matches_reference", "free_of_races"})
        check_verdict(Verdict::passed, "conv.grad_weight/wgmma_f16", property,
                      "c=8,k=8,in=96x96:seed=1");
}

TEST_CASE("db is right where a warp has more of a plane than it reads at once") {
    check_verdict(Verdict::passed, "conv.grad_bias/one_launch", "matches_reference",
                  "in=40x40:seed=1");
}

}  // namespace gradverify
