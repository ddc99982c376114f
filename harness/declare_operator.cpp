// SPDX-License-Identifier: Apache-2.0
// Turns a declaration into an operator; declaration_mistakes.cpp finds the mistakes.
#include "harness/declare_operator.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gradverify {

std::function<Sizes(const Problem&)> Shape::function() const {
    if (function_) return function_;
    return [extents = extents_](const Problem& problem) {
        Sizes sizes;
        for (const Extent& extent : extents) sizes.push_back(extent.at(problem));
        return sizes;
    };
}

TensorSpec OperatorDeclaration::tensor_of(const TensorDeclaration& declared) const {
    TensorSpec tensor{.name = declared.name,
                      .sizes = declared.shape.function(),
                      .differentiable = declared.holds.differentiable,
                      .dtype = declared.holds.dtype,
                      .may_be_invalid = declared.holds.may_be_invalid};
    if (!declared.holds.below.empty())
        tensor.domain = [below = declared.holds.below](const Problem& problem) {
            return ValueDomain{0.0, static_cast<double>(problem.scalar(below)) - 1.0};
        };
    else if (std::isfinite(declared.holds.domain.lowest) ||
             std::isfinite(declared.holds.domain.highest))
        tensor.domain = [domain = declared.holds.domain](const Problem&) { return domain; };
    else if (declared.holds.smaller_than)
        tensor.domain = [size = declared.holds.smaller_than](const Problem& problem) {
            return ValueDomain{-size(problem), size(problem)};
        };
    return tensor;
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
    if (!valid_if_.empty())
        op.why_invalid = [name = op.name,
                          all = valid_if_](const Problem& problem) -> std::optional<std::string> {
            for (const auto& [text, valid] : all)
                if (!valid(problem)) return name + " needs " + text;
            return std::nullopt;
        };
    for (const TensorDeclaration& input : inputs_) op.inputs.push_back(tensor_of(input));
    for (TensorSpec& input : op.inputs)
        input.may_be_nan = std::ranges::count(defined_for_nan_, input.name) > 0;
    for (const TensorDeclaration& output : outputs_) op.outputs.push_back(tensor_of(output));
    for (std::vector<TensorSpec>* tensors : {&op.inputs, &op.outputs})
        for (TensorSpec& tensor : *tensors)
            for (const auto& [name, orders] : layouts_)
                if (name == tensor.name) tensor.orders = orders;
    if (!algebras_.empty()) op.algebra = *algebras_.begin();
    find_mistakes(op, op.mistakes);
    if (op.mistakes.empty()) add_passes(op);
    return op;
}

// ---- passes

std::vector<OperatorDeclaration::PassDeclaration> OperatorDeclaration::gradients_or_default(
    const Operator& op) const {
    if (!gradients_.empty()) return gradients_;
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
    std::erase_if(gradients, [&](const std::string& output) { return !op.is_gradient(output); });
    PassSpec pass = derived.gradient(declared.name, declared.inputs, gradients);
    if (!declared.reference.values) return pass;
    PassSpec by_hand = pass;
    by_hand.outputs = declared.outputs;
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
