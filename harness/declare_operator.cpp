// SPDX-License-Identifier: Apache-2.0
// Turns a declaration into an operator; declaration_mistakes.cpp finds the mistakes.
#include "harness/declare_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradverify {

Shape::Shape(std::initializer_list<Extent> list)
    : extents(list), sizes([all = extents](const Problem& problem) {
          Sizes all_sizes;
          for (const Extent& extent : all) all_sizes.push_back(extent.at(problem));
          return all_sizes;
      }) {}

Holds indices_below(const std::string& parameter, DType dtype) {
    const auto domain = [parameter](const Problem& problem) {
        return ValueDomain{0.0, static_cast<double>(problem.scalar(parameter)) - 1.0};
    };
    return {.dtype = dtype, .differentiable = false, .domain = domain, .below = parameter};
}

static Holds arranged(Holds holds, Arrangement arrangement) {
    holds.arrangement = arrangement;
    return holds;
}
Holds sorted_indices_below(const std::string& parameter, DType dtype) {
    return arranged(indices_below(parameter, dtype), Arrangement::ascending);
}
Holds distinct_indices_below(const std::string& parameter, DType dtype) {
    return arranged(indices_below(parameter, dtype), Arrangement::distinct);
}
Holds permutation_of(const std::string& parameter, DType dtype) {
    return arranged(indices_below(parameter, dtype), Arrangement::permutation);
}
static std::function<ValueDomain(const Problem&)> up_to(const std::string& parameter,
                                                        std::int64_t least = 0) {
    return [parameter, least](const Problem& problem) {
        return ValueDomain{static_cast<double>(least),
                           static_cast<double>(problem.scalar(parameter))};
    };
}
Holds offsets_to(const std::string& parameter, DType dtype) {
    Holds holds = arranged(indices_below(parameter, dtype), Arrangement::offsets);
    holds.domain = up_to(parameter);
    return holds;
}

Holds lengths_up_to(const std::string& parameter, std::int64_t least, DType dtype) {
    Holds holds = indices_below(parameter, dtype);
    holds.domain = up_to(parameter, least);
    return holds;
}

Holds mask(DType dtype) { return whole_numbers(0, 1, dtype); }

Holds whole_numbers(std::int64_t lowest, std::int64_t highest, DType dtype) {
    Holds holds =
        constant(numbers_between(static_cast<double>(lowest), static_cast<double>(highest)));
    holds.dtype = dtype;
    return holds;
}

Holds numbers_between(double lowest, double highest) {
    return {.domain = [=](const Problem&) { return ValueDomain{lowest, highest}; }};
}

Holds numbers_below(std::function<double(const Problem&)> size) {
    return {.domain = [size = std::move(size)](const Problem& problem) {
        return ValueDomain{-size(problem), size(problem)};
    }};
}

TensorSpec OperatorDeclaration::tensor_of(const TensorDeclaration& declared) const {
    const auto orders = layouts_.find(declared.name);
    const auto lengths = lengths_.find(declared.name);
    return {.name = declared.name,
            .sizes = declared.shape.sizes,
            .differentiable = declared.holds.differentiable,
            .dtype = declared.holds.dtype,
            .may_be_nan = std::ranges::count(defined_for_nan_, declared.name) > 0,
            .domain = declared.holds.domain,
            .may_be_invalid = declared.holds.may_be_invalid,
            .arrangement = declared.holds.arrangement,
            .lengths = lengths == lengths_.end() ? Lengths() : lengths->second,
            .orders = orders == layouts_.end() ? std::vector<AxisOrder>() : orders->second};
}

/// Null where every problem that satisfies the constraints is valid.
std::function<std::optional<std::string>(const Problem&)> OperatorDeclaration::validity_of(
    const Operator& op) const {
    std::vector<TensorSpec> arranged = op.inputs;
    std::erase_if(arranged,
                  [](const TensorSpec& tensor) { return tensor.arrangement == Arrangement::free; });
    if (valid_if_.empty() && arranged.empty()) return nullptr;
    return [name = op.name, all = valid_if_,
            arranged](const Problem& problem) -> std::optional<std::string> {
        for (const auto& [text, valid] : all)
            if (!valid(problem)) return name + " needs " + text;
        for (const TensorSpec& tensor : arranged) {
            const Sizes sizes = tensor.sizes(problem);
            if (const auto why =
                    why_not_arranged(tensor.arrangement, sizes.empty() ? 1 : sizes.back(),
                                     tensor.domain_at(problem)))
                return fmt::format("{} needs other sizes of {}: {}", name, tensor.name, *why);
        }
        return std::nullopt;
    };
}

OperatorDeclaration::OperatorDeclaration(std::string name)
    : declared_{.name = std::move(name), .space = ParameterSpace({}, 0, 0)} {}

