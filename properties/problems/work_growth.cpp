// SPDX-License-Identifier: Apache-2.0
#include "properties/problems/work_growth.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>

#include "harness/base/random.hpp"
#include "harness/operators/forward_call.hpp"

namespace gradverify {
namespace {

/// Sizes beside the one that grows, and that one before and after.
constexpr std::int64_t beside = 3, from = 16, to = 32;
/// No formula is run on a larger tensor.
constexpr double most_elements = 0x1p20;

/// Numbers that are all different, and none is 0.
Array<double> numbers(const Sizes& sizes, SplitMix64& random) {
    Array<double> result = filled<double>(sizes);
    for (double& value : result.data)
        value = 0.5 + static_cast<double>(random.between(0, 1 << 20)) * 0x1p-21;
    return result;
}

/// The work of the pass's formula, if it takes such data.
std::optional<double> work_of(const Operator& op, const PassSpec& pass, const Problem& problem) {
    SplitMix64 random(1);
    std::vector<Array<double>> taken;
    for (const std::string& name : pass.taken_by_reference()) {
        const TensorSpec* tensor = op.find_tensor(name);
        const bool is_simple = tensor && (tensor->holds_whole_numbers() || tensor->domain);
        taken.push_back(is_simple ? tensor->simplest(problem)
                                  : numbers(op.sizes_of(name, problem), random));
        if (static_cast<double>(taken.back().data.size()) > most_elements) return std::nullopt;
    }
    const std::int64_t before = detail::work_seen;
    try {
        if (pass.any_formula_reference)
            bounded_outputs(op, pass, problem, taken, Formula::any);
        else
            reference_outputs(op, pass, problem, taken);
    } catch (const std::exception&) {
        return std::nullopt;
    }
    return static_cast<double>(detail::work_seen - before);
}

}  // namespace

WorkGrowth::WorkGrowth(const SupportedProblems& problems, const RankDomain& domain) {
    const auto work = [&](const Problem& problem) {
        double most = 0.0;
        for (const PassSpec* pass : {&problems.pass(), &problems.op().forward()})
            most = std::max(most, work_of(problems.op(), *pass, problem).value_or(0.0));
        return most;
    };
    /// The class at a size, and the others small.
    const auto with = [&](int which, std::int64_t size) -> std::optional<Problem> {
        Assignment values(domain);
        for (const int other : domain.draw_order)
            if (!values.set_nearest(other, other == which ? size : beside)) return std::nullopt;
        return values.problem(problems.op().space);
    };
    std::vector<std::pair<Problem, double>> tried;
    for (const int which : domain.draw_order) {
        const int slot = domain.at(which).slots.front();
        const auto small = with(which, from), large = with(which, to);
        if (!small || !large || !((*large)[slot] > (*small)[slot])) continue;
        const double before = work(*small), after = work(*large);
        if (before == 0.0 || after == 0.0) continue;
        const double growth = static_cast<double>((*large)[slot]) /
                              static_cast<double>(std::max<std::int64_t>((*small)[slot], 1));
        powers_.push_back({slot, std::max(std::log(after / before) / std::log(growth), 0.0)});
        tried.emplace_back(*large, after);
    }
    factor_ = 1.0;
    double factor = 0.0;
    for (const auto& [problem, count] : tried) factor = std::max(factor, count / (*this)(problem));
    factor_ = factor;
}

double WorkGrowth::operator()(const Problem& problem) const {
    double product = factor_;
    for (const auto& [slot, exponent] : powers_)
        product *=
            std::pow(static_cast<double>(std::max<std::int64_t>(problem[slot], 1)), exponent);
    return product;
}

}  // namespace gradverify
