// SPDX-License-Identifier: Apache-2.0
// A device that one process owns, for others to call kernels on: contexts of several processes
// would take turns. A client's device asks the owner, which makes all clients' calls at once.
#pragma once

#include <string_view>

#include "harness/devices/device.hpp"

namespace gradverify {

/// What a client's device throws where a case needs the device itself: for large memory, timings,
/// the checked variant, a kernel that an owner is not asked for, or what the owner's device fails
/// in. No std::exception: no property may take it for a failure.
struct NeedsDeviceItself {};

/// This process is a client: `device_named` of this device gives one that asks the owner.
/// **Errors** EnvironmentError.
void become_client(std::string_view device, int exchange_fd, int slots, int slot);

/// What the owner has spent on this client's calls since it was asked last.
double take_owner_seconds();

/// This process is the owner, until it is told to end. Returns its exit code.
/// **Errors** EnvironmentError.
int serve_clients(std::string_view device, int exchange_fd, int slots);

}  // namespace gradverify
