// SPDX-License-Identifier: Apache-2.0
#include "harness/run/refusals.hpp"

#include <algorithm>

#include "harness/base/text.hpp"

namespace gradverify {

namespace {

/// How many of a problem's parameters, by name, an operator has.
std::ptrdiff_t count_known(const ParameterSpace& space, const std::string& problem) {
    return std::ranges::count_if(split(problem, ','), [&](std::string_view setting) {
        const auto name = setting.substr(0, setting.find('='));
        return std::ranges::any_of(space.parameters(),
                                   [&](const ParameterSpec& spec) { return spec.name == name; });
    });
}

}  // namespace

void Refusals::add(const Operator& op, bool readable, const std::string& why) {
    const auto known = count_known(op.space, problem_);
    if (known <= known_) return;
    known_ = known;
    why_ = (readable ? "no selected kernel supports it: " : "") + why;
}

}  // namespace gradverify
