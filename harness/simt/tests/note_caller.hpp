// SPDX-License-Identifier: Apache-2.0
// How a unit shows a test where in its code it is.
#pragma once

namespace simt_test {

/// Both note the byte before the address that they would return to.
void note_caller();
[[noreturn]] void note_caller_and_throw();

}  // namespace simt_test
