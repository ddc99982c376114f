// SPDX-License-Identifier: Apache-2.0
// Decides what an operator is: parameters, tensors, passes and the reference of each pass. Every
// property, generator and report is generic over this description.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/numbers/dtype.hpp"
#include "harness/numbers/rounding_bound.hpp"
#include "harness/operators/arrangement.hpp"
#include "harness/operators/array.hpp"
#include "harness/operators/padding.hpp"
#include "harness/problems/constraint.hpp"
#include "harness/problems/problem.hpp"

namespace gradverify {

/// The one of this name among things that have a `name`; null when there is none.
template <class Named>
const Named* find_named(const std::vector<Named>& all, std::string_view name) {
    const auto found = std::ranges::find(all, name, &Named::name);
    return found == all.end() ? nullptr : &*found;
}
template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& all) {
    std::vector<std::string> names(all.size());
    std::ranges::transform(all, names.begin(), &Named::name);
    return names;
}

template <class T>
using Inputs = std::span<const Array<T>>;
template <class T>
using Outputs = std::span<Array<T>>;

/// Computes a pass on the host, with arrays in the pass's order; outputs hold zeros at first.
template <class T>
using Reference = std::function<void(const Problem&, Inputs<T>, Outputs<T>)>;

/// An order in which a tensor's axes may lie in memory, the innermost last.
struct AxisOrder {
    std::string name;  ///< "nhwc"
    std::function<std::vector<int>(int rank)> axes;
};

/// One named tensor of an operator.
struct TensorSpec {
    std::string name;  ///< "x"; its gradient or cotangent is "dx"
    std::function<Sizes(const Problem&)> sizes;
    /// A gradient by this input may be asked for, or this output has a cotangent; an output without
    /// one is saved for the gradient, or a by-product.
    bool differentiable = true;
    DType dtype = DType::f32;
    /// The operator defines its results where this input holds NaN or infinities.
    bool may_be_nan = false;
    /// Null: any number. An integer input has one.
    std::function<ValueDomain(const Problem&)> domain{};
    /// The operator also defines its results for values of an integer input outside of the domain.
    bool may_be_invalid = false;
    /// What the whole numbers of a row are to each other.
    Arrangement arrangement = Arrangement::free;
    /// How many rows of this tensor are used; by default all are.
    Lengths lengths{};
    /// The layouts that kernels may declare, row-major first; empty: that alone, without a name.
    std::vector<AxisOrder> orders{};

    /// Indices or counts, which are the same numbers however a kernel stores what it computes with.
    bool holds_whole_numbers() const { return !is_floating(dtype); }
    ValueDomain domain_at(const Problem& problem) const {
        return domain ? domain(problem) : ValueDomain{};
    }
    /// Whether an element may have the value; in an integer type, whether it is valid.
    bool admits(double value, const Problem& problem) const;
    /// Zero, or a simple number of the domain where zero is none.
    double simplest_value(const Problem& problem) const;
    /// The simplest whole tensor: of these values, or as it is arranged.
    Array<double> simplest(const Problem& problem) const;
};

/// A pass of another operator, as one step of a pass.
struct Step {
    std::string pass;  ///< "fc.grad_weight"
    /// The step's problem, as text, from the whole's.
    std::function<std::string(const Problem&)> problem;
    /// The step's tensors, also its reference's, and their names in the whole: {"dy", "dfc3_out"}.
    std::vector<std::pair<std::string, std::string>> tensors;

    /// **Errors** std::invalid_argument for a tensor that is not named.
    const std::string& tensor(std::string_view of_part) const;
};

