// SPDX-License-Identifier: Apache-2.0
// Runs the reference of a pass for a test.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/registry/registry.hpp"

namespace gradverify::testing {

using Numbers = std::vector<double>;

/// A pass on named values; what its reference takes and is not named is zero.
inline std::vector<Array<double>> run(const std::string& op_name, const std::string& pass_name,
                                      const std::string& problem_text,
                                      const std::vector<std::pair<std::string, Numbers>>& named) {
    const Operator& op = *Registry::instance().find_operator(op_name);
    const PassSpec& pass = *op.find_pass(pass_name);
    const Problem problem = Problem::parse(op.space, problem_text);
    REQUIRE_FALSE(op.validate(problem));
    std::vector<Array<double>> taken, results;
    const auto array = [&](const std::string& name) {
        Array<double> zeros{op.sizes_of(name, problem), {}};
        zeros.data.resize(static_cast<std::size_t>(element_count(zeros.sizes)), 0.0);
        return zeros;
    };
    for (const std::string& name : pass.taken_by_reference()) {
        taken.push_back(array(name));
        for (const auto& [given, numbers] : named)
            if (given == name) {
                REQUIRE(numbers.size() == taken.back().data.size());
                taken.back().data = numbers;
            }
    }
    for (const std::string& name : pass.outputs) results.push_back(array(name));
    pass.reference(problem, taken, results);
    return results;
}

}  // namespace gradverify::testing