OperatorDeclaration::operator Operator() const {
    Operator op = declared_;
    try {
        auto parameters = parameters_;
        // Without axes the first is always printed instead, so that no problem is an empty word.
        if (rank_max_ == 0 && !parameters.empty()) parameters.front().carries_rank = true;
        op.space = ParameterSpace(std::move(parameters), rank_min_, rank_max_);
        check_names(op.constraints, op.space, op.space.ranks());
    } catch (const std::invalid_argument& wrong) {
        op.mistakes.emplace_back(wrong.what());
        return op;
    }
    for (const TensorDeclaration& input : inputs_) {
        op.inputs.push_back(tensor_of(input));
        op.inputs.back().differentiable &= !functions_.is_forward_alone;
    }
    for (const TensorDeclaration& output : outputs_) op.outputs.push_back(tensor_of(output));
    op.why_invalid = validity_of(op);
    if (!algebras_.empty()) op.algebra = *algebras_.begin();
    find_mistakes(op, op.mistakes);
    if (op.mistakes.empty()) {
        add_passes(op);
        find_roundings(op);
        if (!op.mistakes.empty()) op.passes.clear();
    }
    return op;
}

// ---- passes

std::vector<OperatorDeclaration::PassDeclaration> OperatorDeclaration::gradients_or_default(
    const Operator& op) const {
    if (!gradients_.empty() || functions_.is_forward_alone) return gradients_;
    PassDeclaration all;
    for (const std::string& y : op.differentiable_outputs()) all.inputs.push_back("d" + y);
    for (const TensorSpec& tensor : op.inputs) {
        all.inputs.push_back(tensor.name);
        if (tensor.differentiable) all.outputs.push_back("d" + tensor.name);
    }
    all.name = all.outputs.size() == 1 ? "grad_" + all.outputs.front().substr(1) : "backward";
    return {all};
}

PassSpec OperatorDeclaration::pass_of(const PassDeclaration& declared, const DerivedPasses& derived,
                                      const Operator& op) const {
    std::vector<std::string> gradients = declared.outputs;
    // What only a reference by hand can yield.
    std::erase_if(gradients, [&](const std::string& output) {
        return !op.is_gradient(output) && !op.is_output(output);
    });
    PassSpec pass = derived.gradient(declared.name, declared.inputs, gradients);
    if (!declared.reference.values) return pass;
    PassSpec by_hand = pass;
    by_hand.outputs = declared.outputs;
    by_hand.any_formula_reference = nullptr;
    by_hand.derived = std::make_shared<const PassSpec>(std::move(pass));
    by_hand.reference_inputs.clear();
    // The pass's own tensors, as if they were an operator's.
    Operator tensors{.name = op.name, .space = op.space};
    for (const auto& [names, specs] : {std::pair(&declared.inputs, &tensors.inputs),
                                       std::pair(&declared.outputs, &tensors.outputs)})
        for (const std::string& name : *names) {
            specs->push_back(op.tensor_named(name));
            specs->back().name = name;
        }
    set_references(by_hand, std::make_shared<const Operator>(std::move(tensors)),
                   declared.reference,
                   "a comparison in a reference of " + op.name + " lies within rounding");
    return by_hand;
}

void OperatorDeclaration::add_work(PassSpec& pass, const Operator& op) const {
    std::vector<TensorSpec> tensors = op.inputs;
    tensors.insert(tensors.end(), op.outputs.begin(), op.outputs.end());
    // A forward function on a scalar that records takes as long as this many multiply-adds.
    constexpr double per_element = 32.0;
    pass.guesses_work = !work_;
    pass.multiply_adds = work_ ? work_ : [tensors](const Problem& problem) {
        double elements = 0.0;
        for (const TensorSpec& tensor : tensors)
            elements += static_cast<double>(element_count(tensor.sizes(problem)));
        return per_element * elements;
    };
    pass.reduction_length = reduction_length_ ? reduction_length_ : [tensors](const Problem& p) {
        std::int64_t longest = 1;
        for (const TensorSpec& tensor : tensors)
            longest = std::max(longest, element_count(tensor.sizes(p)));
        return longest;
    };
}

void OperatorDeclaration::add_passes(Operator& op) const {
    const DerivedPasses derived(op, functions_);
    op.passes.push_back(derived.forward());
    for (const PassDeclaration& declared : gradients_or_default(op))
        op.passes.push_back(pass_of(declared, derived, op));
    for (PassSpec& pass : op.passes) add_work(pass, op);
    for (const auto& [name, steps] : steps_)
        std::ranges::find(op.passes, name, &PassSpec::name)->steps = steps;
    op.along = [derived](const Problem& problem, Inputs<double> inputs, std::size_t which,
                         const Array<double>& direction, Inputs<double> cotangents) {
        return derived.along(problem, inputs, which, direction, cotangents);
    };
}

}  // namespace gradverify
