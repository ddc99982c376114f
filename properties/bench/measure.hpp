// SPDX-License-Identifier: Apache-2.0
// Does in a worker what `bench` asks for: times a kernel on drawn data, or measures the device.
#pragma once

#include "harness/cases/measurement.hpp"
#include "harness/cases/outcome.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// Skipped: this can't be measured, and no kernel is to blame. Failed: the kernel's doing. Inputs
/// that a forward pass saves, and that are too much work for the reference, are those of one copy,
/// where the problem is copies of a small one.
///
/// **Errors** std::invalid_argument for a kernel that there is not, EnvironmentError when the
/// device can't be reached.
Outcome measure(const Registry& registry, const MeasureRequest& request,
                double most_saved = saved_multiply_adds);

}  // namespace gradverify
