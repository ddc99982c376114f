// SPDX-License-Identifier: Apache-2.0
// The public way to declare an operator: parameters, tensors and one forward function; everything
// else follows from them. See docs/own-operator.md. What a kernel declares, such as
// .rounds(), is in registry/kernel_declaration.hpp.
//
//   Operator describe() {
//       return declare_operator("scaled_tanh")
//           .parameter("n", {.minimum = 0})
//           .attribute("scale", {1.0, -0.5})
//           .input("x", {"n"})
//           .output("y", {"n"})
//           .forward([]<class T>(const ForwardCall<T>& call) {
//               const auto x = call.input("x");
//               const auto y = call.output("y");
//               for (std::int64_t i = 0; i < x.size(0); ++i)
//                   y(i) = call.attribute("scale") * tanh(x(i));
//           });
//   }
//   GRADVERIFY_OPERATOR(describe);
#pragma once

#include <concepts>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/setters.hpp"
#include "harness/operators/derived_operator.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify {

/// The range of a parameter that is a whole number.
struct ParameterRange {
    std::int64_t default_value = 1;
    std::int64_t minimum = 1;
    std::int64_t maximum = ParameterSpec{}.maximum;
};

/// One size of a tensor: a parameter by name, or a number.
class Extent {
  public:
    Extent(const char* parameter) : parameter_(parameter) {}
    Extent(int size) : size_(size) {}

    const std::string& parameter() const { return parameter_; }
    std::int64_t at(const Problem& problem) const {
        return parameter_.empty() ? size_ : problem.scalar(parameter_) + size_;
    }

  private:
    friend Extent one_more_than(const char* parameter);

    std::string parameter_;
    std::int64_t size_ = 0;  ///< or what the tensor has more than the parameter's value
};

/// As many as where parts begin and end, for a parameter that counts the parts.
inline Extent one_more_than(const char* parameter) {
    Extent extent(parameter);
    extent.size_ = 1;
    return extent;
}

/// The sizes of a tensor: `{"rows", "width"}`, a function of the problem, or `{}` for one number.
struct Shape {
    Shape(std::initializer_list<Extent> list);
    template <std::invocable<const Problem&> Function>
    Shape(Function function) : sizes(std::move(function)) {}

    std::vector<Extent> extents;  ///< those of the list
    std::function<Sizes(const Problem&)> sizes;
};

/// The values of a tensor; by default float32 numbers of any size.
struct Holds {
    DType dtype = DType::f32;
    bool differentiable = true;
    std::function<ValueDomain(const Problem&)> domain{};  ///< null: any number
    std::string below{};  ///< for indices: the parameter that they lie below
    bool may_be_invalid = false;
    Arrangement arrangement = Arrangement::free;

    /// For whole numbers: the forward function also defines the results of values outside of the
    /// range, as `not_a_number`, and kernels that declare `with_invalid_indices()` are given some.
    Holds or_invalid() const {
        Holds holds = *this;
        holds.may_be_invalid = true;
        return holds;
    }
};

/// Indices from 0 to the parameter's value, without it: rows of a table, labels of classes.
Holds indices_below(const std::string& parameter, DType dtype = DType::i32);
/// The same, none below the one before it in a row.
Holds sorted_indices_below(const std::string& parameter, DType dtype = DType::i32);
/// The same, no two alike in a row, such as the rows that a top-k chose.
Holds distinct_indices_below(const std::string& parameter, DType dtype = DType::i32);
/// All indices below the parameter's value, once in each row, in any order. The row is as long.
Holds permutation_of(const std::string& parameter, DType dtype = DType::i32);
/// Where the parts of a whole begin, and where the last one ends: from 0, ascending, to the
/// parameter's value. Parts may be empty. A row is `{one_more_than("parts")}` long.
Holds offsets_to(const std::string& parameter, DType dtype = DType::i32);
/// How many of `parameter` rows are used, from `least` to all; see OperatorDeclaration::padded.
Holds lengths_up_to(const std::string& parameter, std::int64_t least = 0, DType dtype = DType::i32);
/// 0 or 1.
Holds mask(DType dtype = DType::u8);
/// Whole numbers from `lowest` to `highest`.
Holds whole_numbers(std::int64_t lowest, std::int64_t highest, DType dtype = DType::i32);
/// Numbers strictly between two.
Holds numbers_between(double lowest, double highest);
/// Numbers of either sign, of a magnitude below a function of the problem, as a layer's weights.
Holds numbers_below(std::function<double(const Problem&)> size);
inline Holds positive_numbers() { return numbers_between(0.0, ValueDomain{}.highest); }
inline Holds probabilities() { return numbers_between(0.0, 1.0); }
/// Numbers that no gradient is asked for.
inline Holds constant(Holds numbers = {}) {
    numbers.differentiable = false;
    return numbers;
}

