// SPDX-License-Identifier: Apache-2.0
// A small operator and launchers that run on the host, for tests of one property: each has kernels
// in a registry of its own, which are right but for what it adds.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "harness/declare_operator.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/testing/operator.hpp"
#include "properties/suite/suite.hpp"

namespace gradverify::testing {

/// y[i] = the sum of x[i][j] w[j]. The pass `with_y` gives dx, and y again.
inline OperatorDeclaration dot_product() {
    return declare_operator("dot")
        .parameter("n")
        .parameter("c")
        .input("x", {"n", "c"})
        .input("w", {"c"})
        .output("y", {"n"})
        .sum_of_products({{"x", "w"}})
        .separable_along("n")
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), w = call.input("w");
            for (std::int64_t i = 0; i < x.size(0); ++i)
                for (std::int64_t j = 0; j < x.size(1); ++j) call.output("y")(i) += x(i, j) * w(j);
        })
        .gradient("backward", {"dy", "x", "w"}, {"dx", "dw"})
        .gradient("with_y", {"dy", "x", "w"}, {"dx", "y"}, []<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), w = call.input("w");
            for (std::int64_t i = 0; i < x.size(0); ++i)
                for (std::int64_t j = 0; j < x.size(1); ++j) {
                    call.output("dx")(i, j) = call.input("dy")(i) * w(j);
                    call.output("y")(i) += x(i, j) * w(j);
                }
        });
}

/// A tensor of a call by name, whatever its type.
struct Elements {
    TensorView view;

    Elements(const PassCall& call, std::string_view name)
        : view(call.tensors[static_cast<std::size_t>(std::ranges::find(call.names, name) -
                                                     call.names.begin())]) {}
    double operator[](std::int64_t i) const {
        return number_of(view.dtype, load_bits(view.data, i, bytes()));
    }
    void set(std::int64_t i, double value) const {
        store_bits(view.data, i, bytes(), bits_of(view.dtype, value));
    }
    void add(std::int64_t i, double value) const { set(i, (*this)[i] + value); }

  private:
    int bytes() const { return static_cast<int>(traits_of(view.dtype).bytes); }
};

/// Writes, or adds to, the outputs of any of the passes that are asked for.
template <bool adds = false>
void run_dot_product(const PassCall& call) {
    const std::int64_t n = call.problem.scalar("n"), c = call.problem.scalar("c");
    const auto input = [&](std::string_view name) { return Elements(call, name); };
    const std::size_t inputs = call.names.size() - call.outputs;
    for (std::size_t which = 0; which < call.outputs; ++which) {
        if ((call.launch.output_mask >> which & 1) == 0) continue;
        const std::string& name = call.names[inputs + which];
        const Elements output(call, name);
        for (std::int64_t at = 0; at < output.view.elements(); ++at) {
            double sum = adds ? output[at] : 0.0;
            if (name == "dx") sum += input("dy")[at / c] * input("w")[at % c];
            for (std::int64_t i = 0; i < n && name == "dw"; ++i)
                sum += input("dy")[i] * input("x")[i * c + at];
            for (std::int64_t j = 0; j < c && name == "y"; ++j)
                sum += input("x")[at * c + j] * input("w")[j];
            output.set(at, sum);
        }
    }
}

/// `pass/variant`, as if registered.
inline KernelDeclaration host_kernel(const std::string& name,
                                     KernelDeclaration::Thunk thunk = run_dot_product<>) {
    KernelDeclaration kernel = toy_kernel(name.substr(name.find('/') + 1));
    kernel.operator_name = "dot";
    kernel.pass_name = name.substr(0, name.find('/'));
    kernel.thunk = thunk;
    return kernel;
}

/// A case of the first kernel among these; rest: its problem and data, as printed cases have them.
inline Outcome run_among(const std::vector<KernelDeclaration>& kernels, const std::string& property,
                         const std::string& rest, const Operator& op = dot_product()) {
    const Registry registry = registry_of(kernels, op);
    return KernelSuite(registry).run("v1:" + kernels.front().full_name() + ":" + property +
                                     ":cpu:" + rest);
}

}  // namespace gradverify::testing
