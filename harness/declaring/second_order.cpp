// SPDX-License-Identifier: Apache-2.0
#include "harness/second_order.hpp"
#include "harness/base/refuse.hpp"

#include <algorithm>
#include <optional>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

using Names = std::vector<std::string>;
using Result = NestedPasses::Result;

std::size_t position_in(const Names& names, std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}
std::size_t position_in(const std::vector<TensorSpec>& tensors, std::string_view name) {
    return position_in(names_of(tensors), name);
}

Names joined_names(std::initializer_list<Names> lists) {
    Names all;
    for (const Names& names : lists) all.insert(all.end(), names.begin(), names.end());
    return all;
}

Names differentiable_inputs(const Operator& op, const std::string& prefix = "") {
    Names names;
    for (const TensorSpec& tensor : op.inputs)
        if (tensor.differentiable) names.push_back(prefix + tensor.name);
    return names;
}
Names differentiable_outputs(const Operator& op, const std::string& prefix) {
    Names names = op.differentiable_outputs();
    for (std::string& name : names) name.insert(0, prefix);
    return names;
}

/// A cotangent, a gradient or a tangent: any numbers, of this tensor's shape.
TensorSpec like(const TensorSpec& tensor, const std::string& prefix) {
    TensorSpec spec = tensor;
    spec.name = prefix + tensor.name;
    spec.differentiable = true;
    spec.may_be_nan = false;
    spec.domain = nullptr;
    return spec;
}

/// What a derivative has of its operator: all but passes, and what is true of NaN and of invalid
/// indices. On the pieces of a piecewise function its derivatives are no such function.
Operator derivative_of(const Operator& of, const std::string& suffix) {
    Operator op = of;
    op.name += suffix;
    op.passes.clear();
    for (TensorSpec& tensor : op.inputs) tensor.may_be_nan = tensor.may_be_invalid = false;
    if (op.algebra != Algebra::products) {
        op.algebra = Algebra::smooth;
        op.exact_if = nullptr;
    }
    op.products.clear();
    op.benchmark = of.benchmark;
    return op;
}

PassSpec pass_named(const std::string& name, const Names& inputs, const Names& outputs) {
    PassSpec pass;
    pass.name = name, pass.inputs = inputs, pass.outputs = outputs;
    return pass;
}

/// The work of a pass on numbers with tangents, from its operator's.
void add_work(PassSpec& pass, const PassSpec& forward) {
    constexpr std::int64_t operations = 4;  // for each multiply-add: its tangent, and their slopes
    pass.guesses_work = forward.guesses_work;
    pass.multiply_adds = [work = forward.multiply_adds](const Problem& problem) {
        return static_cast<double>(operations) * work(problem);
    };
    pass.reduction_length = [length = forward.reduction_length](const Problem& problem) {
        return operations * length(problem);
    };
}

/// What is wrong with the names of a pass's tensors.
void check_names(const std::string& pass, const Names& given, const Names& known,
                 std::string_view verb, Names& mistakes) {
    for (const std::string& name : given)
        if (std::ranges::count(known, name) == 0)
            add(mistakes, "the pass {} {} '{}'{}; it may be {}", pass, verb, name,
                did_you_mean(name, known), joined(known));
}

/// The products that are linear in the tangents, or in one cotangent: each factor in turn.
std::vector<Names> derivatives_of_products(
    const Operator& of,
    const std::function<std::vector<Names>(const Names& product, std::size_t at)>& by) {
    std::vector<Names> all;
    for (const Names& product : of.products)
        for (std::size_t at = 0; at < product.size(); ++at) {
            const TensorSpec* factor = find_named(of.inputs, product[at]);
            if (!factor || !factor->differentiable) continue;
            for (Names& derivative : by(product, at)) all.push_back(std::move(derivative));
        }
    return all;
}

std::vector<Array<double>> zeros_like(std::span<const Array<double>> arrays) {
    std::vector<Array<double>> zeros;
    for (const Array<double>& array : arrays) zeros.push_back(filled<double>(array.sizes));
    return zeros;
}

