// SPDX-License-Identifier: Apache-2.0
// The wrong layer of a chain is named; and the integers that a chain is compared on stay exact.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "properties/data/thinned.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

namespace {

const std::string whole =
    "n=3,k1=2,k2=2,hidden1=3,hidden2=4,classes=3,in=8x8,filter=2x2,window=2x2";

std::string message_of(const std::string& variant, const std::string& property,
                       const std::string& problem) {
    const KernelSuite suite(Registry::instance());
    for (int seed = 1; seed <= 40; ++seed) {
        const Outcome outcome = suite.run("v1:lenet5_logits.backward/" + variant + ":" + property +
                                          ":cpu:" + problem + ":seed=" + std::to_string(seed));
        if (outcome.verdict == Verdict::failed) return outcome.message;
    }
    return "passed";
}

}  // namespace

TEST_CASE("the layer that is wrong is named, whatever it does to the layers behind it") {
    for (const char* property : {"matches_reference", "within_rounding_bound"}) {
        const auto departs = [&](const char* variant) {
            const std::string message = message_of(variant, property, whole);
            const std::string begin = "; the first tensor that departs is ";
            const std::size_t at = message.find(begin), end = message.find(": that kernel");
            REQUIRE(at != std::string::npos);
            return message.substr(at + begin.size(), end - at - begin.size());
        };
        CAPTURE(property);
        CHECK(departs("bug_a20_first_sample") == "drelu4_out, of step 3 of 21, fc.grad_input");
        CHECK(departs("bug_not_cleared") == "drelu2_out, of step 12 of 21, maxpool.grad_input");
        CHECK(departs("bug_pre_activation") == "dfc2_w, of step 5 of 21, fc.grad_weight");
        CHECK(departs("bug_counted_twice") == "dconv2_b, of step 15 of 21, conv.grad_bias");
    }
    const std::string at_zero = message_of("bug_mask_from_zero", "matches_reference", whole);
    CHECK(at_zero.find(", relu.grad_input: that kernel is wrong") != std::string::npos);
}

TEST_CASE("a chain that is right has nothing to name") {
    CHECK(message_of("chain", "matches_reference", whole) == "passed");
    CHECK(message_of("chain", "within_rounding_bound", whole) == "passed");
}

TEST_CASE(
    "integers are thinned until a float kernel gives the reference's numbers, and not further") {
    const Operator& op = *Registry::instance().find_operator("lenet5_logits");
    for (const std::string text :
         {"in=1x1", "n=2,k1=6,k2=16,hidden1=12,hidden2=8,classes=4,in=16x16,filter=3x3,window=2x2"})
        for (const bool is_dense : {false, true})
            for (std::uint64_t seed = 1; seed <= 12; ++seed) {
                const std::string data = (is_dense ? ":dense=" : ":seed=") + std::to_string(seed);
                for (const char* kernel :
                     {"lenet5_logits.forward/chain", "lenet5_logits.backward/chain"})
                    testing::check_agrees(kernel, "matches_reference", text + data);
                const Data drawn{.seed = seed, .is_dense = is_dense};
                const Values values = draw_thinned(op, Problem::parse(op.space, text), drawn, 24);
                bool any = false;
                for (const auto& [name, array] : values)
                    for (const double value : array.data) {
                        CHECK(value == std::round(value));
                        any |= value != 0.0;
                    }
                CAPTURE(text + data);
                CHECK((any || meets_kinks(op, drawn, ValueKind::integers)));
            }
}

}  // namespace gradverify
