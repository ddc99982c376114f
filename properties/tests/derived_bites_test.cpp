// SPDX-License-Identifier: Apache-2.0
// The rounding bound of a derived gradient, on layer_norm's backward pass: no float arithmetic
// that computes the closed form exceeds it, whatever the order of its sums; an element moved by
// twice its bound, a forgotten path, or a cotangent rounded to bfloat16 is caught.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness/base/random.hpp"
#include "harness/cases/compare.hpp"
#include "harness/registry/registry.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

namespace {

const Operator& layer_norm() { return *Registry::instance().find_operator("layer_norm"); }

float to_bfloat16(double value) {
    auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    bits += 0x7fffu + ((bits >> 16) & 1u);
    return std::bit_cast<float>(bits & 0xffff0000u);
}

/// What a kernel may get wrong.
struct Mistake {
    bool rounds_cotangent = false;  ///< to bfloat16
    bool forgets_mean = false;      ///< of g
};

/// A float sum in a random order.
class Sum {
  public:
    void add(float term) { terms_.push_back(term); }
    float in_any_order(SplitMix64& random) {
        float sum = 0.0f;
        while (!terms_.empty()) {
            std::swap(terms_[random.below(terms_.size())], terms_.back());
            sum += terms_.back();
            terms_.pop_back();
        }
        return sum;
    }

  private:
    std::vector<float> terms_;
};

/// The backward pass on drawn data: what is expected, and what a float kernel returns.
struct Sample {
    Problem problem;
    std::vector<Array<double>> inputs;  ///< dy, x, gamma, mean, rstd
    std::vector<Expected> expected;

    Sample(SplitMix64& random, std::int64_t width_maximum)
        : problem(Problem::parse(layer_norm().space, "rows=1,width=1")) {
        problem[0] = random.between(1, 12);
        problem[1] = random.between(1, width_maximum);
        problem[2] = random.between(0, 1);
        const PassSpec& pass = *layer_norm().find_pass("backward");
        const Data data{.seed = random.next(), .is_explicit = false, .elements = {}};
        const Values values = draw_values(layer_norm(), problem, data, ValueKind::mantissas, 24);
        inputs = pick(layer_norm(), problem, values, pass.inputs, 24);
        std::vector<Array<Bounded>> taken, outputs;
        for (const auto& array : pick(layer_norm(), problem, values, pass.taken_by_reference(), 24))
            taken.push_back({array.sizes, {array.data.begin(), array.data.end()}});
        for (const std::string& name : pass.outputs) {
            const Sizes sizes = layer_norm().sizes_of(name, problem);
            outputs.push_back(
                {sizes, std::vector<Bounded>(static_cast<std::size_t>(element_count(sizes)))});
        }
        pass.bounded_reference(problem, taken, outputs);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            expected.push_back(Expected::within(pass.outputs[i], outputs[i]));
    }

    std::vector<std::vector<double>> in_float(SplitMix64& random, Mistake mistake = {}) const {
        const auto rows = static_cast<std::size_t>(problem.scalar("rows"));
        const auto width = static_cast<std::size_t>(problem.scalar("width"));
        const auto read = [&](std::size_t which, std::size_t at) {
            return static_cast<float>(inputs[which].data[at]);
        };
        const auto dy = [&](std::size_t at) {
            return mistake.rounds_cotangent ? to_bfloat16(inputs[0].data[at]) : read(0, at);
        };
        const auto xhat = [&](std::size_t at) {
            return (read(1, at) - read(3, at / width)) * read(4, at / width);
        };
        std::vector<std::vector<double>> got{std::vector<double>(rows * width), {}, {}};
        for (std::size_t r = 0; r < rows; ++r) {
            Sum of_g, of_g_xhat;
            const auto g = [&](std::size_t j) { return dy(r * width + j) * read(2, j); };
            for (std::size_t j = 0; j < width; ++j) {
                if (!mistake.forgets_mean) of_g.add(g(j));
                of_g_xhat.add(g(j) * xhat(r * width + j));
            }
            const auto count = static_cast<float>(width);
            const float mean = of_g.in_any_order(random) / count;
            const float along = of_g_xhat.in_any_order(random) / count;
            for (std::size_t j = 0; j < width; ++j)
                got[0][r * width + j] =
                    static_cast<double>(read(4, r) * (g(j) - mean - xhat(r * width + j) * along));
        }
        for (std::size_t j = 0; j < width; ++j) {
            Sum gamma, beta;
            for (std::size_t r = 0; r < rows; ++r) {
                gamma.add(dy(r * width + j) * xhat(r * width + j));
                beta.add(dy(r * width + j));
            }
            got[1].push_back(static_cast<double>(gamma.in_any_order(random)));
            got[2].push_back(static_cast<double>(beta.in_any_order(random)));
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
