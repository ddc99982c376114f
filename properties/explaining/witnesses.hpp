// SPDX-License-Identifier: Apache-2.0
// Asks the witnesses of a failure, on a case of its problem in a worker: compares kernel,
// reference, differences of the reference's forward map, and the registered kernels that share the
// operator. Who is wrong then is testimony's business.
#pragma once

#include "properties/properties.hpp"

namespace gradverify {

/// Run like a property, on integers, but no row: failed where the kernel differs from the
/// reference, passed where it doesn't; the message says who is wrong. Skipped where that can't be
/// asked.
const DefinedProperty& witnesses();

}  // namespace gradverify
