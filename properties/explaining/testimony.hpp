// SPDX-License-Identifier: Apache-2.0
// Decides who is wrong where kernel, reference, finite differences and the registered kernels of
// the other direction (forward for a gradient, gradients for a forward kernel) disagree.
#pragma once

#include <string>
#include <vector>

namespace gradverify {

/// What agrees with what, on one problem and its data.
struct Testimony {
    std::string pass;  ///< of the kernel, `grad_weight`
    bool is_forward = false;
    bool saturates = false;  ///< the kernel cuts off numbers beyond a range
    bool kernel_is_reference = false;
    /// The reference's gradient is the derivative of its forward map.
    bool reference_is_consistent = false;
    /// The kernel is that derivative; a forward kernel: the reference's gradients are its own.
    bool kernel_is_consistent = false;
    /// Kernels of the other direction that equal the reference, by whether they obey the adjoint
    /// identity with this one.
    std::vector<std::string> sound_with{}, sound_against{};
    /// Kernels of the other direction that give other numbers, and obey the identity with this one.
    std::vector<std::string> allies{};
    /// Other kernels of the same pass that give the numbers of one of the two.
    std::vector<std::string> peers_of_reference{}, peers_of_kernel{};
};

std::string judge(const Testimony& testimony);

}  // namespace gradverify