/// The gradient's derivative along one of its inputs, of which `cotangents` come first.
auto along_of(const NestedPasses& nested, const Operator& of, std::size_t cotangents) {
    return [=](const Problem& problem, Inputs<double> inputs, std::size_t which,
               const Array<double>& direction, Inputs<double> given) {
        auto steps = zeros_like(inputs);
        steps[which] = direction;
        const auto split = [&](const auto& all, auto& first_part, auto& second_part) {
            const auto middle = all.begin() + static_cast<std::ptrdiff_t>(cotangents);
            first_part.assign(all.begin(), middle);
            second_part.assign(middle, all.end());
        };
        NestedPasses::Point point;
        split(inputs, point.cotangents, point.inputs);
        split(steps, point.cotangent_steps, point.input_steps);
        point.tangents = zeros_like(point.inputs);
        for (std::size_t i = 0, tangent = 0; i < of.inputs.size(); ++i)
            if (of.inputs[i].differentiable) point.tangents[i] = given[tangent++];
        return nested.along(problem, point);
    };
}

}  // namespace

// ---- the gradient as an operator

std::vector<BackwardDeclaration::PassDeclaration> BackwardDeclaration::passes_or_default(
    const Operator& op) const {
    if (!passes_.empty()) return passes_;
    std::vector<PassDeclaration> all;
    const Names inputs = joined_names({differentiable_inputs(of_, "dd"), names_of(op.inputs)});
    for (const std::string& input : differentiable_inputs(op))
        all.push_back({"grad_" + input, inputs, {"d" + input}});
    return all;
}

BackwardDeclaration::operator Operator() const {
    Operator op = derivative_of(of_, ".backward");
    if (!of_.mistakes.empty()) return op;
    op.inputs.clear();
    for (const TensorSpec& y : of_.outputs)
        if (y.differentiable) op.inputs.push_back(like(y, "d"));
    const std::size_t cotangents = op.inputs.size();
    const Operator same = derivative_of(of_, "");
    op.inputs.insert(op.inputs.end(), same.inputs.begin(), same.inputs.end());
    op.outputs.clear();
    for (const TensorSpec& x : of_.inputs)
        if (x.differentiable) op.outputs.push_back(like(x, "d"));
    for (TensorSpec y : of_.outputs) {
        y.differentiable = false;
        op.outputs.push_back(std::move(y));
    }
    op.products = derivatives_of_products(of_, [&](const Names& product, std::size_t at) {
        std::vector<Names> derivatives;
        for (const std::string& dy : differentiable_outputs(of_, "d")) {
            derivatives.push_back(product);
            derivatives.back()[at] = dy;
        }
        return derivatives;
    });

    const DerivedPasses first(
        of_, {.gradients = functions_.gradients, .branches_decide = functions_.branches_decide});
    op.passes.push_back(first.gradient("forward", names_of(op.inputs), names_of(op.outputs)));

    const NestedPasses nested(of_, functions_);
    const std::size_t moving = differentiable_inputs(of_).size();
    NestedPasses::Taken taken{.inputs = moving + cotangents, .tangents = {}, .cotangents = moving};
    for (std::size_t i = 0, tangent = 0; i < of_.inputs.size(); ++i)
        taken.tangents.push_back(of_.inputs[i].differentiable ? std::optional(tangent++)
                                                              : std::nullopt);
    const Names reference_inputs =
        joined_names({differentiable_inputs(of_, "dd"), names_of(op.inputs)});
    for (const PassDeclaration& declared : passes_or_default(op)) {
        const Names& results = declared.outputs;
        const Names before = op.mistakes;
        check_names(declared.name, declared.inputs,
                    joined_names({reference_inputs, names_of(of_.outputs)}), "takes", op.mistakes);
        check_names(declared.name, results, differentiable_inputs(op, "d"), "yields", op.mistakes);
        if (declared.name == "forward" || results.empty())
            add(op.mistakes, "the pass {} needs a name other than `forward`, and an output: {}",
                declared.name, joined(differentiable_inputs(op, "d")));
        if (op.mistakes != before) continue;
        PassSpec pass = pass_named(declared.name, declared.inputs, results);
        pass.reference_inputs = reference_inputs;
        std::vector<Result> wanted;
        for (const std::string& output : results) {
            const std::string by = output.substr(1);
            if (find_named(of_.inputs, by))
                wanted.push_back({Result::Of::gradient, position_in(of_.inputs, by)});
            else
                wanted.push_back({Result::Of::tangent, position_in(of_.outputs, by.substr(1))});
        }
        nested.set_references(pass, std::move(wanted), taken);
        op.passes.push_back(std::move(pass));
    }
    for (PassSpec& pass : op.passes) add_work(pass, of_.forward());
    op.along = along_of(nested, of_, cotangents);
    if (!op.mistakes.empty()) op.passes.clear();
    return op;
}

