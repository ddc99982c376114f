// SPDX-License-Identifier: Apache-2.0
#include "harness/operator.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

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

// The reference computes in double: such a tensor takes 512 GiB. Below it no number of bytes, nor
// of elements of all tensors together, overflows.
constexpr std::int64_t elements_maximum = std::int64_t{1} << 36;

const TensorSpec* find_tensor(std::span<const TensorSpec> tensors, std::string_view name) {
    const auto found = std::ranges::find(tensors, name, &TensorSpec::name);
    return found == tensors.end() ? nullptr : &*found;
}

}  // namespace

const PassSpec* Operator::find_pass(std::string_view pass_name) const {
    const auto found = std::ranges::find(passes, pass_name, &PassSpec::name);
    return found == passes.end() ? nullptr : &*found;
}

Sizes Operator::sizes_of(std::string_view tensor, const Problem& problem) const {
    for (const std::span<const TensorSpec> group : {std::span(inputs), std::span(outputs)}) {
        if (const TensorSpec* found = find_tensor(group, tensor)) return found->sizes(problem);
        // "dy" has the sizes of y, and "dw" those of w.
        if (tensor.starts_with('d'))
            if (const TensorSpec* found = find_tensor(group, tensor.substr(1)))
                return found->sizes(problem);
    }
    throw std::invalid_argument("operator " + name + " has no tensor " + std::string(tensor));
}

std::optional<std::string> Operator::validate(const Problem& problem) const {
    if (const Constraint* violated = first_violated(constraints, problem))
        return name + " needs " + violated->print();
    if (why_invalid)
        if (auto why = why_invalid(problem)) return why;
    for (const auto& group : {std::span(inputs), std::span(outputs)})
        for (const TensorSpec& tensor : group)
            if (element_count(tensor.sizes(problem)) > elements_maximum)
                return name + " needs tensors of at most " + std::to_string(elements_maximum) +
                       " elements; " + tensor.name + " has more";
    return std::nullopt;
}

bool Operator::is_empty(const Problem& problem) const {
    const auto empty = [&](const TensorSpec& tensor) {
        return element_count(tensor.sizes(problem)) == 0;
    };
    return std::ranges::any_of(inputs, empty) || std::ranges::any_of(outputs, empty);
}

bool Operator::is_linear_in(std::string_view input) const {
    return std::ranges::any_of(
               products,
               [&](const auto& product) { return std::ranges::count(product, input) == 1; }) &&
           std::ranges::none_of(products, [&](const auto& product) {
               return std::ranges::count(product, input) > 1;
           });
}

}  // namespace gradverify
