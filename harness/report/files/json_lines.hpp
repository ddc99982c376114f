// SPDX-License-Identifier: Apache-2.0
// A result file of one JSON object a line, each flushed, so that a killed run keeps what it had. No
// two processes write one.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fstream>
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
        file_.open(path);
        require_written();
    }
    JsonLines(const JsonLines&) = delete;
    JsonLines& operator=(const JsonLines&) = delete;
    ~JsonLines() {
        if (lock_ >= 0) ::close(lock_);
    }

    /// Bytes that are no UTF-8, as a foreign library's message may hold, are replaced.
    void write(const ordered_json& object) {
        errno = 0;
        file_ << object.dump(-1, ' ', false, ordered_json::error_handler_t::replace) << '\n'
              << std::flush;
        require_written();
    }

  private:
    void require_written() const {
        if (!file_) refuse_write(path_);
    }

    std::string path_;
    int lock_;  ///< negative where it can't be opened so
    std::ofstream file_;
};

}  // namespace gradverify
