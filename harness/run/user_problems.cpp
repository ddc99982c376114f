// SPDX-License-Identifier: Apache-2.0
#include "harness/run/user_problems.hpp"

#include <algorithm>
#include <stdexcept>

#include "harness/base/errors.hpp"
#include "harness/base/text.hpp"

namespace gradverify {

namespace {

/// The number of a problem's parameters, by name, that an operator has.
std::ptrdiff_t count_known(const ParameterSpace& space, const std::string& problem) {
    return std::ranges::count_if(split(problem, ','), [&](std::string_view setting) {
        const auto name = setting.substr(0, setting.find('='));
        return std::ranges::find(space.parameters(), name, &ParameterSpec::name) !=
               space.parameters().end();
    });
}

}  // namespace

std::vector<UserProblem> read_user_problem(const std::string& text, const std::string& place,
                                           std::span<const Operator* const> operators,
                                           const WhyNot& why_not) {
    std::vector<UserProblem> read;
    std::string told;
    std::ptrdiff_t most_known = -1;
    const auto refuse = [&](const Operator& op, const std::string& why) {
        const auto known = count_known(op.space, text);
        if (known <= most_known) return;
        most_known = known;
        told = why;
    };
    for (const Operator* op : operators) try {
            Problem problem = Problem::parse(op->space, text);
            std::optional<std::string> why = op->validate(problem);
            if (!why) why = why_not(*op, problem);
            if (why)
                refuse(*op, "no selected kernel supports it: " + *why);
            else
                read.push_back({op, std::move(problem)});
        } catch (const std::invalid_argument& wrong) {
            refuse(*op, wrong.what());
        }
    if (read.empty()) throw UsageError(place + ": " + told);
    return read;
}

}  // namespace gradverify
