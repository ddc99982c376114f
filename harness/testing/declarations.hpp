// SPDX-License-Identifier: Apache-2.0
// What the tests of declared operators share: a small one, its mistake, results of a pass.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "harness/declare_operator.hpp"
#include "harness/operators/operator.hpp"

namespace gradverify::testing {

/// The one mistake of a declaration.
inline std::string mistake_of(const Operator& op) {
    REQUIRE(op.mistakes.size() == 1);
    CHECK(op.passes.empty());
    return op.mistakes.front();
}

/// What a pass makes of these inputs.
inline std::vector<Array<double>> run(const PassSpec& pass, const Operator& op,
                                      const Problem& problem,
                                      const std::vector<Array<double>>& inputs) {
    std::vector<Array<double>> outputs;
    for (const std::string& name : pass.outputs) {
        outputs.push_back({op.sizes_of(name, problem), {}});
        outputs.back().data.resize(static_cast<std::size_t>(element_count(outputs.back().sizes)));
    }
    pass.reference(problem, inputs, outputs);
    return outputs;
}

/// y = f(x), element by element.
template <class Function>
OperatorDeclaration elementwise(Function function) {
    return declare_operator("o")
        .parameter("n")
        .input("x", {"n"})
        .output("y", {"n"})
        .forward([function]<class T>(const ForwardCall<T>& call) {
            const auto x = call.input("x");
            for (std::int64_t i = 0; i < x.size(0); ++i) call.output("y")(i) = function(x(i));
        });
}

}  // namespace gradverify::testing