namespace detail {

template <class Function, class T>
concept ForwardOn = std::invocable<const Function&, const ForwardCall<T>&>;

}  // namespace detail

/// An operator in the making. The registry says all mistakes when the program starts.
class OperatorDeclaration {
  public:
    explicit OperatorDeclaration(std::string name);

    /// A whole number: a size, a count.
    OperatorDeclaration& parameter(std::string name, ParameterRange range = {}) {
        return parameter({.name = std::move(name),
                          .default_value = range.default_value,
                          .minimum = range.minimum,
                          .maximum = range.maximum});
    }
    /// Any other kind of parameter, such as one per axis.
    OperatorDeclaration& parameter(ParameterSpec spec) {
        return detail::add(*this, parameters_, std::move(spec));
    }
    /// The number of spatial axes, for parameters per axis.
    OperatorDeclaration& spatial_axes(int rank_min, int rank_max) {
        rank_min_ = rank_min, rank_max_ = rank_max;
        return *this;
    }
    /// A real number, one of a few; the first is the default.
    OperatorDeclaration& attribute(std::string name, std::vector<double> values) {
        return parameter(real_parameter(std::move(name), std::move(values)));
    }
    /// A condition that every problem satisfies: `where("c", multiple_of("groups"))`.
    OperatorDeclaration& where(std::string parameter, Condition condition) {
        condition.parameter = std::move(parameter);
        declared_.constraints.push_back(std::move(condition));
        return *this;
    }
    /// The same as a function, where no condition can express it, with the text of a refusal.
    OperatorDeclaration& valid_if(std::string text, bool (*valid)(const Problem&)) {
        return detail::add(*this, valid_if_, {std::move(text), valid});
    }

    /// Levels of several parameters together, such as window against stride: in the drawn problems
    /// each meets each level of every other parameter.
    OperatorDeclaration& factors(std::vector<FactorSpec> specs) {
        return detail::set(*this, declared_.factors, std::move(specs));
    }

    /// Copies of a problem along this parameter do not touch each other, like samples of a batch;
    /// see SeparableSpec. Kernels are then also run on tensors of more than 2^31 elements.
    OperatorDeclaration& separable_along(std::string parameter) {
        return separable_along({.name = parameter, .parameters = {parameter}});
    }
    /// The same for several parameters together, or for some problems.
    OperatorDeclaration& separable_along(SeparableSpec spec) {
        return detail::add(*this, declared_.separable, std::move(spec));
    }

    OperatorDeclaration& input(std::string name, Shape shape, Holds holds = {}) {
        return detail::add(*this, inputs_, {std::move(name), std::move(shape), std::move(holds)});
    }
    /// This input may hold NaN and infinities: where the forward function gives NaN, a kernel must.
    OperatorDeclaration& defined_for_nan(std::string input) {
        return detail::add(*this, defined_for_nan_, std::move(input));
    }
    OperatorDeclaration& output(std::string name, Shape shape) {
        return detail::add(*this, outputs_, {std::move(name), std::move(shape), {}});
    }
    /// The layouts that kernels may declare for a tensor, row-major first; by default row-major.
    OperatorDeclaration& layouts(const std::string& tensor, std::vector<AxisOrder> orders) {
        return detail::set(*this, layouts_[tensor], std::move(orders));
    }
    /// Of this tensor, its gradient and its cotangent only as many rows along an axis are used as
    /// `lengths`, an input, says: of x(b, t, j) with the axis 1 those with t < lengths(b). The
    /// forward function reads no others of an input, and leaves zeros in an output.
    OperatorDeclaration& padded(const std::string& tensor, std::string lengths, int axis = 1) {
        return detail::set(*this, lengths_[tensor], {std::move(lengths), axis});
    }
    /// An output without a cotangent: saved for the gradient, or a by-product.
    OperatorDeclaration& saved(std::string name, Shape shape, Holds holds = {}) {
        return detail::add(*this, outputs_,
                           {std::move(name), std::move(shape), constant(std::move(holds))});
    }

