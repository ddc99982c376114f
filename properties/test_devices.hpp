// SPDX-License-Identifier: Apache-2.0
// Which devices a test runs on: the CPU always, and CUDA where the machine has it, so that one
// test executable serves both kinds of machine.
#pragma once

#include <string>
#include <vector>

#include "harness/device.hpp"

namespace gradverify {

inline std::vector<std::string> test_devices() {
    std::vector<std::string> devices{"cpu"};
    if (why_unavailable("cuda").empty()) devices.push_back("cuda");
    return devices;
}

}  // namespace gradverify