/// One map that a kernel can implement.
struct PassSpec {
    std::string name;                  ///< "forward", "grad_weight"
    std::vector<std::string> inputs;   ///< tensor names; "dy" is the cotangent of y
    std::vector<std::string> outputs;  ///< "dw" is the gradient of w
    Reference<double> reference;
    Reference<Bounded> bounded_reference;
    /// The same with what any reasonable formula may lose, not the operator's alone; null where
    /// there is one formula, as for sums of products.
    Reference<Bounded> any_formula_reference = nullptr;
    /// Takes the bound from each element of an output for which a correct kernel may give another
    /// value, such as the place of the largest of equal numbers; null where there is none.
    Reference<Bounded> admit_branches = nullptr;
    /// The tensors that the references take where they are not `inputs`: a derived gradient runs
    /// the forward function, whose inputs a kernel need not take.
    std::vector<std::string> reference_inputs{};
    /// The same pass with a derived reference, to check one by hand against; null for none.
    std::shared_ptr<const PassSpec> derived{};
    /// The passes of other operators that it is made of, in their order; usually none.
    std::vector<Step> steps{};
    /// Multiply-adds of one call.
    std::function<double(const Problem&)> multiply_adds;
    bool guesses_work = false;  ///< none was declared: multiply_adds follows the tensors' sizes
    /// Largest number of products in one output element.
    std::function<std::int64_t(const Problem&)> reduction_length;
    /// The numbers that the reference names, which a kernel may declare to round.
    std::vector<std::string> roundings{};

    bool is_forward() const { return name == "forward"; }
    /// The inputs, then the outputs, as a launcher is given them.
    std::vector<std::string> tensors() const {
        std::vector<std::string> names = inputs;
        names.insert(names.end(), outputs.begin(), outputs.end());
        return names;
    }
    const std::vector<std::string>& taken_by_reference() const {
        return reference_inputs.empty() ? inputs : reference_inputs;
    }
};

/// A forward map at a point, and its exact derivative along a direction.
struct ValueAlong {
    double value = 0.0;
    double magnitude = 0.0;      ///< the sum of the terms' magnitudes
    double derivative = 0.0;     ///< for a small step forwards
    std::uint64_t branches = 0;  ///< differs between points on different branches
    bool is_kink = false;        ///< a step backwards may take another branch
    /// At a kink the terms of the derivative, one for each element of an output.
    std::vector<double> terms{};
};

/// A feature that ordinary kernels do without: unless they declare `.supports(name)`, problems
/// satisfy these constraints.
struct Feature {
    std::string name;  ///< "asymmetric_padding"
    std::vector<Constraint> without;
};

/// The largest number of values of a factor: as many as a window has on an axis, and to spare.
inline constexpr std::size_t most_factor_values = 8;

/// Levels of several parameters together, such as stride against filter. Problems are drawn so that
/// each level meets every level of all other factors.
struct FactorSpec {
    std::string name;                     ///< "stride against filter"
    std::vector<std::string> levels;      ///< "S < F", "S = F", "S > F"
    std::vector<std::string> parameters;  ///< of one axis where they have axes
    /// The position in `levels` for the parameters' values, in their order.
    int (*level_of_values)(std::span<const std::int64_t> values);
};

/// Parameters along which copies of a problem, all multiplied by one number, do not touch each
/// other: each tensor is the copies' tensors one behind the other along an axis; or all copies
/// share it if it is an input, and it is their sum if it is an output.
struct SeparableSpec {
    std::string name;                     ///< as a case calls it: "n"
    std::vector<std::string> parameters;  ///< of one value each: {"c", "k", "groups"}, {"in_h"}
    /// The problems for which this is true; null: all.
    std::function<bool(const Problem&)> holds_if{};
};

/// The kind of function that the forward function is.
enum class Algebra {
    /// Any differentiable function: results are held to rounding bounds.
    smooth,
    /// A sum of products of its inputs, linear in each: integers are exact.
    products,
    /// Piecewise linear with whole slopes, and a defined gradient where pieces meet: integers are
    /// exact, and many elements lie where pieces meet.
    piecewise_linear,
    /// A sum of products on each piece, as layers with ReLUs between them are: sums grow from layer
    /// to layer, so data is thinned until all are exact.
    piecewise_polynomial,
};

