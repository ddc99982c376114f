// SPDX-License-Identifier: Apache-2.0
// Kernels on complex numbers that forget a conjugate, a sign or a part: each is killed by the
// property that claims it and shrunk to the smallest problem known for it.
#include <doctest/doctest.h>

#include "properties/tests/seeded_bugs/hunt.hpp"

namespace gradverify {

TEST_CASE("a kernel that is wrong on complex numbers is killed where it is smallest") {
    hunt_down_all(complex_bugs, {.cases_maximum = 400});
}

}  // namespace gradverify
