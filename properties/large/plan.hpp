// SPDX-License-Identifier: Apache-2.0
// Decides what the tensors of a large call hold, and what it must give: which copies hold data
// of their own, and the tables of small problems that all elements are taken from. Runs no kernel.
//
// The copies that hold drawn data are first, last and around where an offset of 16 or 32 bits, in
// elements or bytes, overflows. Together they are a small problem, drawn like any other, and its
// reference says what they must give. All others hold zeros, or what is simplest: the reference
// on a single copy says what each must give. What all copies share is as the drawn ones have it;
// what is summed over them is the drawn copies' sum, as the others add nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/devices/large_call.hpp"
#include "harness/operators/copies.hpp"
#include "properties/checking/context.hpp"

namespace gradverify {

/// A large problem, and how its tensors lie in memory.
struct LargeShape {
    Problem one, large;
    const SeparableSpec* along = nullptr;
    std::int64_t copies = 0;
    DrawnCopies drawn{};
    std::vector<LargeTensor> tensors{};  ///< of the pass, inputs first; without tables

    /// The problem that the drawn copies are.
    Problem of_drawn() const { return multiplied(one, *along, drawn.count); }
};

/// **Errors** std::invalid_argument where tensors are not copies of the small problem's, or copies
/// would share a block.
LargeShape large_shape(const Kernel& kernel, const KernelDeclaration& declaration,
                       const Problem& one, const SeparableSpec& along, std::int64_t copies,
                       const Setting& setting);

/// Why the kernel can't be given the large problem, or one of the small ones that it is made of.
std::optional<std::string> why_unsupported(const Kernel& kernel, const LargeShape& shape);

/// Whether the reference of the pass obeys the law of copies on this problem: why not; nothing
/// where it does. By an experiment with three copies of it.
std::optional<std::string> why_law_fails(const Kernel& kernel, const Problem& one,
                                         const SeparableSpec& along, ValueKind kind);

/// Whether the small problem gives nothing but zeros, whatever its data: a filter that lies in
/// the padding alone. A large one of these would say nothing.
bool gives_only_zeros(const Kernel& kernel, const Problem& one, ValueKind kind);

/// The tables of a case's tensors.
struct LargePlan {
    LargeShape shape;
    /// The pass does not do as its operator says it does; nothing can be expected of it.
    std::string why_inapplicable{};
};

LargePlan plan_large(const Case& checked, const Registry& registry, ValueKind kind,
                     LargeShape shape);

}  // namespace gradverify
