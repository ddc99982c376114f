// SPDX-License-Identifier: Apache-2.0
// What the tests of declared operators share: the mistake that a declaration has, the results of a
// pass.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

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

}  // namespace gradverify::testing
