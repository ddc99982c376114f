// SPDX-License-Identifier: Apache-2.0
// Decides which cases stand for a problem when it must be shown to pass: a few with dense data (no
// zero, all values different; some with ties or NaN where these are defined), each called in
// another way. They depend on no seed, so that shrinking from any failure runs the same ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// How many dense cases a problem has: at least three, and enough for each block size, subset and
/// place of outputs and layout, and for ties, NaN, outliers, indices and chains. Ten times as many
/// where the rounding of narrow outputs hides most errors, or factors of 8 bits have few digits to
/// lose.
int dense_draw_count(const Kernel& kernel, std::string_view property);

/// One of them. On the CPU device threads run ascending, descending and by random warps, in turn;
/// block sizes, streams and pointer offsets change as far as the kernel allows.
///
/// **Ranges** `draw` in [0, dense_draw_count).
Case dense_case(const Kernel& kernel, const std::string& property, const std::string& device,
                const Problem& problem, int draw);
std::vector<Case> dense_cases(const Kernel& kernel, const std::string& property,
                              const std::string& device, const Problem& problem);

}  // namespace gradverify
