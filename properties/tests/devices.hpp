// SPDX-License-Identifier: Apache-2.0
// What the tests of the properties share: the devices that a test runs on, so that one executable
// serves machines with a GPU and without, and the command that makes it a worker of its own.
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

/// This test executable as a worker, which knows the seeded bugs too; see test_main.cpp.
inline std::vector<std::string> suite_worker_command() { return {"/proc/self/exe", "worker"}; }

}  // namespace gradverify
