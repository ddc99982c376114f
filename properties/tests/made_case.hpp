// SPDX-License-Identifier: Apache-2.0
// Cases of kernels in registries of a test's own, and what a property says of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "properties/properties.hpp"
#include "properties/suite/kernel_suite.hpp"
#include "properties/tests/small_operators.hpp"

extern "C" void gradverify_simt_begin_device_work();
extern "C" void gradverify_simt_end_device_work();

namespace gradverify::testing {

/// A case of a kernel by its full name; rest: its problem and data, as printed cases have them.
inline Case case_of(const Registry& registry, const std::string& kernel, const std::string& rest) {
    return Case::parse("v1:" + kernel + ":matches_reference:cpu:" + rest, registry);
}

namespace detail {
struct HeldCase {
    Case held;
};
struct HeldRegistry {
    Registry held;
};
}  // namespace detail

/// A case of one of a test's kernels.
struct Scene : private detail::HeldCase, CaseContext {
    Scene(const Registry& registry, const std::string& kernel, const std::string& rest,
          ValueKind kind = ValueKind::integers)
        : HeldCase{case_of(registry, kernel, rest)}, CaseContext(held, registry, kind) {}

    /// What the pass of the case's kernel takes.
    std::vector<Array<double>> given() { return inputs.of(pass()); }
};

/// A registry of some operators, and of a kernel of a pass of the first, declared as a test asks.
inline Registry made_registry(const std::vector<Operator>& operators, const std::string& pass,
                              KernelDeclaration kernel) {
    Registry registry;
    kernel.operator_name = operators.front().name;
    kernel.pass_name = pass;
    kernel.variant = "made";
    kernel.device = "cpu";
    for (const Operator& op : operators) registry.add(Operator(op));
    registry.add(std::move(kernel));
    registry.check();
    return registry;
}

/// A case of the kernel of such a registry.
struct MadeCase : private detail::HeldRegistry, Scene {
    MadeCase(const std::vector<Operator>& operators, const std::string& pass,
             KernelDeclaration kernel, const std::string& rest,
             ValueKind kind = ValueKind::mantissas)
        : HeldRegistry{made_registry(operators, pass, std::move(kernel))},
          Scene(HeldRegistry::held, HeldRegistry::held.kernels().front().name, rest, kind) {}
};

/// A case of the first kernel among these, by its property.
inline Outcome run_among(const std::vector<KernelDeclaration>& kernels, const std::string& property,
                         const std::string& rest, const Operator& op = dot_product()) {
    const Registry registry = registry_of(kernels, op);
    return KernelSuite(registry).run("v1:" + kernels.front().full_name() + ":" + property +
                                     ":cpu:" + rest);
}

// ---- kernels that are functions of their tests

/// One element of the output, and what the kernel may see of its memory.
struct ScriptedElement {
    int call;  ///< 0 at the first call
    std::int64_t index;
    std::vector<double> inputs;  ///< the same element of each
    double old;                  ///< what the output holds
    double behind;               ///< what lies behind the last element of the first input

    double product() const { return inputs[0] * inputs[1]; }
};
/// What the kernel writes; nothing leaves the element as it is.
using Script = std::function<std::optional<double>(const ScriptedElement&)>;

inline Script current_script;
inline int calls_of_script = 0;

/// All tensors of the pass have as many elements. No launch makes it the device's work.
inline void run_script(const PassCall& call) {
    gradverify_simt_begin_device_work();
    const Elements output(call.tensors.back());
    const std::int64_t elements = output.view.elements();
    for (std::int64_t i = 0; i < elements; ++i) {
        std::vector<double> inputs;
        for (const TensorView& input : call.tensors.first(call.tensors.size() - 1))
            inputs.push_back(Elements(input)[i]);
        const auto written = current_script({calls_of_script, i, std::move(inputs), output[i],
                                             Elements(call.tensors.front())[elements]});
        if (written) output.set(i, *written);
    }
    ++calls_of_script;
    gradverify_simt_end_device_work();
}

/// What a property says of a script, on a case of a kernel that is declared so.
inline Outcome outcome_of(Outcome (*property)(CaseContext&), const Operator& op,
                          KernelDeclaration kernel, Script script, const std::string& rest,
                          const std::string& pass = "forward") {
    current_script = std::move(script);
    calls_of_script = 0;
    kernel.thunk = run_script;
    MadeCase made({op}, pass, std::move(kernel), rest);
    return property(made);
}

}  // namespace gradverify::testing
