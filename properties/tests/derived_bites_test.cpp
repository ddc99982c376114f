// SPDX-License-Identifier: Apache-2.0
// The rounding bound of layer_norm's derived gradient: no order of float sums exceeds it; an
// element moved by twice its bound, a forgotten path, or a cotangent rounded to bfloat16 is caught.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "harness/base/random.hpp"
#include "harness/numbers/element_bits.hpp"
#include "properties/checking/context.hpp"

namespace gradverify {

namespace {

struct Mistake {
    bool rounds_cotangent = false;  ///< to bfloat16
    bool forgets_mean = false;      ///< of g
};

/// The sum of term(0) to term(count - 1) in a random order.
template <class Term>
float sum_in_any_order(std::size_t count, SplitMix64& random, const Term& term) {
    std::vector<float> terms;
    for (std::size_t i = 0; i < count; ++i) terms.push_back(term(i));
    float sum = 0.0f;
    while (!terms.empty()) {
        std::swap(terms[random.below(terms.size())], terms.back());
        sum += terms.back();
        terms.pop_back();
    }
    return sum;
}

Case drawn_case(SplitMix64& random, std::int64_t width_maximum) {
    const Kernel& kernel = *Registry::instance().find_kernel("layer_norm.backward/columns");
    Problem problem = Problem::parse(kernel.op->space, "rows=1,width=1");
    problem[0] = random.between(1, 12);
    problem[1] = random.between(1, width_maximum);
    problem[2] = random.between(0, 1);
    return Case::parse(fmt::format("v1:{}:within_rounding_bound:cpu:{}:seed={}", kernel.name,
                                   problem.print(), random.next()),
                       Registry::instance());
}

/// The backward pass on drawn data: what is expected, and what a float kernel returns.
struct Sample {
    Case drawn;
    CaseContext context;
    std::vector<Array<double>> inputs;  ///< dy, x, gamma, mean, rstd
    std::vector<Expected> expected;

    Sample(SplitMix64& random, std::int64_t width_maximum)
        : drawn(drawn_case(random, width_maximum)),
          context(drawn, Registry::instance(), ValueKind::mantissas),
          inputs(context.inputs.of(context.pass())),
          expected(context.oracle.within_rounding()) {}

    std::vector<std::vector<double>> in_float(SplitMix64& random, Mistake mistake = {}) const {
        const auto rows = static_cast<std::size_t>(drawn.problem.scalar("rows"));
        const auto width = static_cast<std::size_t>(drawn.problem.scalar("width"));
        const auto read = [&](std::size_t which, std::size_t at) {
            return static_cast<float>(inputs[which].data[at]);
        };
        const auto dy = [&](std::size_t at) {
            return mistake.rounds_cotangent
                       ? static_cast<float>(rounded_to(DType::bf16, inputs[0].data[at]))
                       : read(0, at);
        };
        const auto xhat = [&](std::size_t at) {
            return (read(1, at) - read(3, at / width)) * read(4, at / width);
        };
        const auto sum = [&](std::size_t terms, const auto& term) {
            return sum_in_any_order(terms, random, term);
        };
        std::vector<std::vector<double>> got(3);
        for (std::size_t r = 0; r < rows; ++r) {
            const auto g = [&](std::size_t j) { return dy(r * width + j) * read(2, j); };
            const auto x = [&](std::size_t j) { return xhat(r * width + j); };
            const auto count = static_cast<float>(width);
            const float mean = mistake.forgets_mean ? 0.0f : sum(width, g) / count;
            const float along = sum(width, [&](std::size_t j) { return g(j) * x(j); }) / count;
            for (std::size_t j = 0; j < width; ++j)
                got[0].push_back(static_cast<double>(read(4, r) * (g(j) - mean - x(j) * along)));
        }
        for (std::size_t j = 0; j < width; ++j) {
            const auto dbeta = [&](std::size_t r) { return dy(r * width + j); };
            const auto dgamma = [&](std::size_t r) { return dbeta(r) * xhat(r * width + j); };
            got[1].push_back(static_cast<double>(sum(rows, dgamma)));
            got[2].push_back(static_cast<double>(sum(rows, dbeta)));
        }
        return got;
    }

    bool caught(const std::vector<std::vector<double>>& got) const {
        for (std::size_t i = 0; i < got.size(); ++i)
            if (!compare(got[i], expected[i]).ok) return true;
        return false;
    }
};

}  // namespace

TEST_CASE("no order of a float kernel's sums exceeds the bound of a derived gradient") {
    SplitMix64 random(6);
    for (int i = 0; i < 400; ++i) {
        const Sample sample(random, 100);
        for (int order = 0; order < 10; ++order)
            CHECK_FALSE(sample.caught(sample.in_float(random)));
    }
}

TEST_CASE("the bound of a derived gradient bites") {
    constexpr int samples = 400;
    SplitMix64 random(7);
    int moved = 0, rounded = 0, forgotten = 0;
    for (int i = 0; i < samples; ++i) {
        const Sample sample(random, 32);
        auto got = sample.in_float(random);
        const std::size_t which = random.below(3), at = random.below(got[which].size());
        const Bound bound = sample.expected[which].bounds[at];
        got[which][at] = sample.expected[which].values[at] + 2.0 * bound.most() +
                         std::abs(sample.expected[which].values[at]) * 0x1p-23 +
                         std::numeric_limits<float>::denorm_min();  // a zero may be exact
        moved += !bound.is_limited() || sample.caught(got);
        rounded += sample.caught(sample.in_float(random, {.rounds_cotangent = true}));
        forgotten += sample.caught(sample.in_float(random, {.forgets_mean = true}));
    }
    CHECK(moved >= samples * 99 / 100);
    CHECK(rounded >= samples * 95 / 100);
    CHECK(forgotten >= samples * 95 / 100);
}

}  // namespace gradverify
