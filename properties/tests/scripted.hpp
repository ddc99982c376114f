// SPDX-License-Identifier: Apache-2.0
// A kernel that is a function of its test, on the cpu device, and what a property says of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "harness/declare_operator.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/testing/operator.hpp"
#include "properties/properties.hpp"

namespace gradverify::testing {

/// One element of the output, and what the kernel may see of its memory.
struct ScriptedElement {
    int call;  ///< 0 at the first call
    std::int64_t index;
    std::vector<double> inputs;  ///< the same element of each
    double old;                  ///< what the output holds
    double behind;               ///< what lies behind the last element of the first input
};
/// What the kernel writes; nothing leaves the element as it is.
using Script = std::function<std::optional<double>(const ScriptedElement&)>;

inline Script current_script;
inline int calls_of_script = 0;

/// All tensors of the pass have as many elements.
inline void run_script(const PassCall& call) {
    const auto bytes_of = [](const TensorView& view) {
        return static_cast<int>(traits_of(view.dtype).bytes);
    };
    const auto read = [&](const TensorView& view, std::int64_t i) {
        return number_of(view.dtype, load_bits(view.data, i, bytes_of(view)));
    };
    const TensorView& output = call.tensors.back();
    const std::int64_t elements = output.elements();
    for (std::int64_t i = 0; i < elements; ++i) {
        std::vector<double> inputs;
        for (const TensorView& input : call.tensors.first(call.tensors.size() - 1))
            inputs.push_back(read(input, i));
        const auto written = current_script({calls_of_script, i, std::move(inputs), read(output, i),
                                             read(call.tensors.front(), elements)});
        if (written) store_bits(output.data, i, bytes_of(output), bits_of(output.dtype, *written));
    }
    ++calls_of_script;
}

/// A kernel of the first pass that runs the script, or of the one that is named.
inline KernelDeclaration scripted(const Operator& op, const std::string& pass = "forward") {
    KernelDeclaration kernel = toy_kernel("scripted");
    kernel.operator_name = op.name;
    kernel.pass_name = pass;
    kernel.thunk = run_script;
    return kernel;
}

/// What a property says of a script, on a problem n of such a kernel.
inline Outcome outcome_of(Outcome (*property)(CaseContext&), const Operator& op,
                          const KernelDeclaration& kernel, Script script, Data data,
                          const std::string& problem = "n=3",
                          ValueKind kind = ValueKind::mantissas) {
    current_script = std::move(script);
    calls_of_script = 0;
    const Registry registry = registry_of({kernel}, op);
    const Case checked{.kernel = kernel.full_name(),
                       .property = "scripted",
                       .device = "cpu",
                       .problem = Problem::parse(op.space, problem),
                       .data = std::move(data),
                       .setting = {}};
    CaseContext context(checked, registry, kind);
    return property(context);
}

/// y = a b; products of integers are exact where it is declared to be a sum of products.
inline Operator product(bool is_exact) {
    OperatorDeclaration declared = declare_operator("product")
                                       .parameter("n")
                                       .input("a", {"n"})
                                       .input("b", {"n"})
                                       .output("y", {"n"})
                                       .forward([]<class T>(const ForwardCall<T>& call) {
                                           const auto a = call.input("a"), b = call.input("b");
                                           for (std::int64_t i = 0; i < a.size(0); ++i)
                                               call.output("y")(i) += a(i) * b(i);
                                       });
    if (is_exact) declared.sum_of_products({{"a", "b"}});
    return declared;
}

inline double product_of(const ScriptedElement& element) {
    return element.inputs[0] * element.inputs[1];
}

}  // namespace gradverify::testing
