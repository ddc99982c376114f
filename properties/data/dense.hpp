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

/// Dense cases of a problem: three, or as many as the kernel declares block sizes, or as there are
/// subsets of the outputs that it can be asked for, or twice as many as places for an output; eight
/// of an operator with ties or NaN, and 24 of a chain of layers; nine where indices choose among
/// other numbers of no sum of products. Ten times as many where an output of half or bfloat16 is
/// compared within its rounding, which hides most errors of most draws, or where factors are of 8
/// bits, of which two have few digits that could get lost.
int dense_draw_count(const Kernel& kernel, std::string_view property);

/// One of them. On the CPU device threads run ascending, descending and by random warps, in turn;
/// on every device block sizes, streams and pointer offsets change as far as the kernel allows.
///
/// **Ranges** `draw` in [0, dense_draw_count).
Case dense_case(const Kernel& kernel, const std::string& property, const std::string& device,
                const Problem& problem, int draw);

}  // namespace gradverify
