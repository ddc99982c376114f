// SPDX-License-Identifier: Apache-2.0
// Trains lenet5 on drawn digits by steps of stochastic gradient descent, with registered kernels
// and with the reference, from the same parameters on the same batches: what a gradient is for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/cases/outcome.hpp"
#include "properties/data/values.hpp"

namespace gradverify {

struct Training {
    std::string network;  ///< lenet5's parameters without n: "k1=6,k2=16,..."
    std::string device = "cpu";
    std::string variant = "chain";  ///< of lenet5.forward and lenet5.backward
    std::int64_t batch = 16, steps = 200, test_images = 500;
    double rate = 0.1;  ///< of the first step; goes down to zero, so that the end hangs on no step
    std::uint64_t seed = 1;
};

/// The loss of each step, and the share of the test images that the result names rightly.
struct Trained {
    std::vector<double> losses;
    double accuracy = 0.0;
};

/// **Errors** std::runtime_error when a kernel does not run.
Trained train_with_kernels(const Training& training);
Trained train_with_reference(const Training& training);

/// Trains with the kernels, and holds each step from the kernels' own parameters to the bound:
/// what the forward pass gives, and the gradients from what it saved. The first that is wrong.
Outcome check_steps(const Training& training);

/// Whether two accuracies on so many images are within three standard errors of their difference.
bool are_alike(double a, double b, std::int64_t images);

/// What follows `train-lenet5` on the command line: the device, and the number of steps. Prints a
/// line of JSON for each step and for the whole; 1 when the accuracies are not alike, 2 for bad
/// usage.
int training_main(std::span<const std::string> arguments);

}  // namespace gradverify
