// SPDX-License-Identifier: Apache-2.0
// Decides how a case's kernel is called: order of threads, pointer offsets, block size, stream and
// layouts, within what the kernel declares.
#pragma once

#include <cstdint>

#include "harness/cases/case.hpp"
#include "harness/operators/operator.hpp"
#include "harness/registry/kernel_declaration.hpp"

namespace gradverify {

/// A setting for this kernel; the same on every device.
///
/// **Units** buffers are moved by elements, whose smallest size in the pass decides how far.
Setting draw_setting(const KernelDeclaration& kernel, const PassSpec& pass, std::uint64_t seed,
                     std::int64_t smallest_element_bytes = 4);

/// Draws layouts that the kernel declares to take, beside the default one.
void draw_layouts(const Kernel& kernel, const Problem& problem, std::uint64_t seed,
                  Setting& setting);

}  // namespace gradverify
