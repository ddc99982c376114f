// SPDX-License-Identifier: Apache-2.0
// Draws of problems of the test operator's kernels, and the kinds that are too rare among them.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "properties/data/seeds.hpp"
#include "properties/problems/generator.hpp"
#include "properties/tests/test_operator.hpp"

namespace gradverify::testing {

inline ProblemGenerator generator_for(
    const KernelDeclaration& kernel,
    const ProblemGeneratorOptions& options = {.edge_problems = false},
    const Operator& op = test_operator()) {
    return ProblemGenerator(op, *op.find_pass("grad_weight"), kernel, options);
}

inline std::vector<Problem> draws(const ProblemGenerator& generator, int count) {
    std::vector<Problem> drawn;
    for (int i = 0; i < count; ++i)
        drawn.push_back(generator.draw(draw_seed({1, "kernel", "property", i}), i).value());
    return drawn;
}
inline std::vector<Problem> draws(const KernelDeclaration& kernel, int count) {
    return draws(generator_for(kernel), count);
}

using Predicate = std::function<bool(const Problem&)>;

/// The kinds that were drawn fewer than `least` times.
inline std::string too_rare(const std::vector<Problem>& problems, std::int64_t least,
                            const std::map<std::string, Predicate>& kinds) {
    std::string rare;
    for (const auto& [name, predicate] : kinds)
        if (const auto count = std::ranges::count_if(problems, predicate); count < least)
            rare += name + ": " + std::to_string(count) + "\n";
    return rare;
}

/// A kind for each value of a scalar parameter.
inline std::map<std::string, Predicate> each_value(const std::string& parameter,
                                                   const std::vector<std::int64_t>& values) {
    std::map<std::string, Predicate> kinds;
    for (const std::int64_t value : values)
        kinds[parameter + " = " + std::to_string(value)] = [=](const Problem& p) {
            return p.scalar(parameter) == value;
        };
    return kinds;
}

}  // namespace gradverify::testing
