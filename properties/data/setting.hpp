// SPDX-License-Identifier: Apache-2.0
// Decides how a case's kernel is called: order of threads, pointer offsets, block size, stream and
// layouts, within what the kernel declares.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// More than these are drawn for the default stream only where a kernel knows no other.
inline constexpr double most_multiply_adds_by_default = 4096;

/// A setting for this kernel at this problem; the same on every device.
Setting draw_setting(const Kernel& kernel, const Problem& problem, std::uint64_t seed);
/// One for any problem, in the default layouts.
Setting draw_setting(const Kernel& kernel, std::uint64_t seed);

/// Draws layouts that the kernel declares to take, beside the default one.
void draw_layouts(const Kernel& kernel, const Problem& problem, std::uint64_t seed,
                  Setting& setting);

/// Whether the kernel takes buffers of less than cudaMalloc's alignment.
bool takes_moved_buffers(const KernelDeclaration& kernel);
/// Moves each buffer of the pass, counted from 1, by a number of steps: the declared alignment, or
/// an element where that is more.
///
/// **Units** elements, of the smallest size in the pass.
std::vector<int> moved_buffers(const Kernel& kernel,
                               const std::function<std::int64_t(std::int64_t)>& steps);

}  // namespace gradverify
