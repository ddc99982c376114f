// SPDX-License-Identifier: Apache-2.0
// Decides what is a mistake in the declaration of an operator, and the sentence that says what is
// right: names, ranges, and, found by running the shape functions and the forward function on a few
// small problems, whatever would otherwise show as a wrong verdict.
#include <algorithm>
#include <cmath>

#include "harness/base/text.hpp"
#include "harness/declare_operator.hpp"
#include "harness/problems/parameter_reads.hpp"

namespace gradverify {

namespace {

using Mistakes = std::vector<std::string>;

bool has_parameter(const Operator& op, const std::string& name) {
    return std::ranges::any_of(op.space.parameters(),
                               [&](const ParameterSpec& spec) { return spec.name == name; });
}

std::string parameters_of(const Operator& op) {
    std::vector<std::string> names;
    for (const ParameterSpec& spec : op.space.parameters()) names.push_back(spec.name);
    return names.empty() ? "none" : joined(names);
}

/// The default problem, and the same with each parameter in turn, and all of them, a little larger.
std::vector<Problem> probes_of(const Operator& op) {
    std::vector<Problem> probes{Problem(op.space, op.space.rank_max())};
    const Problem usual = probes.front();
    const int count = static_cast<int>(usual.slots().size());
    const auto raised = [&](Problem& problem, int slot, std::int64_t by) {
        problem[slot] =
            std::min(problem[slot] + by,
                     op.space.spec(problem.slots()[static_cast<std::size_t>(slot)]).maximum);
    };
    for (int slot = 0; slot < count; ++slot) {
        probes.push_back(usual);
        raised(probes.back(), slot, 2);
    }
    for (const std::int64_t by : {1, 2}) {
        probes.push_back(usual);
        for (int slot = 0; slot < count; ++slot) raised(probes.back(), slot, by);
    }
    std::erase_if(probes, [&](const Problem& problem) {
        return first_violated(op.constraints, problem) != nullptr;
    });
    return probes;
}

/// Whole numbers of all sorts, so that what is done for some of them only is done.
double whole_number(const ValueDomain& domain, double simplest, std::int64_t i) {
    const double step = static_cast<double>(1 + i % 3);
    return std::clamp(simplest + step, domain.lowest, domain.highest);
}

enum class WholeNumbers { simplest, varied };

/// Inputs of a probe: numbers around one and a half that all differ, and indices.
std::vector<Array<double>> probe_inputs(const Operator& op, const Problem& problem, double shift,
                                        WholeNumbers whole = WholeNumbers::simplest) {
    std::vector<Array<double>> inputs;
    for (const TensorSpec& tensor : op.inputs) {
        Array<double>& input = inputs.emplace_back(Array<double>{tensor.sizes(problem), {}});
        const ValueDomain domain = tensor.domain_at(problem);
        for (std::int64_t i = 0; i < element_count(input.sizes); ++i) {
            const double fraction = 0.25 + 0.125 * static_cast<double>(i % 5) + 0.0625 * shift;
            double value = tensor.simplest_value(problem);
            if (!tensor.holds_whole_numbers())
                value = std::isfinite(domain.lowest) && std::isfinite(domain.highest)
                            ? domain.lowest + fraction * (domain.highest - domain.lowest)
                        : std::isfinite(domain.highest) ? domain.highest - 1.0 - fraction
                        : std::isfinite(domain.lowest)  ? domain.lowest + 1.0 + fraction
                                                        : 1.0 + fraction;
            else if (whole == WholeNumbers::varied)
                value = whole_number(domain, value, i);
            input.data.push_back(value);
        }
    }
    return inputs;
}

void check_names(const Operator& op, Mistakes& mistakes) {
    std::vector<std::string> seen;
    for (const auto& group : {op.inputs, op.outputs})
        for (const TensorSpec& tensor : group) {
            if (tensor.name.empty() || std::ranges::find(seen, tensor.name) != seen.end())
                mistakes.push_back("the tensor name '" + tensor.name +
                                   "' is empty or given twice; each tensor needs its own");
            seen.push_back(tensor.name);
        }
    for (const auto& product : op.products)
        for (const std::string& name : product)
            if (std::ranges::find(op.inputs, name, &TensorSpec::name) == op.inputs.end())
                mistakes.push_back("sum_of_products names '" + name + "', which is no input");
}

void check_factors(const Operator& op, Mistakes& mistakes) {
    for (const FactorSpec& factor : op.factors) {
        const Problem smallest(op.space, op.space.rank_max());
        std::vector<std::int64_t> values;
        for (const std::string& parameter : factor.parameters) {
            const std::vector<int> slots = op.space.find(parameter, op.space.rank_max());
            if (slots.empty())
                mistakes.push_back("the factor '" + factor.name + "' names '" + parameter +
                                   "', which is no parameter; there are " +
                                   joined(op.space.names(op.space.rank_max())));
            // Of one axis, as the factor is given them.
            for (const int slot : slots)
                if (smallest.slots()[static_cast<std::size_t>(slot)].axis <= 0)
                    values.push_back(smallest[slot]);
        }
        if (values.empty() || values.size() > most_factor_values)
            mistakes.push_back("the factor '" + factor.name + "' is of " +
                               std::to_string(values.size()) + " values; 1 to " +
                               std::to_string(most_factor_values) + " are possible");
        else if (const int level = factor.level_of_values(values);
                 level < 0 || level >= static_cast<int>(factor.levels.size()))
            mistakes.push_back("the factor '" + factor.name + "' gives level " +
                               std::to_string(level) + " of the smallest problem, and has " +
                               std::to_string(factor.levels.size()));
    }
}

void check_differentiable(const Operator& op, Mistakes& mistakes) {
    const auto any = [](const std::vector<TensorSpec>& tensors) {
        return std::ranges::any_of(tensors, &TensorSpec::differentiable);
    };
    if (!any(op.inputs))
        mistakes.emplace_back(
            "no input is differentiable, so there is no gradient to verify; declare at least one "
            "floating-point input without constant()");
    if (!any(op.outputs))
        mistakes.emplace_back(
            "no output has a cotangent, so there is no gradient to verify; declare at least one "
            "with output(), not saved()");
    for (const TensorSpec& tensor : op.inputs)
        if (tensor.holds_whole_numbers() && !tensor.domain)
            mistakes.push_back("the input " + tensor.name +
                               " holds whole numbers but has no range, so none can be drawn; "
                               "declare it with indices_below(\"PARAMETER\") or "
                               "whole_numbers(LOWEST, HIGHEST)");
        else if (tensor.holds_whole_numbers() && tensor.differentiable)
            mistakes.push_back("the input " + tensor.name +
                               " holds whole numbers, which have no gradient; declare it with "
                               "constant()");
}

/// Whether a pass may yield this: with a reference of its own, which says what they are, also
/// gradients by saved outputs, and outputs.
bool may_yield(const Operator& op, const std::string& output, bool has_reference) {
    if (op.is_gradient(output)) return op.find_tensor(output)->differentiable;
    const TensorSpec* of = op.find_tensor(output);
    const bool is_cotangent = of && of->name != output && of->differentiable;
    return has_reference && of && op.is_output(of->name) && !is_cotangent;
}

void check_gradient(const Operator& op, const std::string& name,
                    const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                    bool has_reference, Mistakes& mistakes) {
    const std::string pass = "the gradient pass " + name + " ";
    const bool has_no_gradient = std::ranges::all_of(outputs, [&](const std::string& output) {
        return may_yield(op, output, has_reference) && !op.is_gradient(output);
    });
    if (name == "forward" || has_no_gradient)
        mistakes.push_back(pass +
                           "needs a name other than `forward`, and an output such as \"dx\"");
    for (const std::string& output : outputs)
        if (!may_yield(op, output, has_reference))
            mistakes.push_back(pass + "yields '" + output +
                               "', which is no gradient; \"dx\" is that of a differentiable input "
                               "x; a saved output's gradient needs a reference of the pass");
    for (const std::string& input : inputs) {
        const TensorSpec* of = op.find_tensor(input);
        const bool is_cotangent = of != nullptr && of->name != input;
        if (of == nullptr || (is_cotangent && !(op.is_output(of->name) && of->differentiable)))
            mistakes.push_back(pass + "takes '" + input +
                               "', which is neither an input, nor an output, nor a cotangent "
                               "(\"dy\" is that of the output y)");
    }
}

void check_steps(const Operator& op, const std::string& pass, bool exists,
                 const std::vector<Step>& steps, Mistakes& mistakes) {
    if (!exists) mistakes.push_back("steps() names the pass '" + pass + "', which does not exist");
    for (const Step& step : steps)
        for (const auto& [part, whole] : step.tensors)
            if (!op.find_tensor(whole))
                mistakes.push_back("the step " + step.pass + " of " + pass + " names the tensor '" +
                                   whole + "', which does not exist");
}

/// Runs the forward function on the probes; one at a time, so that the first failure is told.
void run_probes(const Operator& op, const ForwardFunctions& functions, Mistakes& mistakes) {
    int valid = 0;
    const ParameterReads reads;
    for (const Problem& problem : probes_of(op)) {
        try {
            if (op.why_invalid && op.why_invalid(problem)) continue;
            if (const auto why = op.validate(problem)) {
                mistakes.push_back(*why + " (at " + problem.print() + ")");
                return;
            }
            ++valid;
            for (const WholeNumbers whole : {WholeNumbers::simplest, WholeNumbers::varied}) {
                const auto inputs = probe_inputs(op, problem, 0.0, whole);
                std::vector<Array<double>> outputs;
                for (const TensorSpec& tensor : op.outputs) {
                    outputs.push_back({tensor.sizes(problem), {}});
                    outputs.back().data.resize(
                        static_cast<std::size_t>(element_count(outputs.back().sizes)));
                }
                functions.values(ForwardCall<double>(op, problem, inputs, outputs));
            }
        } catch (const std::exception& wrong) {
            mistakes.push_back(std::string(wrong.what()) + " (at " + problem.print() + ")");
            return;
        }
    }
    // Elsewhere only: nothing is known of what is read.
    if (valid < 2) return;
    for (const ParameterSpec& spec : op.space.parameters())
        if (!reads.names().contains(spec.name))
            mistakes.push_back("nothing reads the parameter " + spec.name +
                               ": no shape, no valid_if() and not the forward function; use it, or "
                               "take it out of the declaration");
}

void check_ranges(const Operator& op, Mistakes& mistakes) {
    for (const ParameterSpec& spec : op.space.parameters()) {
        if (spec.minimum < spec.maximum || (spec.is_real() && spec.values.size() == 1)) continue;
        mistakes.push_back("the parameter " + spec.name +
                           " is never drawn: " + std::to_string(spec.minimum) +
                           " is all that its range allows; widen the range, or write the number "
                           "into the forward function");
    }
}

void check_shapes(const Operator& op, const std::string& tensor, const std::vector<Extent>& extents,
                  const std::string& below, Mistakes& mistakes) {
    std::vector<std::string> names{below};
    for (const Extent& extent : extents) names.push_back(extent.parameter());
    for (const std::string& name : names)
        if (!name.empty() && !has_parameter(op, name))
            mistakes.push_back("the tensor " + tensor + " names the parameter '" + name +
                               "', which does not exist; there are " + parameters_of(op));
    if (extents.size() > static_cast<std::size_t>(max_tensor_rank))
        mistakes.push_back("the tensor " + tensor + " has more than " +
                           std::to_string(max_tensor_rank) + " axes");
}

std::vector<Array<double>> ones_as_cotangents(const Operator& op, const Problem& problem) {
    std::vector<Array<double>> cotangents;
    for (const std::string& y : op.differentiable_outputs()) {
        cotangents.push_back({op.sizes_of(y, problem), {}});
        cotangents.back().data.assign(
            static_cast<std::size_t>(element_count(cotangents.back().sizes)), 1.0);
    }
    return cotangents;
}

/// Along one element of each input, whether the forward map is as linear as the declaration says.
void check_products(const Operator& op, const ForwardFunctions& functions, Mistakes& mistakes) {
    if (op.algebra != Algebra::products) return;
    const DerivedPasses derived(op, functions, {});
    for (const Problem& problem : probes_of(op)) {
        if (op.validate(problem) || op.is_empty(problem)) continue;
        const auto here = probe_inputs(op, problem, 0.0);
        const auto cotangents = ones_as_cotangents(op, problem);
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (!op.inputs[i].differentiable) continue;
            const Array<double>& direction = here[i];
            auto there = here;
            for (double& element : there[i].data) element += 0.5;
            const double first = derived.along(problem, here, i, direction, cotangents).derivative;
            const double second =
                derived.along(problem, there, i, direction, cotangents).derivative;
            const bool is_linear = std::abs(first - second) <= 1e-9 * std::abs(first);
            if (is_linear && (op.is_linear_in(op.inputs[i].name) || first == 0.0)) continue;
            mistakes.push_back("sum_of_products is not what the forward function computes: it is " +
                               std::string(is_linear ? "linear in " : "not linear in ") +
                               op.inputs[i].name + " (at " + problem.print() +
                               "); correct the products, or leave them out");
            return;
        }
    }
}

/// Whether the forward map has one slope on a piece, a whole number along whole numbers.
void check_pieces(const Operator& op, const ForwardFunctions& functions, Mistakes& mistakes) {
    if (op.algebra != Algebra::piecewise_linear) return;
    const DerivedPasses derived(op, functions, {});
    for (const Problem& problem : probes_of(op)) {
        if (op.validate(problem) || op.is_empty(problem)) continue;
        const auto here = probe_inputs(op, problem, 0.0), near = probe_inputs(op, problem, 1.0);
        const auto cotangents = ones_as_cotangents(op, problem);
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (!op.inputs[i].differentiable) continue;
            Array<double> direction = here[i];
            for (std::size_t j = 0; j < direction.data.size(); ++j)
                direction.data[j] = static_cast<double>(1 + j % 3);
            const double first = derived.along(problem, here, i, direction, cotangents).derivative;
            const double second = derived.along(problem, near, i, direction, cotangents).derivative;
            if (first == second && first == std::round(first)) continue;
            mistakes.push_back(
                "piecewise_linear is not what the forward function is: along whole numbers of " +
                op.inputs[i].name + " it changes by " + print_exactly(first) + " and, near by, " +
                print_exactly(second) + " (at " + problem.print() + "); leave it out");
            return;
        }
    }
}

