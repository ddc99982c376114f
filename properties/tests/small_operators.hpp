// SPDX-License-Identifier: Apache-2.0
// Small operators made up for tests, and kernels of them that are functions on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "harness/declare_operator.hpp"
#include "harness/numbers/element_bits.hpp"
#include "harness/testing/made_operator.hpp"

namespace gradverify::testing {

/// A kernel on the CPU device whose launcher runs on the host, by its full name.
inline KernelDeclaration host_kernel(const std::string& name,
                                     KernelDeclaration::Thunk thunk = nullptr) {
    const std::size_t dot = name.find('.'), slash = name.find('/');
    KernelDeclaration kernel = toy_kernel(name.substr(slash + 1));
    kernel.operator_name = name.substr(0, dot);
    kernel.pass_name = name.substr(dot + 1, slash - dot - 1);
    kernel.thunk = thunk;
    return kernel;
}

/// A tensor of a call, whatever its type.
struct Elements {
    TensorView view;

    Elements(const TensorView& tensor) : view(tensor) {}
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

/// A reference that computes each element alone: f(in, out), where in("x") is an input's element
/// and out("y") an output's.
template <class Function>
auto by_element(Function function) {
    return [function]<class T>(const ForwardCall<T>& call) {
        for (std::int64_t i = 0; i < call.parameter("n"); ++i)
            function([&](const char* input) -> const T& { return call.input(input)(i); },
                     [&](const char* output) -> T& { return call.output(output)(i); });
    };
}

/// y = f(a, b), element by element.
template <class Function>
OperatorDeclaration of_two(const std::string& name, const char* a, const char* b, Function function,
                           const Holds& holds_a = {}, const Holds& holds_b = {}) {
    return declare_operator(name)
        .parameter("n")
        .input(a, {"n"}, holds_a)
        .input(b, {"n"}, holds_b)
        .output("y", {"n"})
        .forward(by_element(
            [=](const auto& in, const auto& out) { out("y") = function(in(a), in(b)); }));
}

/// y = a / b.
inline OperatorDeclaration quotient() { return of_two("quotient", "a", "b", std::divides<>()); }

/// y = a b; products of integers are exact where it is declared to be a sum of products.
inline OperatorDeclaration product(bool is_exact = true) {
    OperatorDeclaration declared = of_two("product", "a", "b", std::multiplies<>());
    if (is_exact) declared.sum_of_products({{"a", "b"}});
    return declared;
}

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

/// `pass/variant` of the dot product.
inline KernelDeclaration dot_kernel(const std::string& name,
                                    KernelDeclaration::Thunk thunk = run_dot_product<>) {
    return host_kernel("dot." + name, thunk);
}

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

inline void launch_scaled(const PassCall& call) {
    const Elements index(call, "index"), x(call, "x"), w(call, "w"), b(call, "b");
    for (std::int64_t i = 0; i < call.problem.scalar("n"); ++i) {
        Elements(call, "y").set(i, x[i] * w[static_cast<std::int64_t>(index[i])] + b[i]);
        Elements(call, "kept").set(i, x[i]);
    }
}

/// A variant of the forward pass of `scaled`.
inline KernelDeclaration scaled_kernel(const std::string& variant,
                                       KernelDeclaration::Thunk thunk = launch_scaled) {
    return host_kernel("scaled.forward/" + variant, thunk);
}

}  // namespace gradverify::testing