// ---- the derivative along tangents

JvpDeclaration::operator Operator() const {
    Operator op = derivative_of(of_, ".forward");
    if (!of_.mistakes.empty()) return op;
    op.along = nullptr;
    for (const TensorSpec& x : of_.inputs)
        if (x.differentiable) op.inputs.push_back(like(x, "t"));
    op.outputs.clear();
    for (const TensorSpec& y : of_.outputs)
        if (y.differentiable) op.outputs.push_back(like(y, "t"));
    op.outputs.insert(op.outputs.end(), of_.outputs.begin(), of_.outputs.end());
    op.products = derivatives_of_products(of_, [](const Names& product, std::size_t at) {
        std::vector<Names> derivative{product};
        derivative.front()[at].insert(0, "t");
        return derivative;
    });

    const Names tangents = differentiable_inputs(of_, "t"), results = names_of(op.outputs);
    const Names inputs = inputs_.empty() ? names_of(op.inputs) : inputs_;
    const Names outputs = outputs_.empty() ? differentiable_outputs(of_, "t") : outputs_;
    check_names("jvp", inputs, joined_names({names_of(op.inputs), names_of(of_.outputs)}), "takes",
                op.mistakes);
    check_names("jvp", outputs, results, "yields", op.mistakes);
    const auto any_of = [](const Names& names, const Names& wanted) {
        return std::ranges::any_of(
            names, [&](const std::string& name) { return std::ranges::count(wanted, name) > 0; });
    };
    if (!any_of(inputs, tangents) || !any_of(outputs, differentiable_outputs(of_, "t")))
        add(op.mistakes,
            "jvp() needs a tangent that it takes, of {}, and one "
            "that it yields, of {}",
            joined(tangents), joined(differentiable_outputs(of_, "t")));
    if (!op.mistakes.empty()) return op;

    const NestedPasses nested(of_, functions_);
    const auto add_pass = [&](const std::string& name, const Names& takes, const Names& yields) {
        PassSpec pass = pass_named(name, takes, yields);
        pass.reference_inputs = names_of(of_.inputs);
        NestedPasses::Taken taken;
        for (const TensorSpec& x : of_.inputs) {
            taken.tangents.emplace_back();
            if (std::ranges::count(takes, "t" + x.name) == 0) continue;
            taken.tangents.back() = pass.reference_inputs.size();
            pass.reference_inputs.push_back("t" + x.name);
        }
        std::vector<Result> wanted;
        for (const std::string& output : yields)
            if (find_named(of_.outputs, output))
                wanted.push_back({Result::Of::value, position_in(of_.outputs, output)});
            else
                wanted.push_back({Result::Of::tangent, position_in(of_.outputs, output.substr(1))});
        nested.set_references(pass, std::move(wanted), std::move(taken));
        add_work(pass, of_.forward());
        op.passes.push_back(std::move(pass));
    };
    // The whole map comes first: what passes may take of it follows from it.
    add_pass("forward", names_of(op.inputs), results);
    add_pass("jvp", inputs, outputs);
    return op;
}

}  // namespace gradverify
