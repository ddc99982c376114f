// SPDX-License-Identifier: Apache-2.0
// Decides what an operator is: parameters, tensors, passes and the reference of each pass. Every
// property, generator and report is generic over this description. Knows no operator, no device
// and no Eigen.
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

#include "harness/numbers/bounded.hpp"
#include "harness/numbers/dtype.hpp"
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

/// An array whose elements all have this value.
template <class T>
Array<T> filled(Sizes sizes, const T& value = T()) {
    const auto count = static_cast<std::size_t>(element_count(sizes));
    return {std::move(sizes), std::vector<T>(count, value)};
}

template <class T>
using Inputs = std::span<const Array<T>>;
template <class T>
using Outputs = std::span<Array<T>>;

/// Computes a pass on the host. Arrays come in the pass's order; outputs have their sizes and
/// hold zeros.
template <class T>
using Reference = std::function<void(const Problem&, Inputs<T>, Outputs<T>)>;

/// The values that a tensor may hold: of a floating type those strictly between the two, of an
/// integer type those from the lowest to the highest.
struct ValueDomain {
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
};

/// An order in which a tensor's axes may lie in memory, the innermost last.
struct AxisOrder {
    std::string name;  ///< "nhwc"
    std::function<std::vector<int>(int rank)> axes;
};

/// One named tensor of an operator.
struct TensorSpec {
    std::string name;  ///< "x"; its gradient or cotangent is "dx"
    std::function<Sizes(const Problem&)> sizes;
    /// A gradient by this input may be asked for, or this output has a cotangent; one that has none
    /// is there to be saved for the gradient, or is a by-product.
    bool differentiable = true;
    DType dtype = DType::f32;
    /// The operator defines its results where this input holds NaN or infinities.
    bool may_be_nan = false;
    /// Null: any number. An integer input has one.
    std::function<ValueDomain(const Problem&)> domain{};
    /// The operator says what values of an integer input outside of the domain give, too.
    bool may_be_invalid = false;
    /// The layouts that kernels may declare, row-major first; empty: that alone, without a name.
    std::vector<AxisOrder> orders{};

    /// Indices or counts, which are the same numbers however a kernel stores what it computes with.
    bool holds_whole_numbers() const { return !is_floating(dtype); }
    ValueDomain domain_at(const Problem& problem) const {
        return domain ? domain(problem) : ValueDomain{};
    }
    /// Whether an element may have the value; of an integer type, whether it is valid.
    bool admits(double value, const Problem& problem) const;
    /// What an element is when nothing is said: zero, or where that is outside of the domain a
    /// simple number inside.
    double simplest_value(const Problem& problem) const;
};

/// A pass of another operator, as a part of one that is made of several.
struct Step {
    std::string pass;  ///< "fc.grad_weight"
    /// The part's problem, as text, from the whole's.
    std::function<std::string(const Problem&)> problem;
    /// The part's tensors, and what they are in the whole: {"dy", "dfc3_out"}. Also those that the
    /// part's reference alone takes.
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
    /// Takes the bound from each output's element that a right kernel may give otherwise, as of the
    /// place of the largest of equal numbers; null where there is none.
    Reference<Bounded> admit_branches = nullptr;
    /// What the references are given where that is not `inputs`: a derived gradient runs the
    /// forward function, whose inputs a kernel need not take.
    std::vector<std::string> reference_inputs{};
    /// The same pass with the reference derived from the forward function, which one that was
    /// written by hand is checked against. Null when there is none.
    std::shared_ptr<const PassSpec> derived{};
    /// The passes of other operators that it is made of, in their order; empty for one that is not.
    std::vector<Step> steps{};
    /// Multiply-adds of one call.
    std::function<double(const Problem&)> multiply_adds;
    /// Largest number of products in one output element.
    std::function<std::int64_t(const Problem&)> reduction_length;

    bool is_forward() const { return name == "forward"; }
    /// The inputs, then the outputs: in this order a launcher is given them.
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
    double magnitude = 0.0;      ///< of the terms that the value is the sum of
    double derivative = 0.0;     ///< for a small step forwards
    std::uint64_t branches = 0;  ///< differs between points on different branches
    bool is_kink = false;        ///< a step backwards may take another branch
    /// At a kink the terms that the derivative is the sum of, one for each element of an output.
    std::vector<double> terms{};
};

/// What an operator has and ordinary kernels do without: one that declares `.supports(name)` is
/// given it, all others problems that satisfy these constraints.
struct Feature {
    std::string name;  ///< "asymmetric_padding"
    std::vector<Constraint> without;
};

/// Most values that a factor may have: as many as a window has on an axis, and to spare.
inline constexpr std::size_t most_factor_values = 8;

/// What matters of several parameters together, such as stride against filter: problems are drawn
/// so that each of its levels meets every level of all other factors.
struct FactorSpec {
    std::string name;                     ///< "stride against filter"
    std::vector<std::string> levels;      ///< "S < F", "S = F", "S > F"
    std::vector<std::string> parameters;  ///< of one axis where they have axes
    /// The position in `levels`, of the parameters' values in that order.
    int (*level_of_values)(std::span<const std::int64_t> values);
};

