// SPDX-License-Identifier: Apache-2.0
// An operator and kernels for tests that run none, in registries of their own; words for results.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/registry/registry.hpp"

namespace gradverify::testing {

inline ParameterSpec padding_parameter() {
    return {.name = "padding",
            .kind = ParameterKind::per_axis_pair,
            .default_value = 0,
            .minimum = 0,
            .is_padding = true};
}

/// `toy`: n vectors or images, of one or two axes, times a weight.
inline Operator toy_operator(std::string name = "toy") {
    const auto sizes = [](const Problem& problem) {
        Sizes all{problem.scalar("n")};
        for (int axis = 0; axis < problem.rank(); ++axis)
            all.push_back(problem.on_axis("in", axis));
        return all;
    };
    const auto work = [=](const Problem& problem) {
        return static_cast<double>(element_count(sizes(problem)));
    };
    return {
        .name = std::move(name),
        .space =
            ParameterSpace({{.name = "n", .minimum = 0},
                            {.name = "in", .kind = ParameterKind::per_axis, .carries_rank = true}},
                           1, 2),
        .inputs = {{.name = "x", .sizes = sizes},
                   {.name = "w", .sizes = [](const Problem&) { return Sizes{1}; }}},
        .outputs = {{.name = "y", .sizes = sizes}},
        .passes = {
            {.name = "forward", .inputs = {"x", "w"}, .outputs = {"y"}, .multiply_adds = work},
            {.name = "grad_x", .inputs = {"dy", "w"}, .outputs = {"dx"}, .multiply_adds = work}}};
}

/// A kernel of `toy`'s forward pass, as if registered at `kernels/<variant>.cu:7`.
inline KernelDeclaration toy_kernel(const std::string& variant, const std::string& device = "cpu") {
    return {.operator_name = "toy",
            .pass_name = "forward",
            .variant = variant,
            .device = device,
            .file = "kernels/" + variant + ".cu",
            .line = 7};
}

/// A checked registry of an operator and these kernels.
inline Registry registry_of(const std::vector<KernelDeclaration>& kernels,
                            Operator op = toy_operator()) {
    Registry registry;
    registry.add(std::move(op));
    for (const KernelDeclaration& kernel : kernels) registry.add(kernel);
    registry.check();
    return registry;
}

inline Constraint where(std::string parameter, Condition condition) {
    condition.parameter = std::move(parameter);
    return condition;
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// `failed: differs`, of a row's result or a case's outcome.
inline std::string said(const auto& result) {
    return std::string(name_of(result.verdict)) + ": " + result.message;
}

/// What the call throws as std::invalid_argument; empty when it does not.
template <class Call>
std::string refusal(Call call) {
    try {
        call();
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
    return {};
}

/// What the registry says of these kernels of an operator.
inline std::string complaint_of(const std::vector<KernelDeclaration>& kernels,
                                Operator op = toy_operator()) {
    return refusal([&] { registry_of(kernels, std::move(op)); });
}

}  // namespace gradverify::testing
