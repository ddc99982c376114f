// SPDX-License-Identifier: Apache-2.0
// The four tests of the convolution-backward puzzle, by its names.
#include <doctest/doctest.h>

#include <cmath>

#include "harness/base/random.hpp"
#include "properties/checking/context.hpp"
#include "properties/tests/devices.hpp"

namespace gradverify {

namespace {

const Operator& conv() { return *Registry::instance().find_operator("conv"); }

Array<double> filled(const std::string& tensor, const Problem& problem, std::uint64_t seed) {
    Array<double> array{conv().sizes_of(tensor, problem), {}};
    SplitMix64 random(mix_seed(seed, tensor));
    for (std::int64_t i = 0; i < element_count(array.sizes); ++i)
        array.data.push_back(static_cast<double>(random.between(-8, 8)) / 8.0);
    return array;
}

Array<double> gradient(const std::string& kernel, const std::string& device, const Problem& problem,
                       const std::vector<Array<double>>& inputs) {
    const CallResult result = call_kernel({.kernel = *Registry::instance().find_kernel(kernel),
                                           .device = device_named(device),
                                           .problem = problem,
                                           .inputs = inputs,
                                           .setting = {},
                                           .surroundings = {},
                                           .initial_outputs = {}});
    REQUIRE(result.complaint() == "");
    return result.outputs.at(0);
}

/// The loss: the sum of dy * conv(x, w), by the reference.
double loss(const Problem& problem, const Array<double>& x, const Array<double>& w,
            const Array<double>& b, const Array<double>& dy) {
    const std::vector<Array<double>> inputs{x, w, b};
    return inner_product(dy, reference_outputs(conv(), conv().forward(), problem, inputs)[0]);
}

/// Both gradients of a layer against the reference's. All are multiples of 1/64 below 2^18: every
/// sum is exact in float.
void check_layer(const std::string& text) {
    const Problem problem = Problem::parse(conv().space, text);
    const auto x = filled("x", problem, 1), dy = filled("dy", problem, 2);
    const auto check = [&](const std::string& pass, const std::vector<Array<double>>& inputs) {
        const auto expected = reference_outputs(conv(), *conv().find_pass(pass), problem, inputs);
        for (const std::string& device : test_devices()) {
            CAPTURE(pass);
            CAPTURE(device);
            CHECK(gradient("conv." + pass + "/naive", device, problem, inputs).data ==
                  expected[0].data);
        }
    };
    check("grad_weight", {dy, x});
    check("grad_bias", {dy});
}

}  // namespace

TEST_CASE("conv_bw_tiny_3x3") {
    const Problem problem = Problem::parse(conv().space, "in=5x5,filter=3x3");
    Array<double> x{{1, 1, 5, 5}, {}}, dy{{1, 1, 3, 3}, {}};
    for (int i = 0; i < 25; ++i) x.data.push_back(i);
    for (int i = 1; i <= 9; ++i) dy.data.push_back(i);
    // x[h][w] = 5 h + w. Moving the filter tap one row down adds 5 to every pixel it meets, and one
    // column to the right adds 1, so dw[fh][fw] = dw[0][0] + (5 fh + fw) * sum(dy). The sum of dy
    // is 45, and dw[0][0] = 1*0 + 2*1 + 3*2 + 4*5 + 5*6 + 6*7 + 7*10 + 8*11 + 9*12 = 366.
    const std::vector<double> dw{366, 411, 456, 591, 636, 681, 816, 861, 906};
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        CHECK(gradient("conv.grad_weight/naive", device, problem, {dy, x}).data == dw);
        CHECK(gradient("conv.grad_bias/naive", device, problem, {dy}).data ==
              std::vector<double>{45});
    }
}

TEST_CASE("conv_bw_numerical_gradient_check") {
    const Problem problem = Problem::parse(conv().space, "n=2,c=2,k=3,in=6x5,filter=3x3");
    const auto x = filled("x", problem, 3), w = filled("w", problem, 4);
    const auto b = filled("b", problem, 5), dy = filled("dy", problem, 6);
    constexpr double epsilon = 1e-3;
    for (const std::string& device : test_devices()) {
        CAPTURE(device);
        const auto dw = gradient("conv.grad_weight/naive", device, problem, {dy, x});
        for (std::size_t i = 0; i < w.data.size(); ++i) {
            Array<double> up = w, down = w;
            up.data[i] += epsilon;
            down.data[i] -= epsilon;
            const double numerical =
                (loss(problem, x, up, b, dy) - loss(problem, x, down, b, dy)) / (2.0 * epsilon);
            const double scale = std::max(std::abs(numerical), std::abs(dw.data[i]));
            CAPTURE(i);
            CHECK(std::abs(dw.data[i] - numerical) <= 1e-3 * scale + 1e-9);
        }
    }
}

TEST_CASE("conv_bw_lenet_conv1") { check_layer("k=6,in=28x28,filter=5x5"); }

TEST_CASE("conv_bw_lenet_conv2") { check_layer("c=6,k=16,in=12x12,filter=5x5"); }

}  // namespace gradverify