/// Copies of a problem along parameters, all multiplied by one number, do not touch each other:
/// each tensor is the copies' tensors one behind the other along one axis, or the same for all of
/// them where it is an input, and their sum where it is an output.
struct SeparableSpec {
    std::string name;                     ///< as a case calls it: "n"
    std::vector<std::string> parameters;  ///< of one value each: {"c", "k", "groups"}, {"in_h"}
    /// The problems that this is true of; null: all.
    std::function<bool(const Problem&)> holds_if{};
};

/// What the forward function is made of.
enum class Algebra {
    /// Any differentiable function: results are held to rounding bounds.
    smooth,
    /// A sum of products of its inputs, linear in each: integers are exact.
    products,
    /// Linear on each of some pieces, with slopes that are whole numbers, and the forward function
    /// decides what its gradient is where pieces meet: integers are exact, and many elements lie
    /// where pieces meet.
    piecewise_linear,
    /// The same of sums of products on each piece, as of layers behind each other with ReLUs
    /// between them: sums grow from layer to layer, so data is thinned until all are exact.
    piecewise_polynomial,
};

/// A differentiable function with named tensors, and its reference.
struct Operator {
    std::string name;
    ParameterSpace space;
    /// What every problem satisfies, solved by the generator.
    std::vector<Constraint> constraints;
    std::vector<Feature> features{};
    /// The numbers of spatial axes that a kernel supports which does not say so itself; all that
    /// there are when nothing is said here either.
    std::optional<RankRange> usual_ranks{};
    /// Levels of parameters together, beside those that each parameter has.
    std::vector<FactorSpec> factors{};
    /// Where every window lies in the padding alone: no gradient is but zero, whatever the data, so
    /// that levels are met by other problems. Null when there are no such problems.
    bool (*reads_nothing)(const Problem&) = nullptr;
    /// Along what a problem may be multiplied so that its small copy tells what the large one is;
    /// of a pass that does not obey it is not used.
    std::vector<SeparableSpec> separable{};
    /// What no constraint can express; the text says why a problem is not valid.
    std::function<std::optional<std::string>(const Problem&)> why_invalid;
    std::vector<TensorSpec> inputs, outputs;
    std::vector<PassSpec> passes;  ///< the forward pass first
    /// From this follow exact data, how gradients are compared, and which properties apply.
    Algebra algebra = Algebra::smooth;
    /// For Algebra::products the inputs that are multiplied: for conv {{"x","w"},{"b"}}.
    std::vector<std::vector<std::string>> products{};
    /// Where integers give exact results, if they don't on every problem, and its text.
    std::function<bool(const Problem&)> exact_if{};
    std::string exact_if_text{};
    /// <cotangents, f(inputs)> and its derivative as one input moves along a direction; null for an
    /// operator whose gradients are written by hand alone.
    std::function<ValueAlong(const Problem&, Inputs<double> inputs, std::size_t which,
                             const Array<double>& direction, Inputs<double> cotangents)>
        along{};
    /// What is wrong with the declaration itself, and what would be right; the registry says it.
    std::vector<std::string> mistakes{};
    /// The ranges of a typical problem, for benchmarks; what is not named is at its default.
    std::vector<Constraint> typical;
    /// A problem as large as its kernels are used on, as `--problem` takes it; empty when none is
    /// declared.
    std::string benchmark{};

    const PassSpec& forward() const { return passes.front(); }
    /// Null when there is none.
    const PassSpec* find_pass(std::string_view pass_name) const;
    /// The description of a tensor; of x for "dx". Null when there is none.
    const TensorSpec* find_tensor(std::string_view tensor) const;
    const TensorSpec& tensor_named(std::string_view tensor) const;
    /// Whether this is an output of the forward pass that others take as their input.
    bool is_output(std::string_view tensor) const;
    /// Whether this is the gradient by an input: "dx".
    bool is_gradient(std::string_view tensor) const;
    /// The outputs that have a cotangent, by name.
    std::vector<std::string> differentiable_outputs() const;
    /// The sizes of a tensor, a cotangent or a gradient.
    Sizes sizes_of(std::string_view tensor, const Problem& problem) const;
    /// Why the problem is outside the operator's domain, or larger than any machine's memory;
    /// nothing when it is valid.
    std::optional<std::string> validate(const Problem& problem) const;
    /// Whether an output of the forward pass, or an input, has no elements.
    bool is_empty(const Problem& problem) const;
    /// Kernels can be compared exactly, on integers: on every problem, and on this one.
    bool is_exact_on_integers() const { return algebra != Algebra::smooth; }
    /// Whether integers meet the ends of pieces, and what the gradient is there is defined.
    bool has_pieces() const {
        return algebra == Algebra::piecewise_linear || algebra == Algebra::piecewise_polynomial;
    }
    /// Whether a pass is made of others: layers behind each other.
    bool is_chain() const;
    bool is_exact_at(const Problem& problem) const {
        return is_exact_on_integers() && (!exact_if || exact_if(problem));
    }
    /// The operator is linear in this input when the others are fixed, up to a constant.
    bool is_linear_in(std::string_view input) const;
};

/// The outputs of a pass by its reference, on what that takes.
std::vector<Array<double>> reference_outputs(const Operator& op, const PassSpec& pass,
                                             const Problem& problem, Inputs<double> taken);
/// The same with a bound on the rounding of each element.
std::vector<Array<Bounded>> bounded_outputs(const Operator& op, const PassSpec& pass,
                                            const Problem& problem, Inputs<double> taken);
/// The same numbers, without an error.
std::vector<Array<Bounded>> as_bounded(Inputs<double> exact);

}  // namespace gradverify
