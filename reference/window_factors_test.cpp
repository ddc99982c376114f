// SPDX-License-Identifier: Apache-2.0
// Problems that read nothing but padding, against the references: there all sums of ones are 0.
#include "reference/window_factors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference/tests/run_pass.hpp"

namespace gradverify {

using namespace testing;

namespace {

/// Whether y = op(1, 1) + 0 has an element that is not 0.
bool has_sums(const Operator& op, const Problem& problem) {
    Named ones;
    for (const char* name : {"x", "w"})
        ones.emplace_back(name, Numbers(count_of(op, name, problem), 1.0));
    const Numbers y = run(op, op.forward(), problem, ones)[0];
    return std::ranges::any_of(y, [](double one) { return one != 0.0; });
}

/// Calls `visit` on every problem of one axis with small parameters.
template <class Visit>
void for_small_problems(const Operator& op, Visit visit) {
    for (const std::int64_t in : {1, 2, 5})
        for (std::int64_t filter = 1; filter <= 3; ++filter)
            for (std::int64_t stride = 1; stride <= 4; ++stride)
                for (std::int64_t dilation = 1; dilation <= 3; ++dilation)
                    for (std::int64_t padding = 0; padding <= 7; ++padding) {
                        const std::string text =
                            fmt::format("in={},filter={},stride={},dilation={},padding={}", in,
                                        filter, stride, dilation, padding);
                        visit(Problem::parse(op.space, text));
                    }
}

}  // namespace

TEST_CASE("problems that read nothing but padding are known before they are run") {
    for (const char* name : {"conv", "conv_transpose"}) {
        const Operator& op = operator_of(name);
        int problems = 0, reading_nothing = 0;
        for_small_problems(op, [&](const Problem& problem) {
            if (op.is_empty(problem) || op.validate(problem)) return;
            CAPTURE(problem.print());
            CHECK(op.reads_nothing(problem) == !has_sums(op, problem));
            ++problems;
            reading_nothing += op.reads_nothing(problem);
        });
        CHECK(problems > 100);
        CHECK(reading_nothing > 10);
    }
    const Operator& op = operator_of("conv");
    CHECK(op.reads_nothing(Problem::parse(op.space, "in=5x1,stride=1x2,padding=0x1")));
    CHECK_FALSE(op.reads_nothing(Problem::parse(op.space, "in=5x1,stride=1x2,padding=0x2")));
}

}  // namespace gradverify
