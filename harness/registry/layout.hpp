// SPDX-License-Identifier: Apache-2.0
// Decides where the elements of a tensor lie in its buffer: the order of its axes, rows that are
// padded, axes of stride 0. What an operator names, what a kernel supports, what a case asks for.
// Owns no memory and knows no device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/operators/operator.hpp"
#include "harness/registry/kernel_declaration.hpp"
#include "harness/registry/tensor_view.hpp"

namespace gradverify {

/// How one tensor of a call lies in memory.
struct TensorLayout {
    std::string order;    ///< of its axes, as the operator names it; empty: the kernel's first
    int row_padding = 0;  ///< elements between a row, along the innermost axis, and the next
    std::uint32_t expanded = 0;  ///< bit i: along axis i the stride is 0

    bool is_expanded(std::size_t axis) const { return (expanded >> axis & 1u) != 0; }
    bool operator==(const TensorLayout&) const = default;
};

/// Elements from one to the next along each axis.
using Strides = std::vector<std::int64_t>;

/// The strides of an array without gaps whose axes lie in this order, the innermost last.
Strides dense_strides(const Sizes& sizes, const std::vector<int>& order);
/// The same in the order of the sizes: row-major.
Strides row_major_strides(const Sizes& sizes);

/// Where a tensor of these sizes lies for this kernel: `layout_of` of a setting.
///
/// **Errors** std::invalid_argument when the operator has no such order.
Strides strides_of(const Operator& op, const KernelDeclaration& kernel, std::string_view tensor,
                   const Sizes& sizes, const TensorLayout& layout);

/// The orders that the kernel takes a tensor in, the one that it is given by default first; empty
/// when neither the operator nor the kernel says more than row-major.
std::vector<std::string> orders_of(const Operator& op, const KernelDeclaration& kernel,
                                   std::string_view tensor);
/// Whether it takes a tensor by its strides, whatever they are.
bool takes_any_strides(const Operator& op, const KernelDeclaration& kernel,
                       std::string_view tensor);
/// A cotangent that a pass takes may be expanded: its elements along an axis are one.
bool may_be_expanded(const Operator& op, const PassSpec& pass, std::string_view tensor);
/// Whether every tensor of the pass may be given row-major: what a chain of kernels does.
bool takes_row_major(const Operator& op, const PassSpec& pass, const KernelDeclaration& kernel);

/// Why the kernel must not be given a tensor so; nothing if it may.
std::optional<std::string> why_unsupported(const Operator& op, const PassSpec& pass,
                                           const KernelDeclaration& kernel,
                                           const std::string& tensor, const TensorLayout& layout);

/// `nhwc`, `pad3`, `nhwc.pad1.expand023`: what is as the kernel's default is left out.
std::string print(const TensorLayout& layout);
/// **Errors** std::invalid_argument.
TensorLayout parse_layout(std::string_view text);

/// What is wrong with the layouts that a kernel declares, and what would be right.
std::vector<std::string> mistakes_in_layouts(const KernelDeclaration& kernel, const Operator& op,
                                             const PassSpec& pass);

/// `x: nhwc; dy, w: any strides`, as `list` prints it; empty for row-major.
std::string print_layouts(const KernelDeclaration& kernel, const Operator& op,
                          const PassSpec& pass);

}  // namespace gradverify
