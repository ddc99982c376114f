// SPDX-License-Identifier: Apache-2.0
// Bounds of the gradients of long recurrences and sums: right kernels lie inside, and steps that
// decay do not widen them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/numbers/autodiff/tape.hpp"

using namespace gradverify;

/// From `least` to 1.
static float number(SplitMix64& random, double least) {
    const double share = static_cast<double>(random.below(1 << 20)) * 0x1p-20;
    return static_cast<float>(least + (1.0 - least) * share);
}

TEST_CASE("the steps of a long recurrence weigh what they meet, in chunks or one after the other") {
    constexpr std::size_t steps = 3000, chunk = 256;
    const ScopedRounding rounding(Rounding::of(DType::f32));
    SplitMix64 random(8);
    for (const double least : {-1.0, 0.5, 0.999}) {
        CAPTURE(least);
        // A step more has no cotangent.
        std::vector<float> decay(steps + 1), dy(steps), serial(steps + 1), chunked(steps + 1);
        Tape tape;
        std::vector<Tape::Node> x;
        std::vector<Tape::Seed> seeds;
        Traced state = 0.0;
        for (std::size_t t = 0; t < steps; ++t) {
            decay[t] = number(random, least), dy[t] = number(random, -1.0);
            const Traced added = tape.input(1.0);
            x.push_back(added.node());
            state = state * decay[t] + added;
            seeds.push_back({state.node(), static_cast<double>(dy[t])});
        }
        for (std::size_t t = steps; t-- > 0;) serial[t] = dy[t] + decay[t + 1] * serial[t + 1];
        for (std::size_t t = steps; t-- > 0;) {
            const std::size_t end = std::min((t / chunk + 1) * chunk, steps);
            float weight = 1.0f;
            for (std::size_t s = t; s < end; ++s) {
                chunked[t] += weight * dy[s];
                weight *= decay[s + 1];
            }
            chunked[t] += weight * chunked[end];
        }
        const auto bounds = tape.bounded_gradients(seeds);
        for (std::size_t t = 0; t < steps; ++t) {
            const Bounded& bound = bounds[static_cast<std::size_t>(x[t])];
            for (const float got : {serial[t], chunked[t]})
                CHECK(std::abs(static_cast<double>(got) - bound.value()) <= bound.error());
        }
        // Without decay all steps meet all; with it few do, however many there are.
        const Bounded& first = bounds[static_cast<std::size_t>(x[0])];
        const double roundings = first.error() / (0x1p-24 * first.magnitude());
        CAPTURE(roundings);
        CHECK(roundings > 512.0);
        CHECK((roundings > 1000.0) == (least > 0.9));
    }
}

TEST_CASE("a recurrence's terms may be added up in chunks, in which the newest comes first") {
    constexpr std::size_t steps = 4096, chunk = 256;
    const ScopedRounding rounding(Rounding::of(DType::f32));
    SplitMix64 random(8);
    for (const double least : {-1.0, 0.0, 0.5, 0.99}) {
        CAPTURE(least);
        std::vector<float> decay(steps), added(steps);
        Bounded state = 0.0;
        float before = 0.0f, last = 0.0f;
        double most = 0.0;
        for (std::size_t t = 0; t < steps; ++t) {
            decay[t] = number(random, least), added[t] = number(random, -1.0);
            state = state * Bounded(decay[t]) + Bounded(added[t]);
            if (t % chunk == 0) before = last;
            float weight = 1.0f;
            last = 0.0f;
            for (std::size_t s = t + 1; s-- > t / chunk * chunk;) {
                last += weight * added[s];
                weight *= decay[s];
            }
            last += weight * before;
            CHECK(std::abs(static_cast<double>(last) - state.value()) <= state.error());
            most = std::max(most, state.error() / (0x1p-24 * state.magnitude()));
        }
        // Few steps count where they decay.
        CHECK((most < 50.0) == (least < 0.9));
        CHECK(most < 1000.0);
    }
}

TEST_CASE("the roundings of a long sum are counted once, before a factor and behind it") {
    const ScopedRounding rounding(Rounding::of(DType::f32));
    Tape tape;
    const Traced x = tape.input(1.0), product = x * 1.5;
    Traced sum = product;
    for (int i = 1; i < 2000; ++i) sum += product;
    const Tape::Seed seed{sum.node(), 1.0};
    const Bounded bound = tape.bounded_gradients({&seed, 1})[static_cast<std::size_t>(x.node())];
    CHECK(bound.error() >= 2000 * 0x1p-24 * 3000.0);
    CHECK(bound.error() <= 2010 * 0x1p-24 * 3000.0);
}
