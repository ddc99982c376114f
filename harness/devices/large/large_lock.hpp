// SPDX-License-Identifier: Apache-2.0
// Lets one process of a machine at a time use a device's memory for large tensors.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace gradverify {

/// Waits until no other process holds the device's lock; does nothing where none can be made.
class LargeLock {
  public:
    explicit LargeLock(std::string_view device) {
        std::error_code none;
        const auto folder = std::filesystem::temp_directory_path(none);
        if (none) return;
        const std::string path = folder / ("gradverify-large-" + std::string(device));
        // Other users' processes lock the file too. It is empty, and a link is not followed.
        file_ = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        while (file_ >= 0 && flock(file_, LOCK_EX) != 0 && errno == EINTR) continue;
    }
    /// The lock ends with the descriptor, also when the process is killed.
    ~LargeLock() {
        if (file_ >= 0) close(file_);
    }
    LargeLock(const LargeLock&) = delete;
    LargeLock& operator=(const LargeLock&) = delete;

  private:
    int file_ = -1;
};

}  // namespace gradverify
