// SPDX-License-Identifier: Apache-2.0
// Lets one process of a machine at a time use a device's memory for large tensors.
#pragma once

#include <string_view>

namespace gradverify {

/// Waits until no other process holds the device's lock; does nothing where none can be made.
class LargeLock {
  public:
    explicit LargeLock(std::string_view device);
    ~LargeLock();
    LargeLock(const LargeLock&) = delete;
    LargeLock& operator=(const LargeLock&) = delete;

  private:
    int file_ = -1;
};

}  // namespace gradverify
