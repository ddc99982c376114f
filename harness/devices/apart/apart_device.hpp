// SPDX-License-Identifier: Apache-2.0
// A device whose launchers run in a process of their own, for kernels that nobody vouches for: that
// process has their code, and sees tensors. Its parent, a worker, has the declarations, what is
// expected, and the driver's pipes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "harness/devices/device.hpp"

namespace gradverify {

/// The program that has the launchers; empty where they are this program's own. It lies beside this
/// one, where gradverify_add_executable has put it.
const std::string& apart_program();

/// Other processes of this user can't look into this one from now on.
void hide_this_process();

/// The device of this name in a process that is started with the first call, and is confined. When
/// that dies, this process ends as it did.
std::unique_ptr<Device> make_apart_device(std::string_view name);

/// Calls that launcher processes have completed for this one.
struct ApartCalls {
    std::int64_t completed = 0;
    /// On the device cpu: it began no block of threads, and the tensors had changed.
    std::int64_t without_launch = 0;
    double seconds = 0.0;  ///< that this process has waited for them
};
/// Those since this was asked last.
ApartCalls take_apart_calls();

/// This process has the launchers: makes its parent's calls on this device until there are no more.
/// Returns its exit code.
int serve_apart(std::string_view device);

}  // namespace gradverify
