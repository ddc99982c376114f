// SPDX-License-Identifier: Apache-2.0
// A registered kernel as a part of another launcher: a chain of layers calls the kernels that were
// verified one by one.
//
//   static const gradverify::Part rectify("relu.forward/vectorised", GRADVERIFY_UNIT_DEVICE);
//   rectify("n=" + std::to_string(n), {{"x", call.conv1_out}, {"y", call.relu1_out}}, call.launch);
//
// Each kernel file is a unit of its own, so a launcher of another file is reached by its name.
// Decides how a name and named tensors become a call; what is called runs on the same device, in
// the same build of it, as the launcher that calls. Included by CUDA units.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "harness/pass_call.hpp"

namespace gradverify {

/// A tensor of the part's pass, and the buffer that is given for it.
struct PartTensor {
    std::string_view name;
    TensorView buffer;
};

class Part {
  public:
    /// `device` is the caller's: GRADVERIFY_UNIT_DEVICE.
    Part(std::string kernel, std::string device)
        : kernel_(std::move(kernel)), device_(std::move(device)) {}

    /// Calls the part's launcher. A buffer needs as many elements as the pass's tensor has, in
    /// whatever shape: nothing is copied. Of the launch the stream is passed on; a part that needs
    /// a workspace can't be called.
    ///
    /// **Errors** std::invalid_argument for a kernel that is not there, a problem that it does not
    /// support, a tensor that is missing or has another type or number of elements.
    void operator()(std::string_view problem, std::initializer_list<PartTensor> tensors,
                    const Launch& launch) const;

  private:
    std::string kernel_, device_;
};

}  // namespace gradverify
