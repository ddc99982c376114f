// SPDX-License-Identifier: Apache-2.0
#include "harness/operators/operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "harness/base/refuse.hpp"

namespace gradverify {

std::int64_t element_count(const Sizes& sizes) {
    if (std::ranges::find(sizes, 0) != sizes.end()) return 0;
    std::int64_t count = 1;
    for (const std::int64_t size : sizes)
        if (__builtin_mul_overflow(count, size, &count))
            return std::numeric_limits<std::int64_t>::max();
    return count;
}

namespace {

// In double such a tensor takes 512 GiB. Below it no sum of elements or bytes overflows.
constexpr std::int64_t elements_maximum = std::int64_t{1} << 36;

}  // namespace

const std::string& Step::tensor(std::string_view of_part) const {
    for (const auto& [part, whole] : tensors)
        if (part == of_part) return whole;
    refuse("the step {} does not say what its tensor {} is", pass, of_part);
}

bool Operator::is_chain() const {
    return std::ranges::any_of(passes, [](const PassSpec& pass) { return !pass.steps.empty(); });
}

bool Operator::is_gradient(std::string_view tensor) const {
    // Of a gradient as an operator, "dx" is an output, and the gradient by x, too.
    return tensor.starts_with('d') && !find_named(inputs, tensor) &&
           find_named(inputs, tensor.substr(1));
}

bool Operator::is_cotangent(std::string_view tensor) const {
    const TensorSpec* of = find_tensor(tensor);
    return of && of->name != tensor && of->differentiable && is_output(of->name);
}

std::optional<double> Operator::implied_cotangent(const PassSpec& pass,
                                                  std::string_view tensor) const {
    const auto yields = [&](const std::string& output) { return is_gradient(output); };
    const auto takes = [&](const std::string& input) { return is_cotangent(input); };
    if (!is_cotangent(tensor) || std::ranges::count(pass.inputs, tensor) > 0 ||
        std::ranges::none_of(pass.outputs, yields))
        return std::nullopt;
    return std::ranges::any_of(pass.inputs, takes) ? 0.0 : 1.0;
}

bool TensorSpec::admits(double value, const Problem& problem) const {
    const ValueDomain values = domain_at(problem);
    if (is_floating(dtype) && !std::isfinite(value)) return may_be_nan;
    if (is_floating(dtype)) return values.lowest < value && value < values.highest;
    return value == std::round(value) && values.lowest <= value && value <= values.highest;
}

double TensorSpec::simplest_value(const Problem& problem) const {
    const ValueDomain values = domain_at(problem);
    if (!is_floating(dtype)) return std::clamp(0.0, values.lowest, values.highest);
    for (const double simple : {0.0, 1.0, -1.0, 0.5})
        if (admits(simple, problem)) return simple;
    if (std::isinf(values.highest)) return values.lowest + 1.0;
    return std::isinf(values.lowest) ? values.highest - 1.0
                                     : (values.lowest + values.highest) / 2.0;
}

Array<double> TensorSpec::simplest(const Problem& problem) const {
    if (arrangement == Arrangement::free) return filled(sizes(problem), simplest_value(problem));
    auto array = filled(sizes(problem), std::numeric_limits<double>::quiet_NaN());
    complete(array, arrangement, domain_at(problem));
    return array;
}

const TensorSpec* Operator::find_tensor(std::string_view tensor) const {
    // "dy" has the sizes of y.
    for (const auto& meant : {tensor, tensor.starts_with('d') ? tensor.substr(1) : tensor})
        for (const auto* group : {&inputs, &outputs})
            if (const TensorSpec* found = find_named(*group, meant)) return found;
    return nullptr;
}

const TensorSpec& Operator::tensor_named(std::string_view tensor) const {
    if (const TensorSpec* found = find_tensor(tensor)) return *found;
    refuse("operator {} has no tensor {}", name, tensor);
}

std::vector<std::string> Operator::differentiable_outputs() const {
    std::vector<std::string> names;
    for (const TensorSpec& tensor : outputs)
        if (tensor.differentiable) names.push_back(tensor.name);
    return names;
}

std::optional<std::string> Operator::validate(const Problem& problem) const {
    if (const Constraint* violated = first_violated(constraints, problem))
        return name + " needs " + violated->print();
    if (why_invalid)
        if (auto why = why_invalid(problem)) return why;
    for (const auto& group : {std::span(inputs), std::span(outputs)})
        for (const TensorSpec& tensor : group) {
            const Sizes sizes = tensor.sizes(problem);
            if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 0; }))
                return fmt::format(
                    "{} has no such problem: its tensor {} ({}) has a negative size; let the shape "
                    "function give 0 there, or exclude the problem with valid_if()",
                    name, tensor.name, fmt::join(sizes, " x "));
            const std::int64_t elements = element_count(sizes);
            if (elements > elements_maximum)
                return fmt::format("{} needs tensors of at most {} elements; {} has more", name,
                                   elements_maximum, tensor.name);
            const ValueDomain values = tensor.domain_at(problem);
            if (elements > 0 && tensor.holds_whole_numbers() && values.lowest > values.highest)
                return fmt::format("{} needs a value for each element of {}; its range is empty",
                                   name, tensor.name);
        }
    return std::nullopt;
}

bool Operator::is_empty(const Problem& problem) const {
    const auto empty = [&](const TensorSpec& tensor) {
        return element_count(tensor.sizes(problem)) == 0;
    };
    return std::ranges::any_of(inputs, empty) || std::ranges::any_of(outputs, empty);
}

bool Operator::is_linear_in(std::string_view input) const {
    std::ptrdiff_t most = 0;
    for (const auto& product : products) most = std::max(most, std::ranges::count(product, input));
    return most == 1;
}

template <class T>
static std::vector<Array<T>> run(const Reference<T>& reference, const Operator& op,
                                 const PassSpec& pass, const Problem& problem, Inputs<T> taken) {
    std::vector<Array<T>> outputs;
    for (const std::string& name : pass.outputs)
        outputs.push_back(filled<T>(op.sizes_of(name, problem)));
    reference(problem, taken, outputs);
    return outputs;
}

std::vector<Array<double>> reference_outputs(const Operator& op, const PassSpec& pass,
                                             const Problem& problem, Inputs<double> taken) {
    return run(pass.reference, op, pass, problem, taken);
}

std::vector<Array<Bounded>> bounded_outputs(const Operator& op, const PassSpec& pass,
                                            const Problem& problem, Inputs<double> taken,
                                            Formula formula) {
    const bool by_any = formula == Formula::any && pass.any_formula_reference;
    auto inputs = as_bounded(taken);
    const Rounding& rounding = current_rounding;
    if (rounding.loss_of_inputs > 0.0 || rounding.loss_of_saved > 0.0)
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const std::string& name = pass.taken_by_reference()[i];
            const TensorSpec* spec = op.find_tensor(name);
            const double of_input = !spec || spec->differentiable ? rounding.loss_of_inputs : 0.0;
            const double loss =
                std::max(of_input, op.is_output(name) ? rounding.loss_of_saved : 0.0);
            for (Bounded& element : inputs[i].data)
                element = element.off_by(loss * std::abs(element.value()));
        }
    return run<Bounded>(by_any ? pass.any_formula_reference : pass.bounded_reference, op, pass,
                        problem, inputs);
}

std::vector<Array<Bounded>> as_bounded(Inputs<double> exact) {
    std::vector<Array<Bounded>> bounded;
    for (const Array<double>& array : exact)
        bounded.push_back({array.sizes, {array.data.begin(), array.data.end()}});
    return bounded;
}

}  // namespace gradverify
