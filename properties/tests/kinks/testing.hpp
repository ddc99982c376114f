// SPDX-License-Identifier: Apache-2.0
// What the tests at kinks and ties share: a case run in this process, and how it may end.
#pragma once

#include <string>

#include "harness/registry/registry.hpp"
#include "properties/suite/suite.hpp"

namespace gradverify::testing {

/// Runs a case on the cpu device; rest: its problem and data, as printed cases have them.
inline Outcome run(const std::string& kernel, const std::string& property,
                   const std::string& rest) {
    const KernelSuite suite(Registry::instance());
    return suite.run("v1:" + kernel + ":" + property + ":cpu:" + rest);
}

/// Zero agrees as well where it lies between the sides of all, and the case says nothing.
inline bool agrees(const Outcome& outcome) {
    return outcome.verdict == Verdict::passed || outcome.verdict == Verdict::vacuous;
}

}  // namespace gradverify::testing
