// SPDX-License-Identifier: Apache-2.0
// Decides what is a mistake in the declaration of an operator, and the sentence that says what is
// right. The shape functions and the forward function are run on a few small problems, so that
// their mistakes do not show as wrong verdicts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/refuse.hpp"
#include "harness/base/text.hpp"
#include "harness/declare_operator.hpp"
#include "harness/declaring/padding_mistakes.hpp"
#include "harness/problems/parameter_reads.hpp"

namespace gradverify {

namespace {

using Arrays = std::vector<Array<double>>;

/// The default problem; the same with one parameter a little larger, for each; and with all larger.
std::vector<Problem> probes_of(const Operator& op) {
    std::vector<Problem> probes{Problem(op.space, op.space.rank_max())};
    const Problem usual = probes.front();
    const int count = static_cast<int>(usual.slots().size());
    const auto raised = [&](Problem& problem, int slot, std::int64_t by) {
        problem[slot] = std::min(problem[slot] + by, op.space.spec(usual.rank(), slot).maximum);
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

/// Inputs of a probe: numbers around one and a half, neighbours apart, and indices. A forward
/// function may read a parameter for some whole numbers only: unless `varied` all are the simplest.
Arrays probe_inputs(const Operator& op, const Problem& problem, double shift, bool varied = false) {
    Arrays inputs;
    for (const TensorSpec& tensor : op.inputs) {
        Array<double>& input = inputs.emplace_back(tensor.simplest(problem));
        if (tensor.arrangement != Arrangement::free) continue;
        const auto [lowest, highest] = tensor.domain_at(problem);
        for (std::int64_t i = 0; i < element_count(input.sizes); ++i) {
            const double fraction = 0.25 + 0.125 * static_cast<double>(i % 5) + 0.0625 * shift;
            double& value = input.data[static_cast<std::size_t>(i)];
            if (!tensor.holds_whole_numbers())
                value = std::isfinite(lowest) && std::isfinite(highest)
                            ? lowest + fraction * (highest - lowest)
                        : std::isfinite(highest) ? highest - 1.0 - fraction
                        : std::isfinite(lowest)  ? lowest + 1.0 + fraction
                                                 : 1.0 + fraction;
            else if (varied)
                value = std::clamp(value + static_cast<double>(1 + i % 3), lowest, highest);
        }
    }
    return inputs;
}

void check_names(const Operator& op, Mistakes& mistakes) {
    std::set<std::string> taken{""};
    for (const auto& group : {op.inputs, op.outputs})
        for (const TensorSpec& tensor : group)
            if (!taken.insert(tensor.name).second)
                add(mistakes,
                    "the tensor name '{}' is empty or given twice; each tensor needs its own",
                    tensor.name);
    for (const auto& product : op.products)
        for (const std::string& name : product)
            if (!find_named(op.inputs, name))
                add(mistakes, "sum_of_products names '{}', which is no input", name);
}

void check_factors(const Operator& op, Mistakes& mistakes) {
    for (const FactorSpec& factor : op.factors) {
        const Problem smallest(op.space, op.space.rank_max());
        std::vector<std::int64_t> values;
        for (const std::string& parameter : factor.parameters) {
            const std::vector<int> slots = op.space.find(parameter, op.space.rank_max());
            if (slots.empty())
                add(mistakes, "the factor '{}' names '{}', which is no parameter; there are {}",
                    factor.name, parameter, joined(op.space.names(op.space.rank_max())));
            // A factor is given the values on one axis.
            for (const int slot : slots)
                if (op.space.slot(smallest.rank(), slot).axis <= 0)
                    values.push_back(smallest[slot]);
        }
        if (values.empty() || values.size() > most_factor_values)
            add(mistakes, "the factor '{}' is of {} values; 1 to {} are possible", factor.name,
                values.size(), most_factor_values);
        else if (const int level = factor.level_of_values(values);
                 level < 0 || level >= static_cast<int>(factor.levels.size()))
            add(mistakes, "the factor '{}' gives level {} of the smallest problem, and has {}",
                factor.name, level, factor.levels.size());
    }
}

void check_differentiable(const Operator& op, bool is_forward_alone, Mistakes& mistakes) {
    if (!is_forward_alone && std::ranges::none_of(op.inputs, &TensorSpec::differentiable))
        add(mistakes,
            "no input is differentiable, so there is no gradient to verify; declare at least one "
            "floating-point input without constant(), or the operator forward_alone()");
    if (std::ranges::none_of(op.outputs, &TensorSpec::differentiable))
        add(mistakes,
            "no output has a cotangent, so there is no {} to verify; declare at least one "
            "with output(), not saved()",
            is_forward_alone ? "result" : "gradient");
    for (const TensorSpec& tensor : op.inputs)
        if (tensor.holds_whole_numbers() && !tensor.domain)
            add(mistakes,
                "the input {} holds whole numbers but has no range, so none can be drawn; declare "
                "it with indices_below(\"PARAMETER\"), whole_numbers(LOWEST, HIGHEST) or the like",
                tensor.name);
        else if (tensor.holds_whole_numbers() && tensor.differentiable)
            add(mistakes,
                "the input {} holds whole numbers, which have no gradient; declare it with "
                "constant()",
                tensor.name);
        else if (tensor.arrangement != Arrangement::free && tensor.may_be_invalid)
            add(mistakes, "the input {} can't be both arranged and or_invalid()", tensor.name);
}

/// Whether a gradient pass may yield this; with a reference by hand also a saved output's gradient.
bool may_yield(const Operator& op, const std::string& output, bool has_reference) {
    const TensorSpec* of = op.find_tensor(output);
    if (op.is_gradient(output)) return of->differentiable;
    const bool is_output = of && of->name == output && op.is_output(output);
    return is_output || (has_reference && of && op.is_output(of->name) && !op.is_cotangent(output));
}

/// `declared`: an OperatorDeclaration::PassDeclaration.
void check_gradient(const Operator& op, const auto& declared, Mistakes& mistakes) {
    const auto& [name, inputs, outputs, reference] = declared;
    const bool has_reference = reference.values != nullptr;
    const bool has_no_gradient = std::ranges::all_of(outputs, [&](const std::string& output) {
        return may_yield(op, output, has_reference) && !op.is_gradient(output);
    });
    if (name == "forward" || has_no_gradient)
        add(mistakes,
            "the gradient pass {} needs a name other than `forward`, and an output such as \"dx\"",
            name);
    for (const std::string& output : outputs)
        if (!may_yield(op, output, has_reference))
            add(mistakes,
                "the gradient pass {} yields '{}', which is no gradient; \"dx\" is that of a "
                "differentiable input x; a saved output's gradient needs a reference of the pass",
                name, output);
    for (const std::string& input : inputs) {
        const TensorSpec* of = op.find_tensor(input);
        if (of == nullptr || (of->name != input && !op.is_cotangent(input)))
            add(mistakes,
                "the gradient pass {} takes '{}', which is neither an input, nor an output, nor a "
                "cotangent (\"dy\" is that of the output y)",
                name, input);
    }
}

/// A gradient pass without a cotangent has the upstream gradient 1 of a loss, if there is one.
void check_cotangents(const Operator& op, const std::string& name,
                      const std::vector<std::string>& inputs, Mistakes& mistakes) {
    if (std::ranges::any_of(inputs, [&](const auto& input) { return op.is_cotangent(input); }))
        return;
    const auto outputs = op.differentiable_outputs();
    const bool is_loss =
        outputs.size() == 1 && std::ranges::all_of(probes_of(op), [&](const Problem& problem) {
            return element_count(op.sizes_of(outputs.front(), problem)) == 1;
        });
    if (!is_loss)
        add(mistakes,
            "the gradient pass {} takes no cotangent, which means that of a loss, 1, and {} is no "
            "single number; let it take {}",
            name, joined(outputs), "d" + joined(outputs, ", d"));
}

void check_steps(const Operator& op, const std::string& pass, bool exists,
                 const std::vector<Step>& steps, Mistakes& mistakes) {
    if (!exists) add(mistakes, "steps() names the pass '{}', which does not exist", pass);
    for (const Step& step : steps)
        for (const auto& [part, whole] : step.tensors)
            if (!op.find_tensor(whole))
                add(mistakes, "the step {} of {} names the tensor '{}', which does not exist",
                    step.pass, pass, whole);
}

/// Runs the forward function on the probes until the first failure.
void run_probes(const Operator& op, const ForwardFunctions& functions, Mistakes& mistakes) {
    int valid = 0;
    const ParameterReads reads;
    for (const Problem& problem : probes_of(op)) {
        try {
            if (op.why_invalid && op.why_invalid(problem)) continue;
            if (const auto why = op.validate(problem))
                return add(mistakes, "{} (at {})", *why, problem.print());
            ++valid;
            for (const bool varied : {false, true}) {
                const auto inputs = probe_inputs(op, problem, 0.0, varied);
                const auto wrong = mistake_with_padding(op, functions.values, problem, inputs);
                if (!wrong.empty()) return add(mistakes, "{} (at {})", wrong, problem.print());
            }
        } catch (const std::exception& wrong) {
            return add(mistakes, "{} (at {})", wrong.what(), problem.print());
        }
    }
    // One problem alone does not tell what is read elsewhere.
    if (valid < 2) return;
    for (const ParameterSpec& spec : op.space.parameters())
        if (!reads.names().contains(spec.name))
            add(mistakes,
                "nothing reads the parameter {}: no shape, no valid_if() and not the forward "
                "function; use it, or take it out of the declaration",
                spec.name);
}

/// What a pass takes on a probe: cotangents of one, the probe's inputs, and what they give.
Arrays probe_of_pass(const Operator& op, const PassSpec& pass, const Problem& problem) {
    const Arrays inputs = probe_inputs(op, problem, 0.0);
    const Arrays outputs = reference_outputs(op, op.forward(), problem, inputs);
    Arrays taken;
    for (const std::string& name : pass.inputs)
        taken.push_back(op.is_cotangent(name) ? filled(op.sizes_of(name, problem), 1.0)
                        : op.is_output(name)
                            ? outputs[detail::position_of(name, op.outputs, "output")]
                            : inputs[detail::position_of(name, op.inputs, "input")]);
    return taken;
}

/// The numbers that a pass's reference names on the probes.
std::vector<std::string> roundings_of(Operator& op, const PassSpec& pass) {
    std::set<std::string> names;
    for (const Problem& problem : probes_of(op)) {
        if (op.validate(problem)) continue;
        const Arrays taken = probe_of_pass(op, pass, problem);
        const RoundingNames named;
        try {
            static_cast<void>(reference_outputs(op, pass, problem, taken));
        } catch (const std::exception& wrong) {
            add(op.mistakes, "{} (in the reference of {}, at {})", wrong.what(), pass.name,
                problem.print());
            return {};
        }
        names.insert(named.names().begin(), named.names().end());
    }
    return {names.begin(), names.end()};
}

void check_ranges(const Operator& op, Mistakes& mistakes) {
    for (const ParameterSpec& spec : op.space.parameters())
        if (spec.minimum >= spec.maximum && !(spec.is_real() && spec.values.size() == 1))
            add(mistakes,
                "the parameter {} is never drawn: {} is all that its range allows; widen the "
                "range, or write the number into the forward function",
                spec.name, spec.minimum);
}

/// `tensor`: an OperatorDeclaration::TensorDeclaration.
void check_shape(const Operator& op, const auto& tensor, Mistakes& mistakes) {
    const std::vector<ParameterSpec>& known = op.space.parameters();
    const std::vector<Extent>& extents = tensor.shape.extents;
    std::vector<std::string> named{tensor.holds.below};
    for (const Extent& extent : extents) named.push_back(extent.parameter());
    for (const std::string& name : named)
        if (!name.empty() && !find_named(known, name))
            add(mistakes,
                "the tensor {} names the parameter '{}', which does not exist; there are {}",
                tensor.name, name, joined_or_none(names_of(known)));
    if (extents.size() > static_cast<std::size_t>(max_tensor_rank))
        add(mistakes, "the tensor {} has more than {} axes", tensor.name, max_tensor_rank);
}

Array<double> whole_numbers_like(Array<double> array) {
    for (std::size_t j = 0; j < array.data.size(); ++j)
        array.data[j] = static_cast<double>(1 + j % 3);
    return array;
}

bool is_whole(double value) { return value == std::round(value); }

/// Why the forward function has not the declared algebra, as one input moves; empty when it has.
std::string mistake_in_algebra(const Operator& op, const DerivedPasses& derived,
                               const Problem& problem, std::size_t input) {
    Arrays cotangents;
    for (const std::string& y : op.differentiable_outputs())
        cotangents.push_back(filled(op.sizes_of(y, problem), 1.0));
    const auto along = [&](const Arrays& at, const Array<double>& direction) {
        return derived.along(problem, at, input, direction, cotangents);
    };
    const std::string &name = op.inputs[input].name, where = problem.print();
    Arrays here = probe_inputs(op, problem, 0.0);
    if (op.algebra == Algebra::products) {
        Arrays there = here;
        for (double& element : there[input].data) element += 0.5;
        const double first = along(here, here[input]).derivative;
        const double second = along(there, here[input]).derivative;
        const bool is_linear = std::abs(first - second) <= 1e-9 * std::abs(first);
        if (is_linear && (op.is_linear_in(name) || first == 0.0)) return {};
        return fmt::format(
            "sum_of_products is not what the forward function computes: it is {}linear in {} (at "
            "{}); correct the products, or leave them out",
            is_linear ? "" : "not ", name, where);
    }
    if (op.algebra == Algebra::piecewise_linear) {
        // One slope on a piece, a whole number along whole numbers.
        const Array<double> direction = whole_numbers_like(here[input]);
        const double first = along(here, direction).derivative;
        const double second = along(probe_inputs(op, problem, 1.0), direction).derivative;
        if (first == second && is_whole(first)) return {};
        return fmt::format(
            "piecewise_linear is not what the forward function is: along whole numbers of {} it "
            "changes by {} and, near by, {} (at {}); leave it out",
            name, print_exactly(first), print_exactly(second), where);
    }
    // Whole numbers give whole numbers, forwards and along.
    for (Array<double>& array : here) array = whole_numbers_like(array);
    const ValueAlong at = along(here, here[input]);
    if (is_whole(at.value) && is_whole(at.derivative)) return {};
    return fmt::format(
        "piecewise_polynomial is not what the forward function is: on whole numbers it comes to "
        "{}, and along {} changes by {} (at {}); leave it out",
        print_exactly(at.value), name, print_exactly(at.derivative), where);
}

void check_algebra(const Operator& op, const ForwardFunctions& functions, Mistakes& mistakes) {
    if (op.algebra == Algebra::smooth) return;
    const DerivedPasses derived(op, functions);
    for (const Problem& problem : probes_of(op)) {
        if (op.validate(problem) || op.is_empty(problem)) continue;
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (!op.inputs[i].differentiable) continue;
            if (auto mistake = mistake_in_algebra(op, derived, problem, i); !mistake.empty())
                return mistakes.push_back(std::move(mistake));
        }
    }
}

}  // namespace

void OperatorDeclaration::find_roundings(Operator& op) {
    const std::vector<std::string> forward = roundings_of(op, op.forward());
    for (PassSpec& pass : op.passes) {
        pass.roundings = pass.derived ? roundings_of(op, pass) : forward;
        if (pass.is_forward() || pass.derived) continue;
        for (const std::string& number : forward) pass.roundings.push_back("d" + number);
        std::ranges::sort(pass.roundings);
    }
}

void OperatorDeclaration::find_mistakes(const Operator& op, Mistakes& mistakes) const {
    if (!functions_.values) add(mistakes, "there is no forward function; add forward()");
    check_names(op, mistakes);
    check_factors(op, mistakes);
    check_ranges(op, mistakes);
    for (const auto& group : {inputs_, outputs_})
        for (const TensorDeclaration& tensor : group) check_shape(op, tensor, mistakes);
    check_differentiable(op, functions_.is_forward_alone, mistakes);
    for (const auto& [tensor, lengths] : lengths_)
        if (auto mistake = mistake_in_lengths(op, tensor, lengths); !mistake.empty())
            mistakes.push_back(std::move(mistake));
    if (functions_.is_forward_alone && !gradients_.empty())
        add(mistakes, "the operator is forward_alone() and has a gradient pass {}; leave one out",
            gradients_.front().name);
    else
        for (const PassDeclaration& declared : gradients_) check_gradient(op, declared, mistakes);
    for (const auto& [pass, steps] : steps_) {
        const bool exists =
            pass == "forward" || std::ranges::count(gradients_, pass, &PassDeclaration::name) > 0;
        check_steps(op, pass, exists, steps, mistakes);
    }
    for (const auto& [tensor, orders] : layouts_)
        if (!find_named(op.inputs, tensor) && !find_named(op.outputs, tensor))
            add(mistakes, "layouts names '{}', which is no input and no output", tensor);
    for (const std::string& name : defined_for_nan_)
        if (const TensorSpec* of = find_named(op.inputs, name);
            !of || of->holds_whole_numbers() || of->domain)
            add(mistakes, "defined_for_nan names '{}', which is no input of numbers of any size",
                name);
    if (!defined_for_nan_.empty() && op.algebra == Algebra::products)
        add(mistakes,
            "defined_for_nan is not for a sum of products: its gradient is verified by finite "
            "differences, and NaN has none");
    if (op.exact_if && !op.is_exact_on_integers())
        add(mistakes,
            "exact_if says where results on integers are exact, which needs sum_of_products, "
            "piecewise_linear or piecewise_polynomial");
    if (algebras_.size() > 1)
        add(mistakes,
            "of sum_of_products, piecewise_linear and piecewise_polynomial two are declared; the "
            "first that is true says most");
    if (mistakes.empty()) run_probes(op, functions_, mistakes);
    if (mistakes.empty())
        for (const PassDeclaration& declared : gradients_)
            check_cotangents(op, declared.name, declared.inputs, mistakes);
    if (mistakes.empty()) check_algebra(op, functions_, mistakes);
}

}  // namespace gradverify
