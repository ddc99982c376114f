// SPDX-License-Identifier: Apache-2.0
// Puts the properties, the generators and the shrinking together into what the driver runs. The
// only file that knows all of them.
#pragma once

#include "harness/cases/suite.hpp"
#include "properties/large/draw.hpp"

namespace gradverify {

struct SuiteOptions {
    /// The first cases of a row are a fixed list of the smallest problems. Off: the generator alone
    /// must find what is wrong.
    bool edge_problems = true;
    LargeDrawOptions large{};
};

/// **Ranges** the registry must outlive the suite and have been checked.
Suite make_suite(const Registry& registry, const SuiteOptions& options = {});

}  // namespace gradverify
