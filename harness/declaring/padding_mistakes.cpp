// SPDX-License-Identifier: Apache-2.0
#include "harness/declaring/padding_mistakes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradverify {

namespace {

using Arrays = std::vector<Array<double>>;

bool is_padded(const TensorSpec& tensor) { return !tensor.lengths.tensor.empty(); }

bool are_alike(const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(
        a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

Arrays outputs_on(const Operator& op,
                  const std::function<void(const ForwardCall<double>&)>& forward,
                  const Problem& problem, const Arrays& inputs) {
    Arrays outputs;
    for (const TensorSpec& tensor : op.outputs)
        outputs.push_back(filled<double>(tensor.sizes(problem)));
    forward(ForwardCall<double>(op, problem, inputs, outputs));
    return outputs;
}

}  // namespace

std::string mistake_in_lengths(const Operator& op, const std::string& tensor,
                               const Lengths& lengths) {
    const TensorSpec* const of = op.find_tensor(tensor);
    const TensorSpec* const used = find_named(op.inputs, lengths.tensor);
    if (!of || of->name != tensor || !used || !used->holds_whole_numbers() || !used->domain)
        return fmt::format(
            "padded(\"{}\", \"{}\") needs a tensor, and an input of whole numbers such as "
            "lengths_up_to(\"PARAMETER\")",
            tensor, lengths.tensor);
    const Problem usual(op.space, op.space.rank_max());
    if (can_be_padded(of->sizes(usual), used->sizes(usual), lengths.axis)) return {};
    return fmt::format(
        "padded(\"{0}\", \"{1}\", {2}) needs an axis {2} of {0}, and lengths for the first of its "
        "other axes",
        tensor, lengths.tensor, lengths.axis);
}

std::string mistake_with_padding(const Operator& op,
                                 const std::function<void(const ForwardCall<double>&)>& forward,
                                 const Problem& problem, const Arrays& inputs) {
    const Arrays outputs = outputs_on(op, forward, problem, inputs);
    if (std::ranges::none_of(op.inputs, is_padded) && std::ranges::none_of(op.outputs, is_padded))
        return {};
    const auto padding_in = [&](const TensorSpec& tensor) {
        const auto lengths = detail::position_of(tensor.lengths.tensor, op.inputs, "input");
        return padding_of(tensor.sizes(problem), inputs[lengths], tensor.lengths.axis);
    };
    Arrays others = inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!is_padded(op.inputs[i]) || op.inputs[i].holds_whole_numbers()) continue;
        const std::vector<bool> padding = padding_in(op.inputs[i]);
        for (std::size_t j = 0; j < padding.size(); ++j)
            if (padding[j]) others[i].data[j] += 8.0;
    }
    const Arrays results = outputs_on(op, forward, problem, others);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!are_alike(results[i].data, outputs[i].data))
            return "the forward function reads an input behind the rows that are used, so that " +
                   op.outputs[i].name + " depends on its padding";
        if (!is_padded(op.outputs[i])) continue;
        const std::vector<bool> padding = padding_in(op.outputs[i]);
        for (std::size_t j = 0; j < padding.size(); ++j)
            if (padding[j] && outputs[i].data[j] != 0.0)
                return "the forward function must leave zeros in " + op.outputs[i].name +
                       " behind the rows that are used; kernels may declare leaves_padding() or "
                       "any_padding()";
    }
    return {};
}

}  // namespace gradverify
