// SPDX-License-Identifier: Apache-2.0
// Which problems read nothing but padding, against the references: there, of ones, all sums are 0.
#include "reference/window_factors.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "harness/registry/registry.hpp"

namespace gradverify {

namespace {

Array<double> filled(const Sizes& sizes, double value) {
    return {sizes, std::vector<double>(static_cast<std::size_t>(element_count(sizes)), value)};
}

/// Whether y = op(1, 1) + 0 has an element that is not 0.
bool has_sums(const Operator& op, const Problem& problem) {
    std::vector<Array<double>> inputs, outputs;
    for (const char* name : {"x", "w"}) inputs.push_back(filled(op.sizes_of(name, problem), 1.0));
    inputs.push_back(filled(op.sizes_of("b", problem), 0.0));
    outputs.push_back(filled(op.sizes_of("y", problem), 0.0));
    op.forward().reference(problem, inputs, outputs);
    return std::ranges::any_of(outputs[0].data, [](double y) { return y != 0.0; });
}

/// Calls `visit` on every problem of one axis with small parameters.
template <class Visit>
void for_small_problems(const Operator& op, Visit visit) {
    for (const std::int64_t in : {1, 2, 5})
        for (std::int64_t filter = 1; filter <= 3; ++filter)
            for (std::int64_t stride = 1; stride <= 4; ++stride)
                for (std::int64_t dilation = 1; dilation <= 3; ++dilation)
                    for (std::int64_t padding = 0; padding <= 7; ++padding) {
                        std::ostringstream text;
                        text << "in=" << in << ",filter=" << filter << ",stride=" << stride
                             << ",dilation=" << dilation << ",padding=" << padding;
                        visit(Problem::parse(op.space, text.str()));
                    }
}

}  // namespace

TEST_CASE("problems that read nothing but padding are known before they are run") {
    for (const char* name : {"conv", "conv_transpose"}) {
        const Operator& op = *Registry::instance().find_operator(name);
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
    const Operator& op = *Registry::instance().find_operator("conv");
    CHECK(op.reads_nothing(Problem::parse(op.space, "in=5x1,stride=1x2,padding=0x1")));
    CHECK_FALSE(op.reads_nothing(Problem::parse(op.space, "in=5x1,stride=1x2,padding=0x2")));
}

}  // namespace gradverify
