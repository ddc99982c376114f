// SPDX-License-Identifier: Apache-2.0
// A result file of one JSON object a line, each flushed, so that a killed run keeps what it had. No
// two processes write one.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "harness/base/checked_json.hpp"
#include "harness/base/files.hpp"

namespace gradverify {

class JsonLines {
  public:
    /// **Errors** EnvironmentError when the file can't be written, here and below.
    explicit JsonLines(const std::string& path)
        : path_(path), lock_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
        if (std::filesystem::is_regular_file(path) && ::flock(lock_, LOCK_EX | LOCK_NB) != 0 &&
            errno == EWOULDBLOCK) {
            ::close(lock_);
            throw EnvironmentError("can't write " + path + ": another run is writing it");
        }
        errno = 0;
        file_ = std::fopen(path.c_str(), "we");  // no worker's, whose kernel could write to it
        if (file_ == nullptr) refuse_write(path_);
    }
    JsonLines(const JsonLines&) = delete;
    JsonLines& operator=(const JsonLines&) = delete;
    ~JsonLines() {
        if (file_ != nullptr) std::fclose(file_);
        if (lock_ >= 0) ::close(lock_);
    }

    /// Bytes that are no UTF-8, as a foreign library's message may hold, are replaced.
    void write(const ordered_json& object) {
        errno = 0;
        const std::string line =
            object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
        if (std::fputs(line.c_str(), file_) < 0 || std::fflush(file_) != 0) refuse_write(path_);
    }

  private:
    std::string path_;
    int lock_;  ///< negative where it can't be opened so
    std::FILE* file_;
};

}  // namespace gradverify
