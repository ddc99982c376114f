// SPDX-License-Identifier: Apache-2.0
// For tests of what every property starts from: a small operator, kernels of it that are plain
// functions on the host, in a registry of the test's own, and cases of them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/declare_operator.hpp"
#include "harness/testing/operator.hpp"

namespace gradverify::testing {

/// y = x * w[index] + b, no number where the index is not valid; x is saved.
inline OperatorDeclaration scaled() {
    return declare_operator("scaled")
        .parameter("n", {.minimum = 0})
        .parameter("rows")
        .input("index", {"n"}, indices_below("rows").or_invalid())
        .input("x", {"n"})
        .input("w", {"rows"})
        .input("b", {"n"})
        .output("y", {"n"})
        .saved("kept", {"n"})
        .sum_of_products({{"x", "w"}, {"b"}})
        .reduction_length([](const Problem& problem) { return problem.scalar("n"); })
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto index = call.indices("index");
            const auto x = call.input("x"), w = call.input("w"), b = call.input("b");
            for (std::int64_t i = 0; i < x.size(0); ++i) {
                const bool is_valid = index(i) >= 0 && index(i) < w.size(0);
                call.output("y")(i) = is_valid ? x(i) * w(index(i)) + b(i) : not_a_number<T>();
                call.output("kept")(i) = x(i);
            }
        });
}

/// A kernel of an operator's forward pass on the CPU device, whose launcher runs on the host.
inline KernelDeclaration host_kernel(const std::string& variant,
                                     KernelDeclaration::Thunk thunk = nullptr,
                                     const std::string& op = "scaled") {
    KernelDeclaration kernel = toy_kernel(variant);
    kernel.operator_name = op;
    kernel.thunk = thunk;
    return kernel;
}

/// A launcher that does what `scaled` is, to elements of f32.
inline void launch_scaled(const PassCall& call) {
    const auto* const index = call.tensors[0].as<const std::int32_t>();
    const auto* const x = call.tensors[1].as<const float>();
    const auto* const w = call.tensors[2].as<const float>();
    const auto* const b = call.tensors[3].as<const float>();
    for (std::int64_t i = 0; i < call.problem.scalar("n"); ++i) {
        call.tensors[4].as<float>()[i] = x[i] * w[index[i]] + b[i];
        call.tensors[5].as<float>()[i] = x[i];
    }
}

/// `scaled.forward/KERNEL` with a problem and data, as in `n=2:seed=1`.
inline Case case_of(const Registry& registry, const std::string& kernel, const std::string& rest) {
    const std::string name =
        kernel.find('.') == std::string::npos ? "scaled.forward/" + kernel : kernel;
    return Case::parse("v1:" + name + ":matches_reference:cpu:" + rest, registry);
}

}  // namespace gradverify::testing