    /// The forward function: a template over the scalar, `[]<class T>(const ForwardCall<T>& call)`.
    template <class Function>
    OperatorDeclaration& forward(Function function) {
        constexpr bool is_template =
            detail::ForwardOn<Function, Dual> && detail::ForwardOn<Function, Traced> &&
            detail::ForwardOn<Function, Bounded> && detail::ForwardOn<Function, double>;
        static_assert(
            is_template,
            "gradverify: the forward function must be a template over the scalar, so that "
            "bounds and gradients can be derived from it: "
            ".forward([]<class T>(const ForwardCall<T>& call) { ... })");
        if constexpr (is_template) {
            functions_.directions = function;
            functions_.gradients = function;
            functions_.bounds = function;
            functions_.values = function;
        }
        return *this;
    }
    /// At a tie of compared values the branch that the forward function takes defines the gradient.
    OperatorDeclaration& branches_decide() {
        return detail::set(*this, functions_.branches_decide, true);
    }

    /// The operator has no gradient, as a quantiser or an optimiser's step: only a forward pass.
    OperatorDeclaration& forward_alone() {
        return detail::set(*this, functions_.is_forward_alone, true);
    }

    /// A pass that yields gradients: "dx" for the input x. It takes cotangents ("dy"), inputs, and
    /// saved outputs of the forward pass. If none is declared, there is one for all gradients,
    /// `grad_x` or `backward`, that takes all cotangents and all inputs. It may yield outputs of
    /// the forward pass, too, as a fused loss does.
    OperatorDeclaration& gradient(std::string name, std::vector<std::string> inputs,
                                  std::vector<std::string> outputs) {
        return detail::add(*this, gradients_,
                           {std::move(name), std::move(inputs), std::move(outputs)});
    }
    /// The same with a reference by hand, which is checked against the derived one: a template like
    /// the forward function, whose `input` and `output` are the pass's. It may also yield gradients
    /// by saved outputs ("dy" for the saved y).
    template <class Function>
    OperatorDeclaration& gradient(std::string name, std::vector<std::string> inputs,
                                  std::vector<std::string> outputs, Function reference) {
        constexpr bool is_template =
            detail::ForwardOn<Function, Bounded> && detail::ForwardOn<Function, double>;
        static_assert(
            is_template,
            "gradverify: a reference must be a template over the scalar, so that its rounding "
            "bound can be derived: []<class T>(const ForwardCall<T>& call) { ... }");
        if constexpr (is_template)
            gradients_.push_back({std::move(name),
                                  std::move(inputs),
                                  std::move(outputs),
                                  {.values = reference, .bounds = reference}});
        return *this;
    }

    /// A pass is made of passes of other operators, in this order. A kernel may be a Chain of their
    /// kernels. Where one is wrong, each step is compared with its own reference on the kernel's
    /// own tensors, and the first that departs is named.
    OperatorDeclaration& steps(std::string pass, std::vector<Step> steps) {
        return detail::add(*this, steps_, {std::move(pass), std::move(steps)});
    }

