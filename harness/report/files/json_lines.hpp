// SPDX-License-Identifier: Apache-2.0
// A result file of one JSON object a line, each flushed, so that a killed run keeps what it had.
#pragma once

#include <fstream>
#include <string>

#include "harness/base/checked_json.hpp"
#include "harness/base/files.hpp"

namespace gradverify {

class JsonLines {
  public:
    /// **Errors** EnvironmentError when the file can't be written, here and below.
    explicit JsonLines(const std::string& path) : path_(path) {
        errno = 0;
        file_.open(path);
        require_written();
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
    std::ofstream file_;
};

}  // namespace gradverify
