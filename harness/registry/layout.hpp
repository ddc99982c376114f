// SPDX-License-Identifier: Apache-2.0
// Decides where the elements of a tensor lie in its buffer: the order of its axes, rows that are
// padded, axes of stride 0. An operator names layouts, a kernel supports some, a case asks for one.
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

/// The strides of an array without gaps whose axes lie in the order of the sizes.
Strides row_major_strides(const Sizes& sizes);
/// A tensor as a launcher gets it.
TensorView view_of(void* data, DType dtype, const Sizes& sizes, const Strides& strides);

/// The strides of a tensor of these sizes that a kernel is given in this layout.
/// **Errors** std::invalid_argument when the operator has no such order.
Strides strides_of(const Operator& op, const KernelDeclaration& kernel, std::string_view tensor,
                   const Sizes& sizes, const TensorLayout& layout);

/// The orders that the kernel takes a tensor in, its default first; empty when none is declared.
std::vector<std::string> orders_of(const Operator& op, const KernelDeclaration& kernel,
                                   std::string_view tensor);
/// Whether the kernel takes a tensor by its strides, whatever they are.
bool takes_any_strides(const Operator& op, const KernelDeclaration& kernel,
                       std::string_view tensor);
/// Whether the tensor is a cotangent that the pass takes: it may have stride 0 along an axis.
bool may_be_expanded(const Operator& op, const PassSpec& pass, std::string_view tensor);
/// The pass's cotangents that the kernel declares nothing of, and that lie in no tensor's place.
std::vector<std::string> undeclared_cotangents(const Operator& op, const PassSpec& pass,
                                               const KernelDeclaration& kernel);
/// Whether every tensor of the pass may be row-major, as in a chain of kernels.
bool takes_row_major(const Operator& op, const PassSpec& pass, const KernelDeclaration& kernel);

/// Why the kernel must not be given a tensor in this layout; nothing if it may.
std::optional<std::string> why_unsupported(const Operator& op, const PassSpec& pass,
                                           const KernelDeclaration& kernel,
                                           const std::string& tensor, const TensorLayout& layout);

/// `nhwc`, `pad3`, `nhwc.pad1.expand023`, without the parts that are the kernel's default.
std::string print(const TensorLayout& layout);
/// **Errors** std::invalid_argument.
TensorLayout parse_layout(std::string_view text);

/// The mistakes in the layouts that a kernel declares, and what would be right.
std::vector<std::string> mistakes_in_layouts(const KernelDeclaration& kernel, const Operator& op,
                                             const PassSpec& pass);

/// `x: nhwc; dy, w: any strides`, as `list` prints it; empty for row-major.
std::string print_layouts(const KernelDeclaration& kernel, const Operator& op,
                          const PassSpec& pass);

}  // namespace gradverify
