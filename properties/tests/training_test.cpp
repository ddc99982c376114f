// SPDX-License-Identifier: Apache-2.0
// Training works: each step is right, and as many steps with the kernels as with the reference
// reach the same accuracy. A network smaller than LeNet-5, on smaller images.
#include <doctest/doctest.h>

#include <set>

#include "harness/devices/device.hpp"
#include "properties/tests/devices.hpp"
#include "properties/tests/training/digits.hpp"
#include "properties/tests/training/lenet5_training.hpp"

namespace gradverify {

namespace {

const char* small_network =
    "k1=6,k2=12,hidden1=24,hidden2=16,classes=10,in=14x14,filter=3x3,window=2x2";

}  // namespace

TEST_CASE("digits are drawn from the seed alone, all ten of them, and differ") {
    const Digits digits = draw_digits(200, 14, 1), again = draw_digits(200, 14, 1);
    CHECK(digits.images.data == again.images.data);
    CHECK(digits.images.sizes == Sizes{200, 1, 14, 14});
    CHECK(std::set<double>(digits.labels.data.begin(), digits.labels.data.end()).size() == 10);
    CHECK(draw_digits(200, 14, 2).images.data != digits.images.data);
}

TEST_CASE("each step of training is within the bound, from the kernels' own parameters") {
    for (const std::string& device : test_devices()) {
        const Outcome outcome =
            check_steps({.network = small_network, .device = device, .batch = 4, .steps = 40});
        CAPTURE(device);
        CAPTURE(outcome.message);
        CHECK(outcome.verdict == Verdict::passed);
    }
}

TEST_CASE("kernels and reference train to the same accuracy, which is far from chance") {
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        const Training training{.network = small_network, .device = device, .steps = 300};
        const Trained kernels = train_with_kernels(training);
        const Trained reference = train_with_reference(training);
        CAPTURE(kernels.accuracy);
        CAPTURE(reference.accuracy);
        CHECK(are_alike(kernels.accuracy, reference.accuracy, training.test_images));
        CHECK(reference.accuracy > 0.6);
        CHECK(kernels.losses.front() == doctest::Approx(reference.losses.front()).epsilon(1e-4));
    }
}

TEST_CASE("a wrong gradient is noticed in the first step") {
    const Outcome outcome = check_steps(
        {.network = small_network, .variant = "bug_sign_of_bias", .batch = 4, .steps = 3});
    CHECK(outcome.verdict == Verdict::failed);
    CHECK(outcome.message == "backward is not within the bound in step 0");
}

TEST_CASE("accuracies are alike within three standard errors") {
    CHECK(are_alike(0.9, 0.9, 500));
    CHECK(are_alike(0.9, 0.85, 500));
    CHECK_FALSE(are_alike(0.9, 0.8, 500));
    CHECK_FALSE(are_alike(1.0, 0.9, 500));
}

}  // namespace gradverify
