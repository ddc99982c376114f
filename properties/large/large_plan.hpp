// SPDX-License-Identifier: Apache-2.0
// Decides what the tensors of a large call hold, and what it must give.
//
// Drawn data are in the first and last copy, and around where an offset of 16 or 32 bits, in
// elements or bytes, overflows. These copies together are a small problem, whose reference says
// what they must give. All others hold zeros, or what is simplest, and add nothing to sums over all
// copies; the reference on a single copy says what each must give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/devices/large/large_call.hpp"
#include "harness/operators/copies.hpp"
#include "properties/checking/context.hpp"

namespace gradverify {

struct LargeShape {
    Problem one, large;
    const SeparableSpec* along = nullptr;
    std::int64_t copies = 0;
    DrawnCopies drawn{};
    std::vector<LargeTensor> tensors{};  ///< of the pass, inputs first; without tables

    Problem of_drawn() const { return multiplied(one, *along, drawn.count); }
};

/// **Errors** std::invalid_argument where tensors are not copies of the small problem's, or copies
/// would share a block.
LargeShape large_shape(const Kernel& kernel, const KernelDeclaration& declaration,
                       const Problem& one, const SeparableSpec& along, std::int64_t copies,
                       const Setting& setting);

/// Why the kernel can't be given the large problem, or one of its small ones.
std::optional<std::string> why_unsupported(const Kernel& kernel, const LargeShape& shape);

/// Why the pass's reference breaks the law of copies on three copies of this problem, if it does.
std::optional<std::string> why_law_fails(const Kernel& kernel, const Problem& one,
                                         const SeparableSpec& along, ValueKind kind);

/// Whether the small problem gives nothing but zeros, as with a filter in the padding alone.
bool gives_only_zeros(const Kernel& kernel, const Problem& one, ValueKind kind);

struct LargePlan {
    LargeShape shape;
    /// How the pass breaks what its operator says; nothing can be expected then.
    std::string why_inapplicable{};
};

LargePlan plan_large(const Case& checked, const Registry& registry, ValueKind kind,
                     LargeShape shape);

}  // namespace gradverify
