// SPDX-License-Identifier: Apache-2.0
// Decides how a case's kernel is called: order of threads, pointer offsets, block size and stream,
// within what the kernel declares. Draws no problem and no data.
#pragma once

#include <cstdint>

#include "harness/case.hpp"
#include "harness/kernel_declaration.hpp"
#include "harness/operator.hpp"

namespace gradverify {

/// A setting for this kernel; a function of the seed alone, the same on every device.
Setting draw_setting(const KernelDeclaration& kernel, const PassSpec& pass, std::uint64_t seed);

}  // namespace gradverify
