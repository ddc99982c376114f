// SPDX-License-Identifier: Apache-2.0
// Kernels that compute a convolution as products and are wrong in groups, dilation, shares of a
// sum, phases of the stride, chunks of a batch or channel multipliers: each is killed by the
// property that claims it and shrunk to the smallest problem known for it.
#include <doctest/doctest.h>

#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

TEST_CASE("a kernel that multiplies wrongly is killed where it is smallest") {
    hunt_down_all(product_bugs, {.cases_maximum = 400});
}

}  // namespace gradverify
