// SPDX-License-Identifier: Apache-2.0
// Registers a piece of the museum and its twin without the mistake, with what both declare.
#pragma once

#include "properties/tests/launches.cuh"

namespace gradverify {

/// Offsets are of 32 bits.
inline void declare_piece(KernelDeclaration& kernel) { kernel.up_to_elements(1 << 30); }
/// The same of one with atomic additions.
inline void declare_atomics(KernelDeclaration& kernel) {
    kernel.with(declare_piece).not_deterministic();
}

}  // namespace gradverify

/// `LAUNCHER<true>` is without the mistake.
#define GRADVERIFY_MUSEUM_PAIR(PASS, NAME, LAUNCHER, DECLARE)               \
    GRADVERIFY_KERNEL(PASS, "museum_" NAME, LAUNCHER<false>).with(DECLARE); \
    GRADVERIFY_KERNEL(PASS, "fixed_" NAME, LAUNCHER<true>).with(DECLARE)
