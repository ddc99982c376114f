// SPDX-License-Identifier: Apache-2.0
// Decides what an operator is: parameters, tensors, passes and the reference of each pass. Every
// property, generator and report is generic over this description. Knows no operator, no device
// and no Eigen.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bounded.hpp"
#include "harness/constraint.hpp"
#include "harness/dtype.hpp"
#include "harness/problem.hpp"

namespace gradverify {

using Sizes = std::vector<std::int64_t>;

/// The largest std::int64_t when there are more.
std::int64_t element_count(const Sizes& sizes);

/// A dense row-major array on the host, as references read and write it.
template <class T>
struct Array {
    Sizes sizes;
    std::vector<T> data;

    std::int64_t size(int axis) const { return sizes[static_cast<std::size_t>(axis)]; }
};

template <class T>
using Inputs = std::span<const Array<T>>;
template <class T>
using Outputs = std::span<Array<T>>;

/// Computes a pass on the host. Arrays come in the pass's order; outputs have their sizes and
/// hold zeros.
template <class T>
using Reference = std::function<void(const Problem&, Inputs<T>, Outputs<T>)>;

/// One named tensor of an operator.
struct TensorSpec {
    std::string name;  ///< "x"; its gradient or cotangent is "dx"
    std::function<Sizes(const Problem&)> sizes;
    bool differentiable = true;
};

/// One map that a kernel can implement.
struct PassSpec {
    std::string name;                  ///< "forward", "grad_weight"
    std::vector<std::string> inputs;   ///< tensor names; "dy" is the cotangent of y
    std::vector<std::string> outputs;  ///< "dw" is the gradient of w
    Reference<double> reference;
    Reference<Bounded> bounded_reference;
    /// Multiply-adds of one call.
    std::function<double(const Problem&)> multiply_adds;
    /// Largest number of products in one output element.
    std::function<std::int64_t(const Problem&)> reduction_length;

    bool is_forward() const { return name == "forward"; }
};

/// A differentiable function with named tensors, and its reference.
struct Operator {
    std::string name;
    ParameterSpace space;
    /// What every problem satisfies, solved by the generator.
    std::vector<Constraint> constraints;
    /// What no constraint can express; the text says why a problem is not valid.
    std::function<std::optional<std::string>(const Problem&)> why_invalid;
    std::vector<TensorSpec> inputs, outputs;
    std::vector<PassSpec> passes;  ///< the forward pass first
    /// The operator is a sum of products of its inputs: for conv {{"x","w"},{"b"}}. Empty when it
    /// is not multilinear. From this follow exact data and the adjoint identity.
    std::vector<std::vector<std::string>> products;
    /// The ranges of a typical problem, for benchmarks; what is not named is at its default.
    std::vector<Constraint> typical;

    const PassSpec& forward() const { return passes.front(); }
    /// Null when there is none.
    const PassSpec* find_pass(std::string_view pass_name) const;
    /// The sizes of a tensor, a cotangent or a gradient.
    Sizes sizes_of(std::string_view tensor, const Problem& problem) const;
    /// Why the problem is outside the operator's domain, or larger than any machine's memory;
    /// nothing when it is valid.
    std::optional<std::string> validate(const Problem& problem) const;
    /// Whether an output of the forward pass, or an input, has no elements.
    bool is_empty(const Problem& problem) const;
    /// The operator is linear in this input when the others are fixed, up to a constant.
    bool is_linear_in(std::string_view input) const;
};

}  // namespace gradverify
