// SPDX-License-Identifier: Apache-2.0
// Decides how a case's kernel is called: order of threads, pointer offsets, block size, stream and
// layouts, within what the kernel declares. Draws no problem and no data.
#pragma once

#include <cstdint>

#include "harness/cases/case.hpp"
#include "harness/operators/operator.hpp"
#include "harness/registry/kernel_declaration.hpp"

namespace gradverify {

/// A setting for this kernel; a function of the seed alone, the same on every device.
///
/// **Units** buffers are moved by multiples of the smallest element of the pass's tensors; an
/// offset in larger ones keeps the alignment all the more.
Setting draw_setting(const KernelDeclaration& kernel, const PassSpec& pass, std::uint64_t seed,
                     std::int64_t smallest_element_bytes = 4);

/// Layouts of the tensors of its pass that it declares to take, beside the default one; a function
/// of the seed and the problem alone.
void draw_layouts(const Kernel& kernel, const Problem& problem, std::uint64_t seed,
                  Setting& setting);

}  // namespace gradverify
