// SPDX-License-Identifier: Apache-2.0
// The devices that a test runs on, and the command that makes its executable a worker.
#pragma once

#include <string>
#include <vector>

#include "harness/devices/device.hpp"

namespace gradverify {

/// The CPU always, and CUDA where the machine has it.
inline std::vector<std::string> test_devices() {
    std::vector<std::string> devices{"cpu"};
    if (why_unavailable("cuda").empty()) devices.push_back("cuda");
    return devices;
}

/// This test executable as a worker, which knows the seeded bugs too.
inline std::vector<std::string> suite_worker_command() { return {"/proc/self/exe", "worker"}; }

}  // namespace gradverify
