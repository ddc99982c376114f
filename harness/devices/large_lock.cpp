// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/large_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace gradverify {

LargeLock::LargeLock(std::string_view device) {
    std::error_code none;
    const auto folder = std::filesystem::temp_directory_path(none);
    if (none) return;
    const std::string path = (folder / ("gradverify-large-" + std::string(device))).string();
    // Other users' processes lock the file too. It is empty, and a link is not followed.
    file_ = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    while (file_ >= 0 && flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
}

// The lock ends with the descriptor, also when the process is killed.
LargeLock::~LargeLock() {
    if (file_ >= 0) close(file_);
}

}  // namespace gradverify