/// Whether whole numbers give whole numbers, forwards and along.
void check_polynomial(const Operator& op, const ForwardFunctions& functions, Mistakes& mistakes) {
    if (op.algebra != Algebra::piecewise_polynomial) return;
    const DerivedPasses derived(op, functions, {});
    for (const Problem& problem : probes_of(op)) {
        if (op.validate(problem) || op.is_empty(problem)) continue;
        auto here = probe_inputs(op, problem, 0.0);
        for (Array<double>& input : here)
            for (std::size_t j = 0; j < input.data.size(); ++j)
                input.data[j] = static_cast<double>(1 + j % 3);
        const auto cotangents = ones_as_cotangents(op, problem);
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (!op.inputs[i].differentiable) continue;
            const ValueAlong at = derived.along(problem, here, i, here[i], cotangents);
            if (at.value == std::round(at.value) && at.derivative == std::round(at.derivative))
                continue;
            mistakes.push_back(
                "piecewise_polynomial is not what the forward function is: on whole numbers it "
                "comes to " +
                print_exactly(at.value) + ", and along " + op.inputs[i].name + " changes by " +
                print_exactly(at.derivative) + " (at " + problem.print() + "); leave it out");
            return;
        }
    }
}

}  // namespace

void OperatorDeclaration::find_mistakes(const Operator& op, Mistakes& mistakes) const {
    if (!functions_.values) mistakes.emplace_back("there is no forward function; add forward()");
    check_names(op, mistakes);
    check_factors(op, mistakes);
    check_ranges(op, mistakes);
    for (const auto& group : {inputs_, outputs_})
        for (const TensorDeclaration& tensor : group)
            check_shapes(op, tensor.name, tensor.shape.extents(), tensor.holds.below, mistakes);
    check_differentiable(op, mistakes);
    for (const PassDeclaration& declared : gradients_)
        check_gradient(op, declared.name, declared.inputs, declared.outputs,
                       declared.reference != nullptr, mistakes);
    for (const auto& [pass, steps] : steps_) {
        const bool exists =
            pass == "forward" || std::ranges::count(gradients_, pass, &PassDeclaration::name) > 0;
        check_steps(op, pass, exists, steps, mistakes);
    }
    for (const Layouts& layouts : layouts_)
        if (!std::ranges::count(op.inputs, layouts.tensor, &TensorSpec::name) &&
            !std::ranges::count(op.outputs, layouts.tensor, &TensorSpec::name))
            mistakes.push_back("layouts names '" + layouts.tensor +
                               "', which is no input and no output");
    for (const std::string& name : defined_for_nan_)
        if (const auto of = std::ranges::find(op.inputs, name, &TensorSpec::name);
            of == op.inputs.end() || of->holds_whole_numbers() || of->domain)
            mistakes.push_back("defined_for_nan names '" + name +
                               "', which is no input of numbers of any size");
    if (!defined_for_nan_.empty() && op.algebra == Algebra::products)
        mistakes.emplace_back(
            "defined_for_nan is not for a sum of products: its gradient is verified by finite "
            "differences, and NaN has none");
    if (exact_if_ && !op.is_exact_on_integers())
        mistakes.emplace_back(
            "exact_if says where results on integers are exact, which needs sum_of_products, "
            "piecewise_linear or piecewise_polynomial");
    if (algebras_.size() > 1)
        mistakes.emplace_back(
            "of sum_of_products, piecewise_linear and piecewise_polynomial two are declared; the "
            "first that is true says most");
    if (mistakes.empty()) run_probes(op, functions_, mistakes);
    if (mistakes.empty()) check_products(op, functions_, mistakes);
    if (mistakes.empty()) check_pieces(op, functions_, mistakes);
    if (mistakes.empty()) check_polynomial(op, functions_, mistakes);
}

}  // namespace gradverify
