// SPDX-License-Identifier: Apache-2.0
// The rounding bound must bite: an output moved by twice its bound, a product dropped, or a
// product rounded to bfloat16 is caught in at least 95 of 100 problems with at most 64 terms.
#include <doctest/doctest.h>

#include <cmath>

#include "harness/cases/compare.hpp"
#include "harness/numbers/element_bits.hpp"
#include "properties/data/values.hpp"
#include "properties/tests/small_conv_problems.hpp"

namespace gradverify {

namespace {

/// A pass on drawn data: what is expected, and what a correct kernel could return.
struct Sample {
    const PassSpec& pass;
    Problem problem;
    std::vector<Array<double>> inputs;
    Expected expected;
    std::vector<double> got;

    Sample(const PassSpec& tested, SplitMix64& random)
        : pass(tested), problem(small_conv_problem(random, tested, {.image_most = 8})) {
        const Data data{.seed = random.next(), .is_explicit = false, .elements = {}};
        inputs = pick(conv_operator(), problem,
                      draw_values(conv_operator(), problem, data, ValueKind::mantissas, 24),
                      pass.inputs, 24);
        std::vector<Array<Bounded>> bounded_inputs;
        for (const auto& input : inputs)
            bounded_inputs.push_back({input.sizes, {input.data.begin(), input.data.end()}});
        const Sizes sizes = conv_operator().sizes_of(pass.outputs[0], problem);
        std::vector<Array<Bounded>> outputs{
            {sizes, std::vector<Bounded>(static_cast<std::size_t>(element_count(sizes)))}};
        pass.bounded_reference(problem, bounded_inputs, outputs);
        expected = Expected::within(pass.outputs[0], outputs[0]);
        for (const double value : expected.values) got.push_back(static_cast<float>(value));
    }

    /// One product of one output: what the output loses when one element of an input is zero.
    /// The position is drawn among the outputs that this element reaches.
    std::pair<std::size_t, double> product(SplitMix64& random) const {
        for (;;) {
            auto without = inputs;
            auto& element = without.back().data[random.below(without.back().data.size())];
            element = 0.0;
            std::vector<Array<double>> outputs{
                {expected.sizes, std::vector<double>(expected.values.size(), 0.0)}};
            pass.reference(problem, without, outputs);
            const std::size_t first = random.below(got.size());
            for (std::size_t i = 0; i < got.size(); ++i) {
                const std::size_t at = (first + i) % got.size();
                const double lost = expected.values[at] - outputs[0].data[at];
                if (lost != 0.0) return {at, lost};
            }
        }
    }
    /// An output that rounding may touch (not one that no product reaches), if there is any; a
    /// bias's gradient by a single pixel is copied.
    std::size_t inexact_output(SplitMix64& random) const {
        const std::size_t first = random.below(got.size());
        for (std::size_t i = 0; i < got.size(); ++i)
            if (expected.bounds[(first + i) % got.size()] != 0.0) return (first + i) % got.size();
        return first;
    }
    bool caught(std::size_t at, double moved) const {
        auto wrong = got;
        wrong[at] = static_cast<float>(wrong[at] + moved);
        return !compare(wrong, expected).ok;
    }
};

}  // namespace

TEST_CASE("the rounding bound catches small errors in problems of at most 64 terms") {
    constexpr int problems = 400;
    for (const std::string name : {"forward", "grad_input", "grad_weight", "grad_bias"}) {
        CAPTURE(name);
        const PassSpec& pass = *conv_operator().find_pass(name);
        SplitMix64 random(mix_seed(1, name));
        int moved = 0, dropped = 0, rounded = 0, false_alarms = 0;
        for (int i = 0; i < problems; ++i) {
            const Sample sample(pass, random);
            false_alarms += !compare(sample.got, sample.expected).ok;
            const std::size_t any = sample.inexact_output(random);
            // One unit in the last place more than twice the bound: storing rounds the move.
            const double move = 2.0 * sample.expected.bounds[any].most() +
                                std::abs(sample.expected.values[any]) * 0x1p-23;
            moved += sample.caught(any, move);
            const auto [at, product] = sample.product(random);
            dropped += sample.caught(at, -product);
            rounded += sample.caught(at, rounded_to(DType::bf16, product) - product);
        }
        CHECK(false_alarms == 0);
        CHECK(moved == problems);
        CHECK(dropped >= problems * 95 / 100);
        CHECK(rounded >= problems * 95 / 100);
        MESSAGE(name << ": moved by twice the bound " << moved << ", product dropped " << dropped
                     << ", product in bfloat16 " << rounded << " of " << problems);
    }
}

}  // namespace gradverify
