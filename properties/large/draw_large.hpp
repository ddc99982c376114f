// SPDX-License-Identifier: Apache-2.0
// Decides which large problem case i of a row of `holds_when_large` is, a function of (seed,
// kernel, i) alone: by turns a tensor of more than 2^31 elements, 2^31 bytes, 2^31 elements again,
// and 2^32 elements, and by turns along each axis that can be multiplied. A kernel that declares
// up_to_elements() is tried at that number, one below, and where bytes overflow within it.
#pragma once

#include <cstdint>

#include "harness/cases/suite.hpp"
#include "properties/data/values.hpp"
#include "properties/problems/generator.hpp"

namespace gradverify {

/// Nothing, and a reason to skip the row, where the kernel takes no such problem.
///
/// **Units** `offset_bits`: the bits of the offsets that overflow, fewer in tests without a GPU.
Suite::Draw draw_large(const Row& row, const ProblemGenerator& generator, ValueKind kind,
                       std::uint64_t case_seed, std::int64_t index, int offset_bits);

}  // namespace gradverify
