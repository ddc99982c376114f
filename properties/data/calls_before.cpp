// SPDX-License-Identifier: Apache-2.0
#include "properties/data/calls_before.hpp"

#include "properties/problems/enumerate.hpp"
#include "properties/problems/solver.hpp"

namespace gradverify {

namespace {

// Some differ from any problem in whatever a kernel may keep: the number of pixels, of channels, a
// stride.
constexpr std::size_t smallest_problems = 12;

}  // namespace

std::vector<Case> with_calls_before(const Kernel& kernel, const Case& checked) {
    std::vector<Problem> problems;
    if (checked.setting.copies) return {};
    const SupportedProblems supported(*kernel.op, *kernel.pass, kernel.any());
    ProblemEnumerator enumerator(supported);
    while (problems.size() < smallest_problems)
        if (const auto problem = enumerator.next())
            problems.push_back(*problem);
        else
            break;
    problems.push_back(checked.problem);
    if (checked.setting.before) problems.push_back(*checked.setting.before);
    std::vector<Case> cases;
    for (const Problem& problem : problems) {
        cases.push_back(checked);
        cases.back().setting.before = problem;
    }
    return cases;
}

}  // namespace gradverify
