// SPDX-License-Identifier: Apache-2.0
// Stands in for cuda.cpp in a build without a CUDA toolkit.
#include "harness/devices/device.hpp"

namespace gradverify::detail {

std::unique_ptr<Device> make_cuda_device() { return nullptr; }

std::string why_no_cuda() { return "this build has no CUDA (no toolkit was found)"; }

}  // namespace gradverify::detail
