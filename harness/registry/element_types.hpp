// SPDX-License-Identifier: Apache-2.0
// Decides which element type each tensor of a kernel has, by the kernel's registration or else by
// the operator; and whether its indices may lie outside of their range.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/operators/operator.hpp"
#include "harness/registry/kernel_declaration.hpp"

namespace gradverify {

/// The type of a tensor, a cotangent or a gradient for this kernel.
DType dtype_of(const KernelDeclaration& kernel, const Operator& op, std::string_view tensor);

/// How this kernel stores a tensor with scales for blocks; nothing where it does not.
std::optional<BlockFormat> block_format_of(const KernelDeclaration& kernel,
                                           std::string_view tensor);

/// The name of an input's scales, as a launcher is given them.
std::string scales_of(std::string_view tensor);

/// What a launcher is given: the pass's inputs, the scales of those that have some, its outputs.
std::vector<std::string> tensors_of_call(const KernelDeclaration& kernel, const PassSpec& pass);

/// The element types that values are drawn for, and compared in.
class ElementTypes {
  public:
    /// The operator's types, and integers up to 2^exact_bits. Implicit: many callers need no more.
    ElementTypes(int exact_bits) : exact_bits_(exact_bits) {}
    /// A kernel's types; the kernel must outlive this.
    explicit ElementTypes(const KernelDeclaration& kernel);
    /// The same, where tensors that are only read may hold smaller numbers than sums do.
    ElementTypes(const KernelDeclaration& kernel, const Operator& op);
    ElementTypes(KernelDeclaration&& kernel) = delete;
    ElementTypes(KernelDeclaration&& kernel, const Operator& op) = delete;

    /// Integers up to 2^exact_bits keep their value in every sum and in every tensor of sums.
    int exact_bits() const { return exact_bits_; }
    /// The largest integer to draw for a tensor, which holds twice as much exactly.
    std::int64_t largest_integer(const Operator& op, std::string_view tensor) const;
    /// The type of a tensor, a cotangent or a gradient.
    DType of(const Operator& op, std::string_view tensor) const;
    /// The scales that a tensor has for blocks of its elements; nothing where it has none.
    std::optional<BlockFormat> blocks_of(std::string_view tensor) const {
        return kernel_ ? block_format_of(*kernel_, tensor) : std::nullopt;
    }
    /// Whether both operator and kernel allow the tensor to hold numbers outside of its range.
    bool may_be_invalid(const TensorSpec& tensor) const {
        return tensor.may_be_invalid && kernel_ && kernel_->accepts_invalid_indices;
    }

    /// Whether the operator defines what follows of NaN in the tensor, and the kernel obeys.
    bool may_be_nan(const TensorSpec& tensor) const {
        return tensor.may_be_nan && !(kernel_ && kernel_->takes_finite_numbers_alone) &&
               !blocks_of(tensor.name);
    }

  private:
    int exact_bits_;
    const KernelDeclaration* kernel_ = nullptr;
};

/// How the kernel stores a tensor: the name of an element type, or of a block format.
std::string_view storage_name(const KernelDeclaration& kernel, const Operator& op,
                              std::string_view tensor);
/// The bytes of a tensor of these sizes, and of its scales.
std::int64_t bytes_of(const KernelDeclaration& kernel, const Operator& op, std::string_view tensor,
                      const Sizes& sizes);

/// Whether the kernel's storage of a tensor holds all of these numbers.
bool can_store(const KernelDeclaration& kernel, const Operator& op, std::string_view tensor,
               const Array<double>& values);

/// The elements in a row of a tensor, along its innermost axis.
inline std::int64_t row_length(const Sizes& sizes) { return sizes.empty() ? 1 : sizes.back(); }

/// The bytes of the smallest element among a pass's tensors.
std::int64_t smallest_element_bytes(const KernelDeclaration& kernel, const Operator& op,
                                    const PassSpec& pass);

/// The mistakes in the types that a kernel declares, and what would be right.
std::vector<std::string> mistakes_in_types(const KernelDeclaration& kernel, const Operator& op,
                                           const PassSpec& pass);

/// The types of a pass's floating tensors: `bf16 (mean, rstd: f32)`.
std::string print_types(const KernelDeclaration& kernel, const Operator& op, const PassSpec& pass);

}  // namespace gradverify