/// A differentiable function with named tensors, and its reference.
struct Operator {
    std::string name;
    ParameterSpace space;
    /// Conditions that every problem satisfies; the generator solves them.
    std::vector<Constraint> constraints;
    std::vector<Feature> features{};
    /// The numbers of spatial axes that a kernel supports if it declares none; null: all.
    std::optional<RankRange> usual_ranks{};
    /// Levels of parameters together, beside those that each parameter has.
    std::vector<FactorSpec> factors{};
    /// Whether every window lies in the padding, so that gradients are zero whatever the data:
    /// other problems must meet the levels. Null when there are no such problems.
    bool (*reads_nothing)(const Problem&) = nullptr;
    /// How a problem may be multiplied so that a small copy tells the large one's results.
    std::vector<SeparableSpec> separable{};
    /// Why a problem is not valid where no constraint can express it.
    std::function<std::optional<std::string>(const Problem&)> why_invalid;
    std::vector<TensorSpec> inputs, outputs;
    std::vector<PassSpec> passes;  ///< the forward pass first
    /// Decides which data is exact, how gradients are compared, and which properties apply.
    Algebra algebra = Algebra::smooth;
    /// For Algebra::products the inputs that are multiplied: for conv {{"x","w"},{"b"}}.
    std::vector<std::vector<std::string>> products{};
    /// The problems on which integers give exact results, if not on all, and a text for them.
    std::function<bool(const Problem&)> exact_if{};
    std::string exact_if_text{};
    /// <cotangents, f(inputs)> and its derivative as one input moves along a direction; null for an
    /// operator whose gradients are written by hand alone.
    std::function<ValueAlong(const Problem&, Inputs<double> inputs, std::size_t which,
                             const Array<double>& direction, Inputs<double> cotangents)>
        along{};
    /// The mistakes in the declaration, and what would be right; the registry says them.
    std::vector<std::string> mistakes{};
    /// The ranges of a typical problem, for benchmarks; other parameters are at their default.
    std::vector<Constraint> typical;
    /// A problem as large as its kernels are used on, as `--problem` takes it; or empty.
    std::string benchmark{};

    const PassSpec& forward() const { return passes.front(); }
    /// Null when there is none.
    const PassSpec* find_pass(std::string_view pass_name) const {
        return find_named(passes, pass_name);
    }
    /// The description of a tensor, where "dx" means x. Null when there is none.
    const TensorSpec* find_tensor(std::string_view tensor) const;
    const TensorSpec& tensor_named(std::string_view tensor) const;
    bool is_output(std::string_view tensor) const { return find_named(outputs, tensor) != nullptr; }
    /// Whether this is the gradient by an input: "dx".
    bool is_gradient(std::string_view tensor) const;
    /// Whether this is the cotangent of an output: "dy".
    bool is_cotangent(std::string_view tensor) const;
    /// The outputs that have a cotangent, by name.
    std::vector<std::string> differentiable_outputs() const;
    /// What a gradient pass takes for granted as the cotangent of an output: 1 where it takes none,
    /// as of a loss, and 0 where it takes others'; nothing for one that it takes.
    std::optional<double> implied_cotangent(const PassSpec& pass, std::string_view tensor) const;
    /// The sizes of a tensor, a cotangent or a gradient.
    Sizes sizes_of(std::string_view tensor, const Problem& problem) const {
        return tensor_named(tensor).sizes(problem);
    }
    /// Why the problem is invalid, or larger than any machine's memory; nothing when it is valid.
    std::optional<std::string> validate(const Problem& problem) const;
    /// Whether an output of the forward pass, or an input, has no elements.
    bool is_empty(const Problem& problem) const;
    /// Whether kernels can be compared exactly, on integers: on some problems, and on this one.
    bool is_exact_on_integers() const { return algebra != Algebra::smooth; }
    bool is_exact_at(const Problem& problem) const {
        return is_exact_on_integers() && (!exact_if || exact_if(problem));
    }
    /// Whether integers meet the ends of pieces, and what the gradient is there is defined.
    bool has_pieces() const {
        return algebra == Algebra::piecewise_linear || algebra == Algebra::piecewise_polynomial;
    }
    /// Whether a pass is made of steps.
    bool is_chain() const;
    /// Whether the operator is linear in this input, up to a constant, when the others are fixed.
    bool is_linear_in(std::string_view input) const;
};

/// The outputs of a pass by its reference; `taken` is what the reference takes.
std::vector<Array<double>> reference_outputs(const Operator& op, const PassSpec& pass,
                                             const Problem& problem, Inputs<double> taken);
/// The same with each element's rounding bound: by the operator's formula, or any reasonable one.
enum class Formula { operators, any };
std::vector<Array<Bounded>> bounded_outputs(const Operator& op, const PassSpec& pass,
                                            const Problem& problem, Inputs<double> taken,
                                            Formula formula = Formula::operators);
/// The same numbers, without an error.
std::vector<Array<Bounded>> as_bounded(Inputs<double> exact);

}  // namespace gradverify
