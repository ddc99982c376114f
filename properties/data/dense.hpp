// SPDX-License-Identifier: Apache-2.0
// Decides which cases stand for a problem when it must be shown to pass: a few with dense data (no
// zero, all values different; where an operator defines ties or NaN, as many with these), each
// called in another way, so that neither the data nor the setting hides a bug. A function of the
// kernel, the property, the device and the problem alone: whoever shrinks from whatever seed runs
// the same ones. Runs nothing.
#pragma once

#include <string>
#include <string_view>

#include "harness/cases/case.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// How many dense cases a problem has: at least three, and enough for each block size, each subset
/// of the outputs, each place of an output in two draws, each layout, and for ties, NaN, outliers
/// and chains where the operator has these. Ten times as many where an output of half or bfloat16
/// is compared within its rounding, which hides most errors of most draws, or where factors are of
/// 8 bits, since two of them have few digits that could get lost.
int dense_draw_count(const Kernel& kernel, std::string_view property);

/// One of them. On the CPU device threads run ascending, descending and by random warps, in turn;
/// on every device block sizes, streams and pointer offsets change as far as the kernel allows.
///
/// **Ranges** `draw` in [0, dense_draw_count).
Case dense_case(const Kernel& kernel, const std::string& property, const std::string& device,
                const Problem& problem, int draw);

}  // namespace gradverify