    /// The outputs are sums of products of inputs, `{{"x", "w"}, {"b"}}`: integers are exact.
    OperatorDeclaration& sum_of_products(std::vector<std::vector<std::string>> products) {
        declared_.products = std::move(products);
        if (!declared_.products.empty()) algebras_.insert(Algebra::products);
        return *this;
    }
    /// The outputs are piecewise sums of inputs, each times a whole number, as those of a maximum
    /// or a ReLU: kernels are compared exactly, on integers with many ties. `branches_decide` or a
    /// reference by hand defines the gradient where pieces meet.
    OperatorDeclaration& piecewise_linear() {
        algebras_.insert(Algebra::piecewise_linear);
        return *this;
    }
    /// The outputs are piecewise sums of products of inputs, each times a whole number, as those of
    /// layers with ReLUs between them. Integers are drawn so small that all results are exact.
    OperatorDeclaration& piecewise_polynomial() {
        algebras_.insert(Algebra::piecewise_polynomial);
        return *this;
    }
    /// Results on integers are exact only where `exact` is true, as a mean is over a power of two
    /// of elements. Elsewhere rounding is allowed for.
    OperatorDeclaration& exact_if(std::string text, bool (*exact)(const Problem&)) {
        declared_.exact_if_text = std::move(text);
        declared_.exact_if = exact;
        return *this;
    }
    /// The most terms in one element of a result. Default: the elements of the largest tensor.
    OperatorDeclaration& reduction_length(std::function<std::int64_t(const Problem&)> length) {
        return detail::set(*this, reduction_length_, std::move(length));
    }
    /// Multiply-adds of a pass, to keep problems quick. Default: 32 for each element of a tensor.
    OperatorDeclaration& work(std::function<double(const Problem&)> multiply_adds) {
        return detail::set(*this, work_, std::move(multiply_adds));
    }
    /// The range of a parameter in a typical problem, for `bench --harness`.
    OperatorDeclaration& typical(std::string parameter, std::int64_t minimum,
                                 std::int64_t maximum) {
        Constraint range = between(minimum, maximum);
        range.parameter = std::move(parameter);
        declared_.typical.push_back(std::move(range));
        return *this;
    }

    /// A problem as large as its kernels are used on, as `--problem` takes it, for `bench`.
    OperatorDeclaration& benchmark(std::string problem) {
        return detail::set(*this, declared_.benchmark, std::move(problem));
    }

    /// The operator; its `mistakes` say what is wrong.
    operator Operator() const;

  private:
    struct PassDeclaration {
        std::string name;
        std::vector<std::string> inputs, outputs;
        ForwardFunctions reference{};  ///< `values` and `bounds`, or none
    };
    void find_mistakes(const Operator& op, std::vector<std::string>& mistakes) const;
    /// Runs the references on small problems for the names that they give to numbers.
    static void find_roundings(Operator& op);
    std::vector<PassDeclaration> gradients_or_default(const Operator& op) const;
    PassSpec pass_of(const PassDeclaration& declared, const DerivedPasses& derived,
                     const Operator& op) const;
    void add_passes(Operator& op) const;
    void add_work(PassSpec& pass, const Operator& op) const;

    Operator declared_;  ///< holds what an Operator can hold of the declaration
    std::vector<ParameterSpec> parameters_;
    int rank_min_ = 0, rank_max_ = 0;
    std::vector<std::pair<std::string, bool (*)(const Problem&)>> valid_if_;
    struct TensorDeclaration {
        std::string name;
        Shape shape;
        Holds holds;
    };
    TensorSpec tensor_of(const TensorDeclaration& declared) const;
    std::function<std::optional<std::string>(const Problem&)> validity_of(const Operator& op) const;
    std::vector<TensorDeclaration> inputs_, outputs_;
    std::vector<std::string> defined_for_nan_;
    std::map<std::string, std::vector<AxisOrder>> layouts_;  ///< by tensor
    std::map<std::string, Lengths> lengths_;                 ///< by tensor
    ForwardFunctions functions_{};
    std::vector<PassDeclaration> gradients_;
    std::vector<std::pair<std::string, std::vector<Step>>> steps_;
    std::set<Algebra> algebras_;
    std::function<std::int64_t(const Problem&)> reduction_length_{};
    std::function<double(const Problem&)> work_{};
};

inline OperatorDeclaration declare_operator(std::string name) {
    return OperatorDeclaration(std::move(name));
}

}  // namespace gradverify
