// SPDX-License-Identifier: Apache-2.0
// Asks the witnesses of a failure: compares kernel, reference, differences of the reference's
// forward map, and the registered kernels of the operator. testimony.hpp then decides who is wrong.
#pragma once

#include "properties/properties.hpp"

namespace gradverify {

/// Run like a property, on integers: failed where the kernel differs from the reference, else
/// passed; the message says who is wrong. Skipped where that can't be asked.
const DefinedProperty& witnesses();

}  // namespace gradverify
