// SPDX-License-Identifier: Apache-2.0
// Does in a worker what `bench` asks for: times a kernel on drawn data, or measures the device.
#pragma once

#include "harness/cases/measurement.hpp"
#include "harness/cases/outcome.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// Skipped: this can't be measured, and no kernel is to blame. Failed: the kernel's doing.
///
/// **Errors** std::invalid_argument for a kernel that there is not, EnvironmentError when the
/// device can't be reached.
Outcome measure(const Registry& registry, const MeasureRequest& request);

}  // namespace gradverify
