// SPDX-License-Identifier: Apache-2.0
// Runs the reference of a pass for a test, on given numbers or on random ones.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/registry/registry.hpp"

namespace gradverify::testing {

using Numbers = std::vector<double>;
using Named = std::vector<std::pair<std::string, Numbers>>;

inline const Operator& operator_of(const std::string& name) {
    return *Registry::instance().find_operator(name);
}

inline Problem valid_problem(const Operator& op, const std::string& text) {
    Problem problem = Problem::parse(op.space, text);
    REQUIRE_FALSE(op.validate(problem));
    return problem;
}

/// Empty for a valid problem.
inline std::string why_invalid(const Operator& op, const std::string& text) {
    return op.validate(Problem::parse(op.space, text)).value_or("");
}

inline std::size_t count_of(const Operator& op, const std::string& tensor, const Problem& problem) {
    return static_cast<std::size_t>(element_count(op.sizes_of(tensor, problem)));
}

/// Integers from -9 to 9, others for each tensor.
inline Numbers random_numbers(const Operator& op, const std::string& tensor,
                              const Problem& problem) {
    SplitMix64 random(mix_seed(11, tensor));
    Numbers numbers(count_of(op, tensor, problem));
    for (double& number : numbers) number = static_cast<double>(random.between(-9, 9));
    return numbers;
}

inline Named random_tensors(const Operator& op, const Problem& problem,
                            std::initializer_list<const char*> tensors) {
    Named all;
    for (const char* name : tensors) all.emplace_back(name, random_numbers(op, name, problem));
    return all;
}

/// Runs a pass on named values; tensors that are not named are zero.
inline std::vector<Numbers> run(const Operator& op, const PassSpec& pass, const Problem& problem,
                                const Named& named) {
    std::vector<Array<double>> taken;
    for (const std::string& name : pass.taken_by_reference()) {
        taken.push_back(filled<double>(op.sizes_of(name, problem)));
        for (const auto& [given, numbers] : named)
            if (given == name) {
                REQUIRE(numbers.size() == taken.back().data.size());
                taken.back().data = numbers;
            }
    }
    std::vector<Numbers> numbers;
    for (auto& result : reference_outputs(op, pass, problem, taken))
        numbers.push_back(std::move(result.data));
    return numbers;
}

inline std::vector<Numbers> run(const std::string& op_name, const std::string& pass_name,
                                const std::string& problem, const Named& named) {
    const Operator& op = operator_of(op_name);
    return run(op, *op.find_pass(pass_name), valid_problem(op, problem), named);
}

inline void check_near(const Numbers& got, const Numbers& want) {
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-12));
}

}  // namespace gradverify::testing
