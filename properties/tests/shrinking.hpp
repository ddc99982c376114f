// SPDX-License-Identifier: Apache-2.0
// What the tests of shrinking share: a kernel of the test operator, cases on it, and options.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "properties/shrinking/shrink_case.hpp"
#include "properties/tests/test_operator.hpp"

namespace gradverify::testing {

struct TestKernel {
    KernelDeclaration declaration;
    Kernel kernel;

    explicit TestKernel(KernelDeclaration declared, const Operator& op = test_operator())
        : declaration(std::move(declared)),
          kernel{.name = declaration.full_name(),
                 .op = &op,
                 .pass = op.find_pass("grad_weight"),
                 .by_device = {{"cpu", &declaration}}} {}
    TestKernel(const TestKernel&) = delete;
    TestKernel& operator=(const TestKernel&) = delete;

    SupportedProblems supported() const { return {*kernel.op, *kernel.pass, declaration}; }
};

/// A kernel that supports everything but empty problems.
inline const TestKernel& any_kernel() {
    static const TestKernel kernel(test_kernel());
    return kernel;
}

inline Problem parsed(std::string_view text) { return Problem::parse(test_operator().space, text); }

inline Case case_on(const TestKernel& kernel, const Problem& problem, std::uint64_t seed = 1) {
    return {.kernel = kernel.kernel.name,
            .property = "matches_reference",
            .device = "cpu",
            .problem = problem,
            .data = {.seed = seed},
            .setting = {}};
}

/// Options without time limits, so that a busy machine finds the same.
inline ShrinkOptions patient() {
    ShrinkOptions options;
    for (RunBudget* phase : {&options.bisection, &options.far, &options.near, &options.descent,
                             &options.certification, &options.box, &options.data})
        phase->seconds = 1e6;
    options.again.runs = 0;  // which tests of other phases would count
    return options;
}

inline Shrunk shrink_from(const Problem& problem, const CaseRunner& runner,
                          const ShrinkOptions& options = patient(),
                          const TestKernel& kernel = any_kernel()) {
    return shrink_case(kernel.kernel, case_on(kernel, problem), Outcome::failed("first"), runner,
                       {}, options);
}

inline Outcome failed_if(bool fails) {
    return fails ? Outcome::failed("wrong") : Outcome::passed();
}

using Fails = std::function<bool(const Problem&)>;

/// Fails where the problem does, whatever the data.
inline CaseRunner failing_where(const Fails& fails) {
    return [fails](const Case& candidate) { return failed_if(fails(candidate.problem)); };
}

/// Options without the shortcut through the nearest problems.
inline ShrinkOptions descent_only() {
    ShrinkOptions options = patient();
    options.near.runs = 0;
    return options;
}

}  // namespace gradverify::testing
