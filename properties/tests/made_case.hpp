// SPDX-License-Identifier: Apache-2.0
// A case of a kernel that is declared as a test asks, of operators made up for it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/declare_operator.hpp"
#include "properties/checking/context.hpp"

namespace gradverify::testing {

/// y[row] = the sum of x[row, term] w[term].
inline Operator dot_operator() {
    return declare_operator("dot")
        .parameter("rows")
        .parameter("terms")
        .input("x", {"rows", "terms"})
        .input("w", {"terms"})
        .output("y", {"rows"})
        .sum_of_products({{"x", "w"}})
        .forward([]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x"), w = call.input("w");
            for (std::int64_t row = 0; row < x.size(0); ++row)
                for (std::int64_t term = 0; term < w.size(0); ++term)
                    call.output("y")(row) += x(row, term) * w(term);
        });
}

/// y = a / b, element by element.
inline Operator quotient_operator() {
    return declare_operator("quotient")
        .parameter("n")
        .input("a", {"n"})
        .input("b", {"n"})
        .output("y", {"n"})
        .forward([]<class T>(const ForwardCall<T>& call) {
            for (std::int64_t i = 0; i < call.parameter("n"); ++i)
                call.output("y")(i) = call.input("a")(i) / call.input("b")(i);
        });
}

class MadeCase {
    Registry registry_;
    Case checked_;

  public:
    /// `pass`: of the first operator; `rest`: problem and data, as printed cases have them.
    MadeCase(std::vector<Operator> operators, const std::string& pass, KernelDeclaration kernel,
             const std::string& rest, ValueKind kind = ValueKind::mantissas)
        : registry_(made_registry(std::move(operators), pass, std::move(kernel))),
          checked_(Case::parse(
              "v1:" + registry_.kernels().front().name + ":within_rounding_bound:cpu:" + rest,
              registry_)),
          context(checked_, registry_, kind) {}

    CaseContext context;

  private:
    static Registry made_registry(std::vector<Operator> operators, const std::string& pass,
                                  KernelDeclaration kernel) {
        Registry registry;
        kernel.operator_name = operators.front().name;
        kernel.pass_name = pass;
        kernel.variant = "made";
        kernel.device = "cpu";
        for (Operator& op : operators) registry.add(std::move(op));
        registry.add(std::move(kernel));
        registry.check();
        return registry;
    }
};

}  // namespace gradverify::testing
