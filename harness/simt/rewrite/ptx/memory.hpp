// SPDX-License-Identifier: Apache-2.0
// What loads, stores, atomics and cp.async share.
#pragma once

#include "harness/simt/rewrite/ptx/ptx.hpp"

namespace gradverify::simt::rewrite {

/// How an instruction names memory, and how strong its access is.
struct MemoryModifiers {
    std::string space, type, width;
    bool is_strong = false, acquires = false, releases = false, has_policy = false;
    bool is_of_block = false;  ///< its scope
};

/// Takes all that it knows.
MemoryModifiers memory_modifiers(PtxModifiers& modifiers);

}  // namespace gradverify::simt::rewrite
