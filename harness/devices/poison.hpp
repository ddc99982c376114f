// SPDX-License-Identifier: Apache-2.0
// Decides what lies in outputs and workspace before a call, and in the guards around buffers.
#pragma once

#include <cstdint>

#include "harness/numbers/dtype.hpp"

namespace gradverify {

/// The content of a buffer that the kernel must write, before the run. `plausible` is a number as a
/// result may be: 5/8, of integers 1, of scales 1/2. No test for NaN or for a range hides it.
enum class Poison { nan, positive_huge, negative_huge, plausible };

std::uint64_t poison_bits(DType dtype, Poison poison);
double poison_value(DType dtype, Poison poison);
/// One of the two guards that alternate: a NaN, or a small finite number.
std::uint64_t guard_bits(DType dtype, bool nan);

}  // namespace gradverify
