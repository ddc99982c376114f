// SPDX-License-Identifier: Apache-2.0
// Attention's gradients on integers: where no query has a channel in common with a key, and lse is
// 0, each weight is 1, and all products and sums are exact.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness/base/random.hpp"
#include "harness/numbers/element_bits.hpp"
#include "properties/checking/context.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/verdicts.hpp"

namespace gradverify {

namespace {

/// From -1 to 1: differences of products of 64 channels are numbers of bfloat16.
void fill_integers(Array<double>& array, std::uint64_t seed) {
    SplitMix64 random(seed);
    for (double& element : array.data) element = static_cast<double>(random.between(-1, 1));
}

std::vector<Array<double>> integers_for(CaseContext& context) {
    auto inputs = context.inputs.of(context.pass());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = context.pass().inputs[i];
        fill_integers(inputs[i], i);
        if (name == "lse") std::ranges::fill(inputs[i].data, 0.0);
        for (std::size_t at = 0; at < inputs[i].data.size(); ++at)
            if ((name == "q" && at % 2 == 0) || (name == "k" && at % 2 == 1))
                inputs[i].data[at] = 0.0;
    }
    return inputs;
}

/// Checks the outputs from this one on, where this build has the kernel on this device.
void check_exact(const std::string& kernel, const std::string& device, const std::string& problem,
                 std::size_t first) {
    if (!Registry::instance().find_kernel(kernel)->on(device)) return;
    const std::string text = "v1:" + kernel + ":within_rounding_bound:" + device + ":" + problem;
    CAPTURE(text);
    const Case checked = Case::parse(text + ":seed=1", Registry::instance());
    CaseContext context(checked, Registry::instance(), ValueKind::mantissas);
    const auto inputs = integers_for(context);
    const CallResult result = context.caller.call(context.kernel(), inputs);
    const auto want = context.oracle.reference(context.pass(), inputs);
    REQUIRE(result.outputs.size() == want.size());
    for (std::size_t i = first; i < want.size(); ++i) {
        CAPTURE(context.pass().outputs[i]);
        std::vector<double> rounded = want[i].data;
        for (double& value : rounded) value = rounded_to(DType::bf16, value);
        CHECK(std::ranges::count(rounded, 0.0) < std::ssize(rounded) * 3 / 4);
        CHECK(result.outputs[i].data == rounded);
    }
}

}  // namespace

TEST_CASE("attention's gradients on integers are exact where all weights are 1, on each device") {
    for (const std::string kernel : {"attention.backward/tiled_mma", "attention.backward/wgmma"})
        for (const std::string& device : test_devices())
            for (const char* causal : {"0", "1"}) {
                // Whose roots are powers of two; the last fills stages more than once.
                for (const char* sizes : {"b=2,sq=70,sk=100,h=2,d=16", "b=1,sq=33,sk=150,d=64",
                                          "b=1,sq=330,sk=400,d=16"})
                    check_exact(kernel, device, std::string(sizes) + ",causal=" + causal, 0);
                check_exact(kernel, device, std::string("b=1,sq=20,sk=70,d=120,causal=") + causal,
                            2);
            }
}

TEST_CASE("attention by wgmma is free of races where its stages are filled again") {
    for (const char* problem : {"b=1,sq=330,sk=20,d=8:seed=1", "b=1,sq=20,sk=330,d=8:seed=1"})
        testing::check_agrees("attention.backward/wgmma", "free_of_races", problem);
}

}  // namespace gradverify
